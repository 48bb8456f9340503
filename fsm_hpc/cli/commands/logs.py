"""The command logs: print the logs of folds."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import SELECTION, Command, Group, option


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.watch.logs import logs
    from fsm_hpc.cluster.watch.selection import select_without_changes

    return logs(select_without_changes(overrides), flags.follow)


COMMAND = Command(
    Group.MONITOR,
    "Print the logs of folds, and the output of jobs that failed early.",
    "[key=value ...] [-f]",
    ("logs dataset=bank method=pivot fold=3", "logs study=paper -f"),
    main,
    (option("-f --follow", "print new lines as they are written"),),
    SELECTION | {"out=FOLDER": "the rule of `fit` in this folder"},
)
