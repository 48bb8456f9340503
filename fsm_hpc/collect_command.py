"""The verb collect: problems first, then folds.csv, lengths.csv, tables and figures."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from fsm_hpc import collect, mixture, rows_csv, tables
from fsm_hpc.collect import Key, Status, Study
from fsm_hpc.files import StudyPaths
from fsm_hpc.mixture import Mixture
from fsm_hpc.tables import FORMATS, Choices, Maker
from fsm_hpc.tabular_text import to_terminal

SHOWN = 30  # problems on the screen; folds.csv has them all


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a reader has to know before any figure."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind:<13}  {self.where}" + (f": {self.text}" if self.text else "")


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
    print(summary(study))
    for problem in found[:SHOWN]:
        print(f"  {problem}")
    if len(found) > SHOWN:
        print(f"  and {len(found) - SHOWN} more in {paths.folds_csv}")
    maker = Maker(study, mixtures, choices(options))
    print(f"\n{to_terminal(maker.accuracy())}")
    _write(paths, study, maker, options)
    return 1 if options.strict and found else 0


def _write(paths: StudyPaths, study: Study, maker: Maker, options: argparse.Namespace) -> None:
    written = rows_csv.write(study, paths.folds_csv, paths.lengths_csv)
    tables.write(paths.tables, maker.all(), options.format or FORMATS)
    told = [*map(str, written), f"{paths.tables}/"]
    if options.plots:
        from fsm_hpc import plots

        plots.write(paths.plots, study, paper=options.paper)
        told.append(f"{paths.plots}/")
    print("wrote " + ", ".join(told))


def choices(options: argparse.Namespace) -> Choices:
    return Choices(paper=options.paper, names=options.names)


def summary(study: Study) -> str:
    """`paper: 350 folds: 340 done, 10 missing`."""
    said = [f"{study.counts[s]} {s.value}" for s in Status if study.counts[s]]
    return f"{study.name}: {len(study.rows)} folds: {', '.join(said)}"


_URGENCY = (
    *(Status.FAILED, Status.MISSING, Status.PARTIAL, Status.RUNNING),
    *(Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.UNPROVED),
)


def problems(study: Study, mixtures: Iterable[Mixture]) -> list[Problem]:
    """What is wrong or missing, the worst first; folds of one cell with one reason together."""
    found = [Problem("mixed", f"{m.dataset}/{m.method or 'all methods'}", m.text) for m in mixtures]
    groups: dict[tuple[Status, str, str, str], list[int]] = {}
    for row in study.rows:
        if row.status is not Status.DONE:
            place = (row.status, row.dataset, row.method, row.reason)
            groups.setdefault(place, []).append(row.fold)
    for status in _URGENCY:
        for (kind, dataset, method, reason), folds in groups.items():
            if kind is status:
                where = f"{dataset}/{method} {mixture.fold_list(folds)}"
                found.append(Problem(status.value, where, reason))
    return sorted(found, key=lambda problem: problem.kind != Status.FAILED.value)
