"""The verb collect: problems first, then folds.csv, lengths.csv, tables and figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from fsm_hpc.report import collect, mixture, rows_csv
from fsm_hpc.report.collect import Key, Study
from fsm_hpc.report.problems import problems, summary
from fsm_hpc.report.tables import maker as tables
from fsm_hpc.report.tables.maker import FORMATS, Choices, Maker
from fsm_hpc.report.tables.text import to_terminal
from fsm_hpc.study.files import StudyPaths

SHOWN = 30  # problems on the screen; folds.csv has them all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `collect`."""
    add_choices(parser)
    parser.add_argument(
        "--format", choices=["tex", "csv", "md"], action="append", help="of the tables; all three"
    )
    parser.add_argument("--plots", action="store_true", help="draw the figures too")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 when there is any problem"
    )


def add_choices(parser: argparse.ArgumentParser) -> None:
    """The flags that `collect` and `report` share."""
    parser.add_argument("--paper", action="store_true", help="the paper's figures beside yours")
    parser.add_argument(
        "--names", action="store_true", help="formulas with attribute names instead of letters"
    )
    parser.add_argument(
        "--letters", action="store_false", dest="names", help="with letters and a legend (default)"
    )


def main(paths: StudyPaths, expected: Iterable[Key] | None, options: argparse.Namespace) -> int:
    """Collect what is there, at any moment; 0 also when folds are missing, unless --strict."""
    study = collect.read(paths, expected)
    mixtures = mixture.find(study)
    found = problems(study, mixtures)
    maker = Maker(study, mixtures, choices(options))
    written = _write(paths, study, maker, options)  # first: a reader may leave before the end
    print(summary(study))
    for problem in found[:SHOWN]:
        print(f"  {problem}")
    if len(found) > SHOWN:
        print(f"  and {len(found) - SHOWN} more in {paths.folds_csv}")
    for table in maker.all()[1:]:  # the first one, what is missing, has just been told
        print(f"\n{to_terminal(table).rstrip()}")
    print(f"\nwrote {', '.join(written)}")
    return 1 if options.strict and found else 0


def _write(paths: StudyPaths, study: Study, maker: Maker, options: argparse.Namespace) -> list[str]:
    """Write what was asked for; the places, to be told."""
    files = rows_csv.write(study, paths.folds_csv, paths.lengths_csv)
    tables.write(paths.tables, maker.all(), options.format or FORMATS)
    told = [*map(str, files), f"{paths.tables}/"]
    if options.plots:
        from fsm_hpc.report.figures import files as plots

        plots.write(paths.plots, study, paper=options.paper)
        told.append(f"{paths.plots}/")
    return told


def choices(options: argparse.Namespace) -> Choices:
    return Choices(paper=options.paper, names=options.names)
