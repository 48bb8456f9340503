"""Formulas that are the same on every row, by size."""

from __future__ import annotations

from fsm_hpc.formulas.formula import Atom
from fsm_hpc.search.frontier import Leader
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.decoder import build
from fsm_hpc.search.solvers.native.functions import functions
from fsm_hpc.search.solvers.simple import missing_constants

CONSTANTS_WITH_MISSING = 3  # the size of `p and p is missing`


def constants_of(problem: Problem, size: int) -> list[Leader]:
    """Formulas like `p or not p`, where no threshold gives the constant."""
    if problem.constraints.require:
        return []  # they depend on nothing
    scores = {0: 0, 1: 2 * problem.positives - problem.weight}
    atom = Atom(next(problem.shortest.propositions()))
    return [
        Leader(build(f.tree, [atom]).canonical(), scores[f.table])
        for f in functions(size, problem.language)
        if f.variables == 0
    ]


def missing_constants_of(problem: Problem, size: int) -> list[Leader]:
    """Constants that a search of this size has to beat, as it may take them for formulas."""
    made = missing_constants(problem) if size == CONSTANTS_WITH_MISSING else ()
    return [Leader(f.canonical(), problem.positives - problem.errors(f)) for f in made]
