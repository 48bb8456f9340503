"""The command cancel: cancel queued and running folds."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import SELECTION, Command, Group, option


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.submit.cancel import cancel
    from fsm_hpc.cluster.watch.selection import select_without_changes

    return cancel(select_without_changes(overrides, is_strict=True), flags.yes)


COMMAND = Command(
    Group.MONITOR,
    "Cancel queued and running folds; without -y only list them.",
    "[key=value ...] [-y]",
    ("cancel dataset=bank", "cancel study=paper -y"),
    main,
    (option("-y --yes", "cancel without a preview"),),
    SELECTION | {"out=FOLDER": "the rule of `fit` in this folder"},
)
