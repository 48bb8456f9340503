"""Compile the kernels of the near-optimal set, which the search for one formula does without."""

from __future__ import annotations

from fsm_hpc.search.near_optimal.good_set import agreement_weights, near_optimal
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native import compiling
from fsm_hpc.search.solvers.native.compiling import Say, Stage
from fsm_hpc.search.solvers.native.kernels.near_units import search_units


def ensure_compiled(say: Say | None = None) -> float:
    """Make ready what a good set needs, the proof of its optimum included; the seconds it took."""
    return compiling.ensure_compiled(say) + compiling.ensure(STAGE, say)


def _list_tiny() -> None:
    """All formulas of size 3 with few errors: counted, listed, and the one that agrees most."""
    _, problem = compiling.tiny_problems()
    good = near_optimal(problem, 3, 0, problem.rows // 3, 1, Control())
    list(good.members(good.families[0]))
    good.greatest(agreement_weights(good))


STAGE = Stage("the search for alternatives", search_units, _list_tiny)
