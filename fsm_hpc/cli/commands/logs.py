"""The command logs: what the folds have written."""

from __future__ import annotations

import argparse

from fsm_hpc.cli.usage import Command, Group


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--follow", action="store_true", help="stay and print what comes")


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    from fsm_hpc.cluster.watch.logs import logs
    from fsm_hpc.cluster.watch.selection import select_without_changes

    return logs(select_without_changes(overrides), flags.follow)


COMMAND = Command(
    Group.STEER,
    "What the folds have written, and what their jobs printed where a fold could not.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [out=FOLDER] [-f]",
    ("logs dataset=bank method=pivot fold=3", "logs study=paper -f"),
    main,
    add_arguments,
)
