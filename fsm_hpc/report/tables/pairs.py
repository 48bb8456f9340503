"""Tables that compare methods pair by pair, with significance tests."""

from __future__ import annotations

import math
from statistics import fmean

from fsm_hpc.report import significance
from fsm_hpc.report.collect import FoldGroup, Study, label
from fsm_hpc.report.significance import Difference, Overall, Ranks
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Remark, Table

SHOWN_MEASURES = ("accuracy", "balanced_accuracy", "majority")


def tables(study: Study, metric: str, caption: str, margin: float) -> list[Table]:
    """Differences by dataset and over datasets, ranks, and further measures."""
    tested = significance.differences(study, metric)
    ranked = significance.ranks(study, metric)
    return [
        _by_dataset(tested, caption, margin),
        _over_datasets(significance.overall(study.methods, tested), caption),
        *([_ranks(ranked, caption)] if ranked else []),
        _measures_table(study),
    ]


def _by_dataset(tested: list[Difference], measured: str, margin: float) -> Table:
    columns = (
        *_texts("dataset", "method", "against"),
        Heading("folds", digits=0),
        *(Heading(name, signed=True) for name in ("difference", "from", "to")),
        Heading("p", digits=4),
        *_texts("conclusion"),
    )
    first = {difference.dataset_variant: difference for difference in reversed(tested)}
    lines = [Line(_cells(d, margin), opens_group=first[d.dataset_variant] is d) for d in tested]
    caption = (
        f"{measured}: the method minus the other, in points, with the 95 % interval and p of the "
        "corrected resampled t-test (Nadeau and Bengio)"
    )
    return Table("pairs", caption, columns, tuple(lines), _meaning(margin))


def _meaning(margin: float) -> tuple[Remark, ...]:
    text = (
        "better, worse: the interval excludes 0. not worse: it lies above "
        f"-{margin:g} points. open: the folds do not decide."
    )
    return ((text,),)


def _cells(d: Difference, margin: float) -> tuple[Cell, ...]:
    labels = (Cell(str(d.dataset_variant)), Cell(label(d.first)), Cell(label(d.second)))
    numbers = map(Cell, (float(d.folds), d.mean, d.low, d.high, d.p))
    return (*labels, *numbers, Cell(d.conclusion(margin)))


def _over_datasets(tested: list[Overall], measured: str) -> Table:
    columns = (
        *_texts("method", "against"),
        Heading("datasets", digits=0),
        Heading("mean difference", signed=True),
        *(Heading("better on", digits=0), Heading("worse on", digits=0)),
        *(Heading("p", digits=4), Heading("p, Holm", digits=4)),
    )
    caption = (
        f"{measured}: the method minus the other over datasets, in points, with p of Wilcoxon's "
        "signed-rank test, unadjusted and adjusted for all pairs (Holm)"
    )
    lines = tuple(Line(_overall_cells(pair)) for pair in tested)
    few = max((len(pair.differences) for pair in tested), default=0) < 6
    remarks: tuple[Remark, ...] = (
        (("With fewer than six datasets no p can be below 0.05.",),) if few else ()
    )
    return Table("pairs_overall", caption, columns, lines, remarks)


def _overall_cells(pair: Overall) -> tuple[Cell, ...]:
    counts = map(float, (pair.better_on, pair.worse_on))
    numbers = (float(len(pair.differences)), pair.mean, *counts, pair.p, pair.adjusted)
    return (Cell(label(pair.first)), Cell(label(pair.second)), *map(Cell, numbers))


def _ranks(ranked: Ranks, measured: str) -> Table:
    columns = (*_texts("method"), Heading("average rank", digits=2))
    lines = tuple(Line((Cell(label(method)), Cell(rank))) for method, rank in ranked.ranks)
    caption = f"{measured}: average rank over {ranked.datasets} datasets, 1 the best"
    groups = "; ".join(", ".join(map(label, group)) for group in ranked.not_different) or "none"
    friedman = "" if math.isnan(ranked.p) else f" Friedman: p = {ranked.p:.2g}."
    nemenyi = f"Ranks differ significantly by more than {ranked.critical:.2f} (Nemenyi, 5 %)."
    remark = f"{nemenyi}{friedman} No significant difference: {groups}."
    return Table("ranks", caption, columns, lines, ((remark,),))


def _measures_table(study: Study) -> Table:
    """Further measures, as accuracy alone does not show that a class is rare."""
    columns = (
        *_texts("dataset", "method"),
        *(Heading(m.replace("_", " ")) for m in SHOWN_MEASURES),
    )
    groups = [group for group in study.groups.values() if group.results]
    first = {group.dataset_variant: group for group in reversed(groups)}
    lines = tuple(
        Line(_measures(group), opens_group=first[group.dataset_variant] is group)
        for group in groups
    )
    caption = (
        "Held-out rows, in percent: accuracy, balanced accuracy, and share of the majority class"
    )
    return Table("measures", caption, columns, lines)


def _measures(group: FoldGroup) -> tuple[Cell, ...]:
    cells = [Cell(str(group.dataset_variant)), Cell(label(group.method))]
    for name in SHOWN_MEASURES:
        shares = [share for share in group.shares(name).values() if share is not None]
        cells.append(Cell(100 * fmean(shares) if shares else None))
    return tuple(cells)


def _texts(*names: str) -> tuple[Heading, ...]:
    return tuple(Heading(name, is_text=True) for name in names)
