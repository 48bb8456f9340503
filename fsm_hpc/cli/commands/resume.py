"""The command resume: submit unfinished folds again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.commands.plan import show_plan
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.cluster.watch.fold_files import FoldRef


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be submitted; submit nothing"
    )
    options.submission_flags(parser)
    options.json_flag(parser)


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Submit the folds again; those that nothing is known of are named and left alone."""
    from fsm_hpc.cluster.submit import resume
    from fsm_hpc.cluster.submit.launch import launch
    from fsm_hpc.system import terminal

    found = resume.configs(overrides)
    told = found.broken + _unknown(found.unknown)
    if not found.configs:
        raise UserError("\n".join(f"left alone: {text}" for text in told))
    if flags.dry_run and flags.json:
        return show_plan(found.configs, as_json=True)
    for text in told:
        terminal.console().print(f"left alone: {text}", soft_wrap=True)
    if flags.dry_run:
        return show_plan(found.configs, as_json=False)
    return launch(found.configs, options.of_submission(flags), stays=True)


def _unknown(folds: Sequence[FoldRef]) -> list[str]:
    """What is said of folds that cannot go on by themselves."""
    names = ", ".join(str(ref.id) for ref in folds[:5])
    more = f" and {len(folds) - 5} more" if len(folds) > 5 else ""
    advice = "no stored config; rerun the original command with -m"
    return [f"{names}{more}: {advice}"] if folds else []


COMMAND = Command(
    Group.STEER,
    "Submit timed-out, failed and lost folds again, with more time or memory when given.",
    "[study=NAME] [dataset=NAME] [method=NAME] [fold=K] [key=value ...] [--dry-run] [--wait] ...",
    (
        "resume scan.budget_h=144",
        "resume study=paper dataset=bank cluster.mem_gb=128",
        "resume --dry-run",
    ),
    main,
    add_arguments,
)
