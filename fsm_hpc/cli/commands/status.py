"""The command status: the state of every fold and every rule."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import SELECTION, Command, Group, option
from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.watch import columns, cost, show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.selection import select_without_changes
from fsm_hpc.cluster.watch.states import FoldStatus, check_code, fold_states
from fsm_hpc.system import terminal

WATCH_S = 2.0


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Print the state of every fold, once or until no job runs."""
    folds = select_without_changes(overrides)
    statuses = _watch(folds, flags) if flags.watch and not flags.json else _once(folds, flags)
    return check_code(statuses) if flags.check else 0


def _chosen(statuses: list[FoldStatus], flags: argparse.Namespace) -> list[FoldStatus]:
    """All folds, or those that need action."""
    return [status for status in statuses if status.is_failed] if flags.failed else statuses


def _once(folds: Sequence[FoldRef], flags: argparse.Namespace) -> list[FoldStatus]:
    statuses, reports = fold_states(folds)
    shown = _chosen(statuses, flags)
    if flags.json:
        print(json.dumps([columns.to_dict(status) for status in shown], indent=1))
        return statuses
    console = terminal.console()
    show.unresponsive_commands(console, reports)
    for text in arrays.unreadable(dict.fromkeys(ref.paths.study for ref in folds)):
        console.print(text, soft_wrap=True)
    show.folds(console, shown)
    if hours := cost.summary(shown):
        console.print(hours, soft_wrap=True)
    return statuses


def _watch(folds: Sequence[FoldRef], flags: argparse.Namespace) -> list[FoldStatus]:
    """Refresh until no job works on the folds, or Ctrl-C."""
    from rich.live import Live

    console = terminal.console()
    statuses: list[FoldStatus] = []
    try:
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                statuses, _ = fold_states(folds)
                shown = show.overview(_chosen(statuses, flags), console.height)
                live.update(shown, refresh=True)
                if not any(status.is_live for status in statuses):
                    break
                time.sleep(WATCH_S)
    except KeyboardInterrupt:
        pass
    return statuses


COMMAND = Command(
    Group.MONITOR,
    "Show the state of every fold and every rule.",
    "[key=value ...] [-w] [--check] [--failed] [--json]",
    (
        "status -w",
        "status study=paper dataset=bank,hepatitis --check",
        "status out=my_rule",
    ),
    main,
    (
        option("-w --watch", "refresh until no job runs"),
        option("--failed", "only folds that need action"),
        option("--check", "exit code: 0 all finished, 1 some unfinished, 2 some failed"),
        options.JSON,
    ),
    SELECTION | {"out=FOLDER": "the rule of `fit` in this folder"},
)
