"""The verb status: where every fold stands."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.cluster.watch.selection import select
from fsm_hpc.cluster.watch.verdict import FoldVerdict, check_code, look
from fsm_hpc.system import terminal

WATCH_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-w", "--watch", action="store_true", help="refresh until nothing runs")
    parser.add_argument(
        "--failed",
        action="store_true",
        help="only folds that will not come to an end by themselves",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 0 when all are done, 1 while some are not, 2 when some failed",
    )
    options.json_flag(parser)


def main(flags: argparse.Namespace, words: list[str]) -> int:
    """Print every fold's verdict, once or until nothing runs."""
    folds = select(words)
    verdicts = _watch(folds, flags) if flags.watch and not flags.json else _once(folds, flags)
    return check_code(verdicts) if flags.check else 0


def _once(folds: Sequence[FoldRef], flags: argparse.Namespace) -> list[FoldVerdict]:
    verdicts, hints = look(folds)
    shown = _chosen(verdicts, flags)
    if flags.json:
        print(json.dumps([one.to_dict() for one in shown], indent=1))
    else:
        console = terminal.console()
        show.silence(console, hints)
        show.folds(console, shown)
    return verdicts


def _watch(folds: Sequence[FoldRef], flags: argparse.Namespace) -> list[FoldVerdict]:
    """Refresh until nobody works on the folds, or Ctrl-C."""
    from rich.live import Live

    console = terminal.console()
    verdicts: list[FoldVerdict] = []
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                verdicts, _ = look(folds)
                shown = show.overview(_chosen(verdicts, flags), console.height)
                live.update(shown, refresh=True)
                if not any(one.is_live for one in verdicts):
                    break
                time.sleep(WATCH_S)
    except KeyboardInterrupt:
        pass
    return verdicts


def _chosen(verdicts: list[FoldVerdict], flags: argparse.Namespace) -> list[FoldVerdict]:
    return [one for one in verdicts if one.is_failed] if flags.failed else verdicts


VERB = Verb(
    Group.STEER,
    "Where every fold stands.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [-w] [--check] [--failed] [--json]",
    ("status -w", "status study=paper dataset=bank,hepatitis --check"),
    main,
    add_arguments,
)
