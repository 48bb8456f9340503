"""Options that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsm_hpc.cluster.watch.evidence import FoldRef
    from fsm_hpc.report.tables.maker import Choices
    from fsm_hpc.study.files import StudyPaths


def json_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="data instead of tables, for scripts")


def table_flags(parser: argparse.ArgumentParser) -> None:
    """What a reader wants to see in tables."""
    parser.add_argument("--paper", action="store_true", help="the paper's figures beside yours")
    parser.add_argument(
        "--names", action="store_true", help="formulas with attribute names instead of letters"
    )
    parser.add_argument(
        "--letters", action="store_false", dest="names", help="with letters and a legend (default)"
    )


def choices(flags: argparse.Namespace) -> Choices:
    from fsm_hpc.report.tables.maker import Choices

    return Choices(paper=flags.paper, names=flags.names)


def study_and_folds(words: Sequence[str]) -> tuple[StudyPaths, list[FoldRef] | None]:
    """The study that the words mean, and the folds of it that they name, None for all."""
    from fsm_hpc.cluster.watch import selection
    from fsm_hpc.study.files import StudyPaths

    named = selection.sort(words)
    if not (named.name_a_sweep or named.filters):
        return StudyPaths(named.study), None
    folds = selection.select(words)
    return folds[0].paths.study, folds
