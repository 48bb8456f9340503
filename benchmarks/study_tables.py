"""Tables of docs/reproduction.md that are made from kept studies: lines of Markdown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev

import yaml

from fsm_hpc.report import collect
from fsm_hpc.report.collect import FoldGroup, Study, label
from fsm_hpc.report.tables import paper
from fsm_hpc.report.tables.tabular import Heading, show_number
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.result import FoldResult

POINTS = 2.0  # beyond which a difference is explained, and so it is beyond as many standard errors
NOTHING = "–"
FOLDS = 10


def sweep_of(experiment: str) -> tuple[list[str], list[str]]:
    """The datasets and methods of an experiment in conf/."""
    path = Path(__file__).parents[1] / "conf" / "experiment" / f"{experiment}.yaml"
    sweep = yaml.safe_load(path.read_text(encoding="utf-8"))["hydra"]["sweeper"]["params"]
    return sweep["dataset"].split(","), sweep["method"].split(",")


def read(results: Path, name: str) -> Study:
    return collect.read(StudyPaths(results / name))


@dataclass(frozen=True, slots=True)
class Beside:
    """A cell of our study beside the paper's."""

    group: FoldGroup

    def of(self, method: str) -> bool:
        return self.group.method == method

    @property
    def shares(self) -> list[float]:
        return [100 * done.accuracy.test for done in self.group.results]

    @property
    def mean(self) -> float:
        return fmean(self.shares)

    @property
    def theirs(self) -> tuple[float, float]:
        return paper.accuracy()[self.group.dataset, self.group.method]

    @property
    def difference(self) -> float:
        return self.mean - self.theirs[0]

    @property
    def standard_errors(self) -> float:
        """The difference in standard errors of a difference of two means over ten folds each.

        Both deviations are the population's, as the paper's table has them, so n - 1 divides.
        """
        spread = pstdev(self.shares) ** 2 + self.theirs[1] ** 2
        return self.difference / math.sqrt(spread / (len(self.shares) - 1))

    @property
    def is_beyond(self) -> bool:
        return max(abs(self.difference), abs(self.standard_errors)) > POINTS

    @property
    def size(self) -> float | None:
        sizes = [done.size for done in self.group.results if done.size is not None]
        return fmean(sizes) if sizes else None


def besides(study: Study) -> list[Beside]:
    """The cells that the paper has too, where ours has at least two folds."""
    known = paper.accuracy()
    groups = study.groups.values()
    return [Beside(g) for g in groups if (g.dataset, g.method) in known and len(g.results) > 1]


def is_cut(done: FoldResult) -> bool:
    return done.stop_reason == StopReason.TIMEOUT.value


# ----------------------------------------------------------------------------------------- cells


def cells(study: Study) -> list[str]:
    """Every cell: accuracy, size and seconds, ours and the paper's."""
    lines = [
        "| dataset | method | folds | accuracy | paper | difference | in standard errors "
        "| size | paper | seconds | paper | timed-out scans |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return [*lines, *map(_cell, besides(study))]


def _cell(one: Beside) -> str:
    group, (mean, deviation) = one.group, one.theirs
    place = (group.dataset, group.method)
    seconds = fmean(done.seconds.total for done in group.results)
    mark = "**" if one.is_beyond else ""
    cut = sum(map(is_cut, group.results)) if group.finds_formula else NOTHING
    return row(
        group.dataset,
        label(group.method),
        len(group.results),
        f"{one.mean:.1f} ± {pstdev(one.shares):.1f}",
        f"{mean:.1f} ± {deviation:.1f}",
        f"{mark}{signed(one.difference)}{mark}",
        signed(one.standard_errors),
        digits(one.size),
        digits(paper.average_size().get(place)),
        f"{seconds:.1f}",
        digits(paper.seconds().get(place), 0),
        cut,
    )


def headline(study: Study) -> list[str]:
    """How much there is, how near it came and what it cost; README says some of it too."""
    found = besides(study)
    formulas = [one for one in found if one.group.finds_formula]
    done = [result for one in formulas for result in one.group.results]
    hours = sum(row.core_hours for one in formulas for row in one.group.rows)
    near = sum(abs(one.difference) <= one.theirs[1] for one in formulas)
    off = ", ".join(
        f"{label(method)} {signed(fmean(one.difference for one in found if one.of(method)), 2)}"
        for method in study.methods
    )
    folds = sum(len(one.group.results) for one in found)
    proved, cut = sum(one.proved for one in done), sum(map(is_cut, done))
    points = sum(abs(one.difference) > POINTS for one in found)
    errors = sum(abs(one.standard_errors) > POINTS for one in found)
    return [
        f"- {folds} of {FOLDS * len(paper.accuracy())} folds have a result; {proved} of "
        f"{len(done)} final formulas are proved optimal for their length; the time limit ended "
        f"{cut} of the scans.",
        f"- Mean test accuracy over the datasets, ours minus the paper's, in points: {off}.",
        f"- {points} of {len(found)} cells are more than {POINTS:g} points from the paper's, "
        f"{errors} more than {POINTS:g} standard errors.",
        f"- The formula methods took {hours:.1f} core-hours, final formulas included, and lie "
        f"within one standard deviation of the paper's accuracy in {near} of {len(formulas)} "
        f"cells.",
    ]


def means(study: Study) -> list[str]:
    """Each method over the datasets: mean accuracy beside the paper's over the same ones."""
    lines = [
        "| method | datasets | mean accuracy | paper | difference | mean size | paper |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for method in study.methods:
        found = [one for one in besides(study) if one.of(method)]
        if not found:
            continue
        ours, theirs = fmean(one.mean for one in found), fmean(one.theirs[0] for one in found)
        sizes = [one.size for one in found if one.size is not None]
        known = [paper.average_size().get((o.group.dataset, method)) for o in found]
        their_sizes = [size for size in known if size is not None]
        lines.append(
            row(
                label(method),
                len(found),
                f"{ours:.2f}",
                f"{theirs:.2f}",
                signed(ours - theirs, 2),
                digits(fmean(sizes) if sizes else None),
                digits(fmean(their_sizes) if their_sizes else None),
            )
        )
    return lines


def digits(value: float | None, count: int = 1) -> str:
    return NOTHING if value is None else f"{value:.{count}f}"


def signed(value: float, digits: int = 1) -> str:
    """+0.3, -0.3, and 0.0 without a sign."""
    return show_number(value, Heading("", digits=digits), signed=True)


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
