"""The command line: `python -m fsm_hpc [verb] key=value ...`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

import fsm_hpc
from fsm_hpc.cluster import VERBS as CLUSTER_VERBS
from fsm_hpc.config import Config, UserError

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


def _run(words: list[str]) -> int:
    parser = _parser("run", USAGE)
    parser.add_argument("-m", "--multirun", action="store_true", help="submit every job of a sweep")
    parser.add_argument("--cfg", choices=["job"], help="show the composed config and do nothing")
    parser.add_argument("--version", action="version", version=fsm_hpc.__version__)
    flags, overrides = _split(parser, words)
    from fsm_hpc import compose

    if flags.cfg:
        print(compose.show(overrides), end="")
        return 0
    if flags.multirun:
        from fsm_hpc import cluster

        jobs = compose.expand(overrides)
        return cluster.submit(jobs, wait=jobs[0].wait)
    if not overrides:
        print(USAGE, end="")
        return 2
    return _run_here(compose.compose(overrides))


def _run_here(config: Config) -> int:
    """One fold in this process, with live progress; Ctrl-C keeps what is done."""
    from rich.console import Console

    from fsm_hpc import job, progress
    from fsm_hpc.run import run_fold

    console = Console()
    prepared = job.prepare(config)
    for note in prepared.dataset.notes:
        console.print(note, soft_wrap=True, markup=False, highlight=False)
    if job.finished(prepared) is not None:
        console.print(
            f"{config.job_name} is finished; {prepared.paths.result} stays as it is", soft_wrap=True
        )
    else:
        job.tell_change(prepared, console.print)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):
        signal.signal(number, _stopper(stop))
    with progress.FoldProgress(console, config.job_name) as shown:
        done = run_fold(config, stop, shown.watch, shown.on_trial)
    if done is None:
        console.print(f"stopped; the same command goes on from {prepared.paths.folder}")
        return 130
    progress.print_result(console, done)
    return 0


def _stopper(stop: threading.Event) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt  # the second Ctrl-C does not wait
        stop.set()

    return handle


def _steer(verb: str, words: list[str]) -> int:
    from fsm_hpc import cluster

    return cluster.command(verb, words)


def _datasets(words: list[str]) -> int:
    from fsm_hpc import datasets_command

    return datasets_command.main(words)


def _parser(verb: str, usage: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"python -m fsm_hpc {verb}", usage=usage)


def _split(
    parser: argparse.ArgumentParser, words: list[str]
) -> tuple[argparse.Namespace, list[str]]:
    """The flags and the key=value words, in any order."""
    overrides = [word for word in words if not word.startswith("-") and "=" in word]
    rest = [word for word in words if word not in overrides]
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    flags = parser.parse_args(rest)
    return flags, [*flags.words, *overrides]


VERBS: dict[str, Callable[[list[str]], int]] = {
    "run": _run,
    "datasets": _datasets,
    **{verb: partial(_steer, verb) for verb in CLUSTER_VERBS},
}


if __name__ == "__main__":
    sys.exit(main())
