"""Which engine searches a problem: the one whose predicted cost is lower."""

from __future__ import annotations

from collections.abc import Sequence

from fsm_hpc.errors import UserError
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.cell_engine import CellEngine
from fsm_hpc.search.solvers.native.engines import Engine
from fsm_hpc.search.solvers.native.kernels.columns import POINT
from fsm_hpc.search.solvers.native.table import KernelTable

MOST_LITERALS = 1 << 14  # of intervals between given cuts, which are listed one by one
COMPARED = 5  # columns of a formula whose cost is predicted: those of size 9
SET_COST = 0.04  # microseconds of a set of so many literals, and of a set of columns in boxes:
BOXES_COST = 2.0  # the latter times a factor for each numeric column, which grows with its literals
NUMERIC_FACTOR, NUMERIC_POWER = 2.0, 0.3


def choose_engine(table: KernelTable) -> Engine:
    """Cells where all literals are fixed, or few enough; boxes where a column has many cuts."""
    if table.has_rows_between_ends:
        _refuse_too_many(table)
        return CellEngine(table)
    if all(column.kind == POINT for column in table.columns):
        return CellEngine(table)
    sets, boxes = predicted_costs(table)
    return CellEngine(table) if sets <= boxes else BoxEngine(table)


def predicted_costs(table: KernelTable) -> tuple[float, float]:
    """Of cells and of boxes, in microseconds: measured on tables with 2 to 16 cuts a column."""
    numeric = [float(c.literal_count) for c in table.columns if c.kind != POINT]
    fixed = [1.0] * sum(c.card - 1 for c in table.columns if c.kind == POINT)
    factors = [NUMERIC_FACTOR * count**NUMERIC_POWER for count in numeric]
    return SET_COST * _choices(fixed + numeric), BOXES_COST * _choices(fixed + factors)


def _choices(counts: Sequence[float]) -> float:
    """The ways to take one of each of several columns: a sum of products."""
    size = min(COMPARED, len(counts))
    sums = [1.0] + [0.0] * size
    for count in counts:
        for k in range(size, 0, -1):
            sums[k] += sums[k - 1] * count
    return sums[size]


def _refuse_too_many(table: KernelTable) -> None:
    """Intervals between given cuts are listed one by one, as those of all columns then."""
    count = sum(column.literal_count for column in table.columns if column.kind != POINT)
    if count > MOST_LITERALS:
        raise UserError(
            f"expected at most {MOST_LITERALS:,} cuts or intervals in all for solver=native with "
            f"these cuts, found {count:,}; give a list for every column of many values, take "
            "cuts=quantiles with fewer of them, or solver=clingo_dl"
        )
