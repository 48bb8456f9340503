"""A table that compares the variants of a study, method by method."""

from __future__ import annotations

from collections.abc import Callable

from fsm_hpc.report.collect import FoldGroup, Study
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Remark, Table, mean_cell
from fsm_hpc.study import variants
from fsm_hpc.study.fold_id import PLAIN
from fsm_hpc.study.measures import METRICS


def table(
    study: Study,
    metric: str,
    headings: tuple[Heading, ...],
    labels: Callable[[FoldGroup], tuple[Cell, ...]],
    cell: Callable[[FoldGroup], Cell],
) -> Table:
    """The variants of each method, with the gain of each over the first."""
    columns = (
        *(*headings, Heading("folds", digits=0)),
        *(Heading(metric.replace("_", " ")), Heading("gain", signed=True)),
        *(Heading("average size"), Heading("total s"), Heading("same formulas", digits=0)),
    )
    lines = [
        Line((*labels(g), *_figures(g, groups[0], metric, cell(g))), opens_group=not number)
        for groups in _by_method(study)
        for number, g in enumerate(groups)
    ]
    caption = (
        f"Variants: {METRICS[metric].caption} in percent; gain: mean difference to the first "
        "variant over common folds; same formulas: folds with the formula of the first variant"
    )
    return Table("variants", caption, columns, tuple(lines), _meaning_of_plain(study))


def _by_method(study: Study) -> list[list[FoldGroup]]:
    """The variants of each dataset and method that has several."""
    by_method: dict[tuple[str, str], list[FoldGroup]] = {}
    for folds in study.groups.values():
        by_method.setdefault((folds.dataset, folds.method), []).append(folds)
    return [groups for groups in by_method.values() if len(groups) > 1]


def _figures(folds: FoldGroup, first: FoldGroup, metric: str, measured: Cell) -> tuple[Cell, ...]:
    formulas = {done.fold: done.formula for done in first.results if done.formula}
    same = [done.formula == formulas.get(done.fold) for done in folds.results if done.formula]
    is_first = folds is first
    return (
        Cell(float(len(folds.results))),
        measured,
        Cell() if is_first else mean_cell(folds.gains_over(first, metric)),
        mean_cell([float(row.model_size) for row in folds.rows if row.model_size]),
        mean_cell([done.seconds.total for done in folds.results]),
        Cell() if is_first or not folds.finds_formula else Cell(float(sum(same))),
    )


def _meaning_of_plain(study: Study) -> tuple[Remark, ...]:
    """The initial settings of the study that variants change."""
    plain = (row.result for row in study.rows if row.result and not row.variant)
    known = {key: value for done in plain for key, value in variants.of_result(done).items()}
    keys = sorted({key for name in study.variants for key in variants.parsed(name)})
    settings = [f"{key}={variants.text_of(known[key])}" for key in keys if key in known]
    return ((f"{PLAIN}: {', '.join(settings)}",),) if settings else ()
