"""Compile the kernels of the near-optimal set, which the search for one formula does without."""

from __future__ import annotations

from fsm_hpc.search.near_optimal.enumeration import enumerate_families
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.listing import members_of, second_best
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native import compiling
from fsm_hpc.search.solvers.native.compiling import Say, Stage
from fsm_hpc.search.solvers.native.kernels.near_units import search_units


def ensure_compiled(say: Say | None = None) -> float:
    """Make ready what a good set needs, the proof of its optimum included; the seconds it took."""
    return compiling.ensure_compiled(say) + compiling.ensure(STAGE, say)


def _list_tiny() -> None:
    """All formulas of size 3 with few errors: counted, listed, and the one that agrees most."""
    for problem in compiling.tiny_problems():
        _list_all(problem)


def _list_all(problem: Problem) -> None:
    space = Space(problem, 3)
    errors = problem.rows // 3
    found = enumerate_families(space, errors, 1, Control())
    family, goal = found.families[0], space.table.positives - errors
    members_of(space, family, goal, family.count)
    second_best(space, family, goal, space.table.times * (2 * found.votes - found.count))


STAGE = Stage("the search for alternatives", search_units, _list_tiny)
