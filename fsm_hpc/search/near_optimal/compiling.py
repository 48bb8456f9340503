"""Compile the kernels that only the search for the Rashomon set uses."""

from __future__ import annotations

from fsm_hpc.search.near_optimal.enumeration import enumerate_families
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native import compiling
from fsm_hpc.search.solvers.native.compiling import Say, Stage
from fsm_hpc.search.solvers.native.kernels.families import search_family


def ensure_compiled(say: Say | None = None) -> float:
    """Compile all kernels for Rashomon sets and for the optimum; the seconds it took."""
    return compiling.ensure_compiled(say) + compiling.ensure(STAGE, say)


def _list_tiny() -> None:
    """All formulas of size 3 with few errors: counted, listed, and the one that agrees most."""
    for problem in compiling.tiny_problems():
        _list_all(problem)


def _list_all(problem: Problem) -> None:
    space, errors = Space(problem, 3), problem.rows // 3
    family = enumerate_families(space, errors, 1, Control()).families[0]
    search = space.family_search(space.table.positives - errors)
    search.members(family, family.count)
    search.second_best(family, space.table.times)


STAGE = Stage("the search for alternatives", search_family, _list_tiny)
