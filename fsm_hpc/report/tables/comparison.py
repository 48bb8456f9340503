"""A table that compares the variants of a study, method by method."""

from __future__ import annotations

from collections.abc import Callable

from fsm_hpc.report.collect import FoldGroup, Study, label
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Remark, Table, mean_cell
from fsm_hpc.study import variants
from fsm_hpc.study.fold_id import PLAIN

_PLACE = tuple(Heading(name, is_text=True) for name in ("dataset", "method", "variant"))


def table(study: Study, metric: str, said: str, cell: Callable[[FoldGroup], Cell]) -> Table:
    """Variants below each other, and what each gains over the first of them."""
    columns = (
        *(*_PLACE, Heading("folds", digits=0)),
        *(Heading(metric.replace("_", " ")), Heading("gain", signed=True)),
        *(Heading("average size"), Heading("total s"), Heading("same formulas", digits=0)),
    )
    lines = [
        Line((*_place(one), *_figures(one, folds[0], metric, cell(one))), opens_group=not number)
        for folds in _by_method(study)
        for number, one in enumerate(folds)
    ]
    caption = (
        f"Variants: {said} in percent; the gain is the mean difference to the first variant over "
        "the folds that both have, and as many of their formulas are the same"
    )
    return Table("variants", caption, columns, tuple(lines), _meaning_of_plain(study))


def _by_method(study: Study) -> list[list[FoldGroup]]:
    """The variants of each dataset and method that has several."""
    found: dict[tuple[str, str], list[FoldGroup]] = {}
    for folds in study.groups.values():
        found.setdefault((folds.dataset, folds.method), []).append(folds)
    return [groups for groups in found.values() if len(groups) > 1]


def _place(folds: FoldGroup) -> tuple[Cell, ...]:
    return Cell(folds.dataset), Cell(label(folds.method)), Cell(folds.variant or PLAIN)


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
    """The settings that the study began with, as far as variants differ from them."""
    plain = (row.result for row in study.rows if row.result and not row.variant)
    known = {key: value for done in plain for key, value in variants.of_result(done).items()}
    keys = sorted({key for name in study.variants for key in variants.parsed(name)})
    told = [f"{key}={variants.text_of(known[key])}" for key in keys if key in known]
    return ((f"{PLAIN}: {', '.join(told)}",),) if told else ()
