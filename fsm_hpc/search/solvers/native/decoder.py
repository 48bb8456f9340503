"""From what a kernel noted of its leader to the formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsm_hpc.formulas.formula import Atom
from fsm_hpc.formulas.functions import Tree, build
from fsm_hpc.search.frontier import Leader
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.shapes import OPEN, OPEN_NEGATED, TRUE
from fsm_hpc.search.solvers.native.plans import Plan
from fsm_hpc.search.solvers.native.table import Array, KernelTable

Literal = tuple[int, int, int]  # column, lowest and highest rank


@dataclass(frozen=True, slots=True)
class FreeRows:
    """The rows that free literals decide, the worth of each, and the score to reach."""

    rows: Array
    weights: Array
    goal: int


def holds(table: KernelTable, literal: Literal) -> Array:
    column, low, high = literal
    ranks = table.columns[column].ranks
    return np.asarray((ranks >= low) & (ranks <= high))


def free_rows_of(table: KernelTable, plan: Plan, context: list[Literal], score: int) -> FreeRows:
    """What is left to the free literals of a plan once its boxed variables are chosen."""
    index = np.zeros(len(table.rows), np.int64)
    for i, literal in enumerate(context):
        index |= holds(table, literal).astype(np.int64) << i
    states = np.array(plan.states, np.int8)[index]
    settled = int(table.weights[(states == TRUE) | (states == OPEN_NEGATED)].sum())
    rows = np.flatnonzero(states >= OPEN)
    weights = table.weights[rows] * np.where(states[rows] == OPEN, 1, -1)
    return FreeRows(rows, weights, score - settled)


def fill_single(table: KernelTable, free: FreeRows, x: Literal, mask: int) -> int:
    """Whether the literal (0) or its negation (1) reaches the goal."""
    inside = int(free.weights[holds(table, x)[free.rows]].sum())
    if mask & 1 and inside == free.goal:
        return 0
    assert int(free.weights.sum()) - inside == free.goal
    return 1


def fill_pair(
    table: KernelTable, free: FreeRows, x: Literal, y: int, mask: int
) -> tuple[int, Literal]:
    """The function, and the literal of column y, that reach the goal together with x."""
    inner = holds(table, x)[free.rows]
    total = int(free.weights.sum())
    inside = int(free.weights[inner].sum())
    goal = free.goal
    wanted = (
        (True, goal),
        (True, inside - goal),
        (False, goal),
        (False, total - inside - goal),
        (True, total - goal),
        (True, goal - total + inside),
        (False, total - goal),
        (False, goal - inside),
    )
    for f, (with_x, target) in enumerate(wanted):
        part = inner if with_x else ~inner
        if mask >> f & 1:
            literal = _literal_with(table, y, free, part, target)
            if literal is not None:
                return f, literal
    raise AssertionError("the kernel reported a score that no literal has")


def _literal_with(
    table: KernelTable, y: int, free: FreeRows, part: Array, target: int
) -> Literal | None:
    """The first literal of the column whose decided rows in that part sum to the target."""
    column = table.columns[y]
    sums = np.zeros(column.card + 1, np.int64)
    np.add.at(sums, column.ranks[free.rows[part]], free.weights[part])
    if column.kind == POINT:
        hits = np.flatnonzero(sums[1 : column.card] == target)
        return (y, int(hits[0]) + 1, int(hits[0]) + 1) if len(hits) else None
    if table.has_windows and column.kind == INTERVAL:
        below = np.concatenate(([0], np.cumsum(sums)))
        literals = ((low, high) for low, high in column.literals)
        return next(((y, a, b) for a, b in literals if below[b + 1] - below[a] == target), None)
    present = np.unique(column.ranks[free.rows])
    present = present[present >= column.floor]
    tail = np.cumsum(sums[::-1])[::-1]  # tail[v]: rows with v or more
    if column.kind == SUFFIX:
        present = np.union1d(present, [column.card - 1])  # the literal that holds on none of them
        hits = np.flatnonzero(tail[present] == target)
        return (y, int(present[hits[0]]), column.card - 1) if len(hits) else None
    for low in present:
        hits = np.flatnonzero((tail[low] - tail[present + 1] == target) & (present >= low))
        if len(hits):
            return y, int(low), int(present[hits[0]])
    return None


def leader_of(
    table: KernelTable, tree: Tree, literals: list[Literal], score: int, unit: int
) -> Leader:
    atoms = [Atom(table.columns[c].proposition(low, high)) for c, low, high in literals]
    return Leader(build(tree, atoms.__getitem__).canonical(), score, unit)
