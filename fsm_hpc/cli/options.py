"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cli.usage import Option, option
from fsm_hpc.errors import UserError
from fsm_hpc.study.measures import METRICS

if TYPE_CHECKING:
    from fsm_hpc.cluster.submit.launch import Options
    from fsm_hpc.report.collect import Study
    from fsm_hpc.report.tables.builder import ReportOptions
    from fsm_hpc.study.files import StudyPaths

AFTER = ("collect", "report")  # the commands that --after runs


def files_and_overrides(
    arguments: Sequence[str], expected: str, count: int = 1, is_required: bool = True
) -> tuple[list[str], list[str]]:
    """The file arguments of a command, and its key=value arguments."""
    named = [text for text in arguments if "=" not in text or Path(text).exists()]
    if len(named) != count and (named or is_required):
        raise UserError(f"expected {expected}, found: {', '.join(named) or 'none'}")
    return named, [text for text in arguments if text not in named]


JSON = option("--json", "print JSON instead of text")
CONFIG = (
    option("--cfg -c", "print the config and exit", choices=["job", "hydra", "all"]),
    option("--resolve", "with --cfg: resolve interpolations ${...}"),
    option("--package -p KEY", "with --cfg: print this section only"),
)
SUBMISSION = (
    option("--wait", "wait until all jobs have ended"),
    option("--after collect,report", "run these commands in one more job after all others"),
    option("--notify TEXT", "after the jobs, send mail to this address or run this shell command"),
)
TABLES = (
    option(
        "--metric",
        "metric of the tables (default: accuracy)",
        choices=tuple(METRICS),
        default="accuracy",
    ),
    option("--paper", "add the results of the paper"),
    option("--names", "write formulas with column names"),
    option(
        "--letters", "write formulas with letters (default)", action="store_false", dest="names"
    ),
    option("--compare", "test differences between methods for significance"),
    option("--margin POINTS", "non-inferiority margin of --compare (default: 1)", type=float),
)


def multirun(help: str) -> Option:
    return option("--multirun -m", help)


def shows_config(flags: argparse.Namespace, overrides: Sequence[str]) -> bool:
    """Print the config if --cfg is given."""
    from fsm_hpc.study import compose

    if flags.cfg is None:
        if flags.resolve or flags.package:
            raise UserError("--resolve and --package need --cfg: add --cfg job")
        return False
    print(compose.show(overrides, flags.cfg, flags.package, flags.resolve), end="")
    return True


def _commands(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    names = tuple(filter(None, text.strip("[] ").replace(" ", "").split(",")))
    unknown = [name for name in names if name not in AFTER]
    if unknown or not names:
        raise UserError(
            f"--after: expected one of {', '.join(AFTER)}, found {(unknown or [text])[0]!r}"
        )
    return names


def of_submission(flags: argparse.Namespace) -> Options:
    from fsm_hpc.cluster.submit.afterwards import Afterwards
    from fsm_hpc.cluster.submit.launch import Options

    return Options(flags.wait, Afterwards(_commands(flags.after), flags.notify))


def report_options(flags: argparse.Namespace) -> ReportOptions:
    from fsm_hpc.report.tables.builder import ReportOptions

    shown = ReportOptions(flags.paper, flags.names, flags.metric, flags.compare)
    if flags.margin is None:
        return shown
    if not 0 <= flags.margin <= 100:
        raise UserError(f"--margin: expected points from 0 to 100, found {flags.margin:g}")
    return replace(shown, margin=flags.margin, compare=True)


def read_study(overrides: Sequence[str]) -> tuple[StudyPaths, Study]:
    """The selected study with its finished folds, and its missing ones."""
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.report import collect
    from fsm_hpc.study.files import StudyPaths

    selected = selection.sort(overrides)
    selected.refuse_rule("a table of folds")
    if selected.name_a_sweep:
        folds = selection.select(overrides)
        paths = folds[0].paths.study
        return paths, collect.read(paths, folds)
    selected.refuse_without_effect()
    is_part = selected.filters or selected.settings
    on_disk = selection.on_disk(selected) if is_part else None
    paths = StudyPaths(selected.study)
    return paths, collect.read(paths, on_disk, fills_up="fold" not in selected.filters)
