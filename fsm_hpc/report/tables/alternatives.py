"""Build the table of near-optimal formulas: their mean number per fold."""

from __future__ import annotations

from collections.abc import Callable

from fsm_hpc.report.collect import FoldGroup, Study
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Table, mean_cell
from fsm_hpc.system.numbers import counted


def has_any(study: Study) -> bool:
    return any(row.result is not None and row.result.alternatives for row in study.rows)


def table(
    study: Study,
    headings: tuple[Heading, ...],
    labels: Callable[[FoldGroup], tuple[Cell, ...]],
) -> Table:
    """Means over folds; incomplete sets are noted."""
    columns = (
        *headings,
        Heading("folds", digits=0),
        Heading("slack", digits=1),
        Heading("families", digits=1),
        Heading("formulas", digits=1),
    )
    lines = []
    for group in study.groups.values():
        sets = [done.alternatives for done in group.results if done.alternatives]
        if sets:
            partial = sum(not counts["complete"] for counts in sets)
            note = (
                f"incomplete in {counted(partial, 'fold')}: time limit reached" if partial else ""
            )
            means = [
                mean_cell([float(counts[name]) for counts in sets], note if name != "slack" else "")
                for name in ("slack", "families", "count")
            ]
            lines.append(Line((*labels(group), Cell(float(len(sets))), *means)))
    caption = "Near-optimal formulas: means over folds"
    return Table("alternatives", caption, columns, tuple(lines))
