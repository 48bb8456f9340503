"""The verbs that see and steer a study: plan, status, logs, resume, cancel, doctor."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence

from rich.live import Live

from fsm_hpc.cluster.slurm import max_array_size
from fsm_hpc.cluster.submit.cancel import cancel
from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.evidence import Target
from fsm_hpc.cluster.watch.logs import logs
from fsm_hpc.cluster.watch.selection import select
from fsm_hpc.cluster.watch.states import FoldStatus, check_code, look
from fsm_hpc.errors import UserError
from fsm_hpc.system import terminal

WATCH_S = 2.0


def command(verb: str, words: Sequence[str]) -> int:
    """Run a verb with its flags and key=value words."""
    parser = argparse.ArgumentParser(prog=f"python -m fsm_hpc {verb}", description=_HELP[verb])
    for names, text in _FLAGS[verb].items():
        parser.add_argument(*names.split(), action="store_true", help=text)
    parser.add_argument("words", nargs="*", metavar="key=value")
    flags = parser.parse_intermixed_args(list(words))
    return _VERBS[verb](flags, list(flags.words))


def _plan(flags: argparse.Namespace, words: list[str]) -> int:
    from fsm_hpc.cluster.submit import local
    from fsm_hpc.cluster.submit.plan import decide, kind_of, lay_out, to_dict
    from fsm_hpc.study.compose import expand

    jobs = expand(words)
    decisions, hints = decide(jobs)
    is_local = kind_of(jobs[0]) == "local"
    arrays = lay_out(decisions, len(jobs) if is_local else max_array_size())
    if flags.json:
        print(json.dumps(to_dict(decisions, arrays), indent=1))
        return 0
    console = terminal.console()
    show.silence(console, hints)
    show.decisions(console, decisions, "to submit")
    if is_local:
        count = sum(decision.is_submitted for decision in decisions)
        at_a_time = local.side_by_side(jobs[0])
        console.print(f"{count} folds would run here, {at_a_time} at a time")
    elif arrays:
        show.layout(console, arrays)
    else:
        console.print("nothing to submit")
    return 0


def _status(flags: argparse.Namespace, words: list[str]) -> int:
    targets = select(words)
    if flags.watch and not flags.json:
        return _watch(targets, flags)
    statuses, hints = look(targets)
    shown = [s for s in statuses if s.is_failed] if flags.failed else statuses
    if flags.json:
        print(json.dumps([status.to_dict() for status in shown], indent=1))
    else:
        console = terminal.console()
        show.silence(console, hints)
        show.folds(console, shown)
    return check_code(statuses) if flags.check else 0


def _watch(targets: Sequence[Target], flags: argparse.Namespace) -> int:
    """Refresh until nobody works on the folds, or Ctrl-C."""
    console = terminal.console()
    statuses: list[FoldStatus] = []
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                statuses, _ = look(targets)
                shown = [s for s in statuses if s.is_failed] if flags.failed else statuses
                live.update(show.overview(shown, console.height), refresh=True)
                if not any(status.is_live for status in statuses):
                    break
                time.sleep(WATCH_S)
    except KeyboardInterrupt:
        pass
    return check_code(statuses) if flags.check else 0


def _logs(flags: argparse.Namespace, words: list[str]) -> int:
    return logs(select(words), flags.follow)


def _resume(flags: argparse.Namespace, words: list[str]) -> int:
    from fsm_hpc.cluster.submit import resume
    from fsm_hpc.cluster.submit.launch import launch

    jobs, others = resume.configs(words)
    if others:
        names = ", ".join(target.name for target in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        advice = "nothing says what they were begun with; the words that began them go on, with -m"
        told = f"left alone: {names}{more}: {advice}"
        if not jobs:
            raise UserError(told)
        terminal.console().print(told, soft_wrap=True)
    return launch(jobs, wait=flags.wait or jobs[0].wait)


def _cancel(flags: argparse.Namespace, words: list[str]) -> int:
    return cancel(select(words), flags.yes)


def _doctor(flags: argparse.Namespace, words: list[str]) -> int:
    from fsm_hpc.cluster.site.doctor import doctor
    from fsm_hpc.study.compose import compose

    given = {word.partition("=")[0] for word in words}
    stand_ins = {"dataset": "hepatitis", "method": "median"}
    missing = [f"{key}={name}" for key, name in stand_ins.items() if key not in given]
    return doctor(compose([*missing, *words]), as_json=flags.json)


_HELP = {
    "plan": "What -m would submit and skip, the arrays and the core-hours; submits nothing.",
    "status": "Where every fold stands.",
    "logs": "What the folds have written.",
    "resume": "Submit timed-out, failed and lost folds again, with more time or memory when given.",
    "cancel": "End queued and running folds; shows them only, unless -y.",
    "doctor": "Check a site before jobs are spent on it.",
}
_JSON = {"--json": "for scripts"}
_FLAGS = {
    "plan": _JSON,
    "status": {
        "-w --watch": "refresh until nothing runs",
        "--failed": "only folds that will not come to an end by themselves",
        "--check": "exit with 0 when all are done, 1 while some are not, 2 when some failed",
        **_JSON,
    },
    "logs": {"-f --follow": "stay and print what comes"},
    "resume": {"--wait": "stay until the jobs have ended"},
    "cancel": {"-y --yes": "do it"},
    "doctor": _JSON,
}
_VERBS: dict[str, Callable[[argparse.Namespace, list[str]], int]] = {
    "plan": _plan,
    "status": _status,
    "logs": _logs,
    "resume": _resume,
    "cancel": _cancel,
    "doctor": _doctor,
}
