"""The table of how many formulas are about as good as each fold's."""

from __future__ import annotations

from collections.abc import Callable

from fsm_hpc.report.collect import FoldGroup, Study
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Table, mean_cell
from fsm_hpc.system.numbers import counted


def has_any(study: Study) -> bool:
    return any(row.result is not None and row.result.alternatives for row in study.rows)


def table(
    study: Study,
    labels: tuple[Heading, ...],
    place: Callable[[FoldGroup], tuple[Cell, ...]],
) -> Table:
    """Means over folds; a set that was cut short is noted."""
    columns = (
        *labels,
        Heading("folds", digits=0),
        Heading("slack", digits=1),
        Heading("families", digits=1),
        Heading("formulas", digits=1),
    )
    lines = []
    for group in study.groups.values():
        known = [done.alternatives for done in group.results if done.alternatives]
        if known:
            cut = sum(not one["complete"] for one in known)
            note = f"of {counted(cut, 'fold')} only those found in time" if cut else ""
            means = [
                mean_cell([float(one[name]) for one in known], note if name != "slack" else "")
                for name in ("slack", "families", "count")
            ]
            lines.append(Line((*place(group), Cell(float(len(known))), *means)))
    caption = "Formulas within the slack of each fold's optimum, in the mean of its folds"
    return Table("alternatives", caption, columns, tuple(lines))
