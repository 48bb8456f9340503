"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError
from fsm_hpc.study.measures import METRICS

if TYPE_CHECKING:
    from fsm_hpc.cluster.submit.launch import Options
    from fsm_hpc.report.collect import Study
    from fsm_hpc.report.tables.builder import ReportOptions
    from fsm_hpc.study.files import StudyPaths


def files_and_overrides(
    arguments: Sequence[str], expected: str, count: int = 1, is_required: bool = True
) -> tuple[list[str], list[str]]:
    """So many files among the arguments of a command, and its key=value arguments."""
    named = [text for text in arguments if "=" not in text or Path(text).exists()]
    if len(named) != count and (named or is_required):
        raise UserError(f"expected {expected}, found: {', '.join(named) or 'none'}")
    return named, [text for text in arguments if text not in named]


def json_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="data instead of tables, for scripts")


def config_flags(parser: argparse.ArgumentParser) -> None:
    """Show the config instead of using it."""
    parser.add_argument(
        "--cfg", "-c", choices=["job", "hydra", "all"], help="show the config and do nothing"
    )
    parser.add_argument("--resolve", action="store_true", help="of --cfg: resolve ${...}")
    parser.add_argument("--package", "-p", metavar="KEY", help="of --cfg: show this part only")


def shows_config(flags: argparse.Namespace, overrides: Sequence[str]) -> bool:
    """Show the config where --cfg asks for it."""
    from fsm_hpc.study import compose

    if flags.cfg is None:
        if flags.resolve or flags.package:
            raise UserError("--resolve and --package belong to --cfg: add --cfg job")
        return False
    print(compose.show(overrides, flags.cfg, flags.package, flags.resolve), end="")
    return True


AFTER = ("collect", "report")


def submission_flags(parser: argparse.ArgumentParser) -> None:
    """What a submission does beside submitting."""
    parser.add_argument("--wait", action="store_true", help="stay until the jobs have ended")
    parser.add_argument(
        "--after",
        metavar="collect,report",
        help="run these commands in a job of its own when all jobs have ended",
    )
    parser.add_argument(
        "--notify", metavar="TEXT", help="then send mail to name@host, or run this shell command"
    )


def _commands(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    names = tuple(filter(None, text.strip("[] ").replace(" ", "").split(",")))
    unknown = [name for name in names if name not in AFTER]
    if unknown or not names:
        found = (unknown or [text])[0]
        raise UserError(f"--after: expected one of {', '.join(AFTER)}, found {found!r}")
    return names


def of_submission(flags: argparse.Namespace) -> Options:
    from fsm_hpc.cluster.submit.afterwards import Afterwards
    from fsm_hpc.cluster.submit.launch import Options

    return Options(flags.wait, Afterwards(_commands(flags.after), flags.notify))


def table_flags(parser: argparse.ArgumentParser) -> None:
    """What a reader wants to see in tables."""
    parser.add_argument("--paper", action="store_true", help="the paper's figures beside yours")
    parser.add_argument(
        "--names", action="store_true", help="formulas with attribute names instead of letters"
    )
    parser.add_argument(
        "--metric",
        choices=tuple(METRICS),
        default="accuracy",
        help="what tables, figures and comparisons show (accuracy)",
    )
    parser.add_argument(
        "--letters", action="store_false", dest="names", help="with letters and a legend (default)"
    )
    parser.add_argument(
        "--compare", action="store_true", help="test the differences between methods"
    )
    parser.add_argument(
        "--margin", type=float, metavar="POINTS", help="that 'not worse' may cost (1)"
    )


def report_options(flags: argparse.Namespace) -> ReportOptions:
    from fsm_hpc.report.tables.builder import ReportOptions

    shown = ReportOptions(flags.paper, flags.names, flags.metric, flags.compare)
    if flags.margin is None:
        return shown
    if not 0 <= flags.margin <= 100:
        raise UserError(f"--margin: expected points from 0 to 100, found {flags.margin:g}")
    return replace(shown, margin=flags.margin, compare=True)


def read_study(overrides: Sequence[str]) -> tuple[StudyPaths, Study]:
    """The study that the overrides mean, with the folds of it that they name, and those missing."""
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.report import collect
    from fsm_hpc.study.files import StudyPaths

    named = selection.sort(overrides)
    named.refuse_rule("a table of folds")
    if named.name_a_sweep:
        swept = selection.select(overrides)
        paths = swept[0].paths.study
        return paths, collect.read(paths, swept)
    named.refuse_without_effect()
    paths = StudyPaths(named.study)
    is_part = named.filters or named.settings
    found = selection.on_disk(named) if is_part else None
    return paths, collect.read(paths, found, fills_up="fold" not in named.filters)
