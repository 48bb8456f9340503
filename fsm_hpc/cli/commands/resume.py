"""The command resume: submit unfinished folds again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fsm_hpc.cli import options
from fsm_hpc.cli.commands.plan import show_plan
from fsm_hpc.cli.usage import SELECTION, Command, Group, option
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    from fsm_hpc.cluster.watch.fold_files import FoldRef


def main(flags: argparse.Namespace, overrides: list[str]) -> int:
    """Submit the folds again; name and skip those without a stored config."""
    from fsm_hpc.cluster.submit import resume
    from fsm_hpc.cluster.submit.launch import launch
    from fsm_hpc.system import terminal

    folds = resume.configs(overrides)
    skipped = [f"skipped: {text}" for text in folds.broken + _unknown(folds.unknown)]
    if not folds.configs:
        raise UserError("\n".join(skipped))
    if not (flags.dry_run and flags.json):
        for text in skipped:
            terminal.console().print(text, soft_wrap=True)
    if flags.dry_run:
        return show_plan(folds.configs, flags.json)
    return launch(folds.configs, options.of_submission(flags), stays=True)


def _unknown(folds: Sequence[FoldRef]) -> list[str]:
    """A message about folds without a stored config."""
    names = ", ".join(str(ref.id) for ref in folds[:5])
    more = f" and {len(folds) - 5} more" if len(folds) > 5 else ""
    advice = "no stored config; rerun the original command with -m"
    return [f"{names}{more}: {advice}"] if folds else []


COMMAND = Command(
    Group.MONITOR,
    "Submit timed-out, failed and lost folds again.",
    "[key=value ...] [--dry-run] [--wait] [options]",
    (
        "resume scan.budget_h=144",
        "resume study=paper dataset=bank cluster.mem_gb=128",
        "resume --dry-run",
    ),
    main,
    (
        option("--dry-run", "show the jobs; submit nothing"),
        *options.SUBMISSION,
        options.JSON,
    ),
    SELECTION
    | {
        "out=FOLDER": "the rule of `fit` in this folder",
        "scan.budget_h=HOURS": "a larger time budget, or any other changed setting",
    },
)
