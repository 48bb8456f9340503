"""The command cancel: end queued and running folds."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import Command, Group


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do it")


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.submit.cancel import cancel
    from fsm_hpc.cluster.watch.selection import select_without_changes

    return cancel(select_without_changes(overrides, is_strict=True), flags.yes)


COMMAND = Command(
    Group.STEER,
    "End queued and running folds; shows them only, unless -y.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [out=FOLDER] [-y]",
    ("cancel dataset=bank", "cancel study=paper -y"),
    main,
    add_arguments,
)
