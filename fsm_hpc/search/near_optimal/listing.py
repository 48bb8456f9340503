"""Members of one family: one by one, or the one under which other weights sum to most."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.near_optimal.families import RawFamily, Space
from fsm_hpc.search.near_optimal.memory import data_of, found_of, work_of
from fsm_hpc.search.solvers.native.kernels.near_boxes import LIST, SECOND, search_family
from fsm_hpc.search.solvers.native.kernels.shapes import NearFound
from fsm_hpc.search.solvers.native.table import Array


def members_of(space: Space, found: RawFamily, goal: int, most: int) -> tuple[Array, Array]:
    """The cuts of at most so many members, by variable in ranks, and their scores."""
    if space.cells is not None:
        return np.array([found.cuts])[:most], np.array([found.score])[:most]
    kept = _search(space, found, goal, LIST, None, most)
    variables = len(found.columns)
    order = np.lexsort(kept.listed[:, :variables].reshape(most, -1).T[::-1])
    return kept.listed[order, :variables], kept.scores[order]


def second_best(space: Space, found: RawFamily, goal: int, weights: Array) -> tuple[int, Array]:
    """The greatest sum of these weights over the rows where a member holds, and its cuts."""
    if space.cells is not None:
        return int(weights[_truth(space, found)].sum()), np.array(found.cuts)
    kept = _search(space, found, goal, SECOND, weights, 0)
    return int(kept.best[0]), kept.cuts


def _truth(space: Space, found: RawFamily) -> Array:
    """The distinct rows on which a formula of fixed literals holds."""
    assert space.cells is not None
    cells = np.zeros(len(space.table.rows), np.int64)
    for variable, column in enumerate(found.columns):
        cells |= space.cells.held[column].astype(np.int64) << variable
    return np.asarray(space.plans[found.plan].function.bits[cells])


def _search(
    space: Space, found: RawFamily, goal: int, mode: int, weights: Array | None, most: int
) -> NearFound:
    plan = space.plans[found.plan]
    kept = found_of(space.table, space.variables, most)
    hole = [found.columns[v] for v in plan.hole]
    search_family(
        data_of(space.table, mode, weights),
        plan.arrays,
        np.array([found.columns[v] for v in plan.boxed], np.int64),
        hole[0],
        hole[1] if len(hole) > 1 else -1,
        goal,
        np.zeros(1, np.int32),
        work_of(space.table, space.variables),
        kept,
    )
    return kept
