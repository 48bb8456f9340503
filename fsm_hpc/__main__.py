"""The command line: `python -m fsm_hpc [verb] key=value ...`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

import fsm_hpc
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths

Command = Callable[[list[str]], int]

USAGE = """\
python -m fsm_hpc dataset=NAME method=NAME [fold=K] [key=value ...]  one fold here
python -m fsm_hpc dataset=NAME method=NAME -m                    all folds, on SLURM or here
python -m fsm_hpc +experiment=paper -m                           7 datasets x 5 methods x 10 folds
python -m fsm_hpc plan|status|logs|resume|cancel [key=value ...]     see and steer a study
python -m fsm_hpc collect|report|explain [...]                   tables, figures, a page, a formula
python -m fsm_hpc datasets [show NAME|fetch NAME]                the tables
python -m fsm_hpc doctor                                         check a site before spending jobs
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is one line and exit code 2."""
    # Before scikit-learn or XGBoost is loaded, and for every job that is started from here:
    # threads that spin while they wait slow each other down where there are more than cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    words = list(sys.argv[1:] if words is None else words)
    verb = words[0] if words and words[0] in VERBS else "run"
    try:
        return VERBS[verb](words[1:] if verb != "run" else words)
    except UserError as error:
        print(f"fsm_hpc: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        print(f"fsm_hpc: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 2


def _run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fsm_hpc", usage=USAGE)
    parser.add_argument("-m", "--multirun", action="store_true", help="submit every job of a sweep")
    parser.add_argument("--cfg", choices=["job"], help="show the composed config and do nothing")
    parser.add_argument("--version", action="version", version=fsm_hpc.__version__)
    flags, overrides = _split(parser, words)
    from fsm_hpc.study import compose

    if flags.cfg:
        print(compose.show(overrides), end="")
        return 0
    if flags.multirun:
        from fsm_hpc.cluster.submit.launch import launch

        jobs = compose.expand(overrides)
        return launch(jobs, wait=jobs[0].wait)
    if not overrides:
        print(USAGE, end="")
        return 2
    return _run_here(compose.compose(overrides))


def _run_here(config: Config) -> int:
    """One fold in this process, with live progress; Ctrl-C keeps what is done."""
    from fsm_hpc.cli import progress
    from fsm_hpc.cluster.node import foreground
    from fsm_hpc.cluster.submit import plan
    from fsm_hpc.study import job
    from fsm_hpc.system import terminal

    console = terminal.console()
    prepared = job.prepare(config)
    for note in prepared.dataset.notes:
        console.print(note, soft_wrap=True, markup=False)
    done = job.finished(prepared)
    if done is not None:
        console.print(
            f"{config.job_name} is finished; {prepared.paths.result} stays as it is", soft_wrap=True
        )
    else:
        plan.ensure_free(config)
        job.tell_change(prepared, console.print)
        with progress.FoldProgress(console, config.job_name) as shown:
            done = foreground.run(config, shown.watch, shown.on_trial)
    if done is None:
        console.print(
            f"stopped; the same command goes on from {prepared.paths.folder}", soft_wrap=True
        )
        return 130
    progress.print_result(console, done)
    return 0


def _steer(verb: str, words: list[str]) -> int:
    from fsm_hpc.cli import steer

    return steer.command(verb, words)


def _collect(words: list[str]) -> int:
    from fsm_hpc.cli import collect as collect_command

    return _over_study("collect", words, collect_command.add_arguments, collect_command.main)


def _report(words: list[str]) -> int:
    from fsm_hpc.report.page import page as report

    return _over_study("report", words, report.add_arguments, report.main)


def _over_study(
    verb: str,
    words: list[str],
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[StudyPaths, list[tuple[str, str, int]] | None, argparse.Namespace], int],
) -> int:
    """Run a verb on a study: on the folds that the words name, else on all that are there."""
    from fsm_hpc.cluster.watch import selection

    parser = argparse.ArgumentParser(prog=f"python -m fsm_hpc {verb}")
    add_arguments(parser)
    flags, overrides = _split(parser, words)
    named = selection.sort(overrides)
    study, expected = named.study, None
    if named.name_a_sweep or named.filters:
        targets = selection.select(overrides)
        study = targets[0].paths.study.root
        expected = [(target.dataset, target.method, target.fold) for target in targets]
    return run(StudyPaths(study), expected, flags)


def _explain(words: list[str]) -> int:
    from fsm_hpc.report import explain

    parser = argparse.ArgumentParser(prog="python -m fsm_hpc explain")
    explain.add_arguments(parser)
    return explain.main(parser.parse_intermixed_args(words))


def _datasets(words: list[str]) -> int:
    from fsm_hpc.cli import datasets as datasets_command

    parser = argparse.ArgumentParser(
        prog="python -m fsm_hpc datasets", usage=f"%(prog)s {datasets_command.USAGE}"
    )
    parser.add_argument("--json", action="store_true", help="data instead of tables, for scripts")
    flags, rest = _split(parser, words)
    overrides = [word for word in rest if "=" in word]
    named = [word for word in rest if word not in overrides]
    return datasets_command.main([*named, *["--json"] * flags.json], overrides)


def _split(
    parser: argparse.ArgumentParser, words: list[str]
) -> tuple[argparse.Namespace, list[str]]:
    """The flags and the key=value words, in any order."""
    overrides = [word for word in words if not word.startswith("-") and "=" in word]
    rest = [word for word in words if word not in overrides]
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    flags = parser.parse_args(rest)
    return flags, [*flags.words, *overrides]


VERBS: dict[str, Command] = {
    "run": _run,
    **{
        verb: partial(_steer, verb)
        for verb in ("plan", "status", "logs", "resume", "cancel", "doctor")
    },
    "collect": _collect,
    "report": _report,
    "explain": _explain,
    "datasets": _datasets,
}


if __name__ == "__main__":
    sys.exit(main())
