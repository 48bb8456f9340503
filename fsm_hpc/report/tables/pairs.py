"""Tables that compare methods pair by pair, with the tests that say what a difference is worth."""

from __future__ import annotations

import math
from statistics import fmean

from fsm_hpc.report import significance
from fsm_hpc.report.collect import FoldGroup, Study, label
from fsm_hpc.report.significance import Difference, Overall, Ranks
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Remark, Table

BESIDE = ("accuracy", "balanced_accuracy", "majority")


def tables(study: Study, metric: str, said: str, margin: float) -> list[Table]:
    """By dataset, over datasets, ranks, and what else to look at; as far as there is data."""
    found = significance.differences(study, metric)
    ranked = significance.ranks(study, metric)
    return [
        _by_dataset(found, said, margin),
        _over_datasets(significance.overall(study.methods, found), said),
        *([_ranks(ranked, said)] if ranked else []),
        _beside(study),
    ]


def _by_dataset(found: list[Difference], said: str, margin: float) -> Table:
    columns = (
        *_texts("dataset", "method", "against"),
        Heading("folds", digits=0),
        *(Heading(name, signed=True) for name in ("difference", "from", "to")),
        Heading("p", digits=4),
        *_texts("which is"),
    )
    first = {one.place: one for one in reversed(found)}
    lines = [Line(_cells(one, margin), opens_group=first[one.place] is one) for one in found]
    caption = (
        f"{said}: the method minus the other, in points, with the 95 % interval and p of the "
        "corrected resampled t-test (Nadeau and Bengio)"
    )
    return Table("pairs", caption, columns, tuple(lines), _meaning(margin))


def _meaning(margin: float) -> tuple[Remark, ...]:
    told = (
        "better, worse: the interval leaves out 0. not worse: it lies above "
        f"-{margin:g} points. open: these folds cannot tell."
    )
    return ((told,),)


def _cells(one: Difference, margin: float) -> tuple[Cell, ...]:
    numbers = (float(one.folds), one.mean, one.low, one.high, one.p)
    pair = (Cell(str(one.place)), Cell(label(one.first)), Cell(label(one.second)))
    return (*pair, *map(Cell, numbers), Cell(one.judgement(margin)))


def _over_datasets(found: list[Overall], said: str) -> Table:
    columns = (
        *_texts("method", "against"),
        Heading("datasets", digits=0),
        Heading("mean difference", signed=True),
        *(Heading("better on", digits=0), Heading("worse on", digits=0)),
        *(Heading("p", digits=4), Heading("p, Holm", digits=4)),
    )
    caption = (
        f"{said}: the method minus the other over datasets, in points, with p of Wilcoxon's signed "
        "ranks of the means, alone and adjusted for all pairs"
    )
    lines = tuple(Line(_overall_cells(one)) for one in found)
    few = max((len(one.differences) for one in found), default=0) < 6
    remarks: tuple[Remark, ...] = (
        (("With fewer than six datasets no p can be below 0.05.",),) if few else ()
    )
    return Table("pairs_overall", caption, columns, lines, remarks)


def _overall_cells(one: Overall) -> tuple[Cell, ...]:
    counts = map(float, (one.better_on, one.worse_on))
    numbers = (float(len(one.differences)), one.mean, *counts, one.p, one.adjusted)
    return (Cell(label(one.first)), Cell(label(one.second)), *map(Cell, numbers))


def _ranks(ranked: Ranks, said: str) -> Table:
    columns = (*_texts("method"), Heading("average rank", digits=2))
    lines = tuple(Line((Cell(label(method)), Cell(rank))) for method, rank in ranked.ranks)
    caption = f"{said}: average rank over {ranked.datasets} datasets, 1 the best"
    alike = "; ".join(", ".join(map(label, group)) for group in ranked.alike) or "none"
    friedman = "" if math.isnan(ranked.p) else f" Friedman: p = {ranked.p:.2g}."
    told = f"Ranks differ where they are more than {ranked.critical:.2f} apart (Nemenyi, 5 %)."
    return Table(
        "ranks", caption, columns, lines, ((f"{told}{friedman} Not told apart: {alike}.",),)
    )


def _beside(study: Study) -> Table:
    """Accuracy alone flatters a method where one class is rare."""
    columns = (*_texts("dataset", "method"), *(Heading(name.replace("_", " ")) for name in BESIDE))
    groups = [group for group in study.groups.values() if group.results]
    first = {group.place: group for group in reversed(groups)}
    lines = tuple(
        Line(_measures(group), opens_group=first[group.place] is group) for group in groups
    )
    caption = "Held-out rows, in percent: accuracy, balanced accuracy, and the more frequent class"
    return Table("measures", caption, columns, lines)


def _measures(group: FoldGroup) -> tuple[Cell, ...]:
    cells = [Cell(str(group.place)), Cell(label(group.method))]
    for name in BESIDE:
        shares = [share for share in group.shares(name).values() if share is not None]
        cells.append(Cell(100 * fmean(shares) if shares else None))
    return tuple(cells)


def _texts(*names: str) -> tuple[Heading, ...]:
    return tuple(Heading(name, is_text=True) for name in names)
