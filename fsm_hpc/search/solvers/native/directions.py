"""With which variables each function of a plan may only become true, and with which only false."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.kernels.states import ANTIHOLE, FALSE, HOLE, TRUE
from fsm_hpc.search.solvers.native.plans import PAIRS, Plan
from fsm_hpc.search.solvers.native.table import Array

FUNCTIONS = 8


def directions(plan: Plan) -> tuple[Array, Array]:
    """By function of the hole, variables as bits: those of the context, then x and y."""
    rises, falls = np.zeros(FUNCTIONS, np.int64), np.zeros(FUNCTIONS, np.int64)
    for f in plan.trees:
        truth = truth_of(plan, f)
        for variable in range(plan.boxed + plan.hole):
            pairs = truth.reshape(-1, 2, 1 << variable)
            without, with_it = pairs[:, 0], pairs[:, 1]
            rises[f] |= int(not (without & ~with_it).any()) << variable
            falls[f] |= int(not (with_it & ~without).any()) << variable
    return rises, falls


def truth_of(plan: Plan, f: int) -> Array:
    """The whole function, its variables by place: what fills the hole comes last."""
    filled = _filling(plan.hole, f)
    by_state = np.zeros((4, len(filled)), bool)
    by_state[TRUE], by_state[FALSE] = True, False
    by_state[HOLE], by_state[ANTIHOLE] = filled, ~filled
    return np.asarray(by_state[np.array(plan.states)].T.ravel())


def _filling(hole: int, f: int) -> Array:
    """The values of a function of the hole, where x is the first bit and y the second."""
    values = next(v for v, name in PAIRS.items() if name == f) if hole == 2 else (0b10, 0b01)[f]
    return np.array([values >> place & 1 for place in range(1 << hole)], dtype=bool)
