"""Near-optimal sets of fixed literals: every set of literals, the best formulas first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from fsm_hpc.search.near_optimal.hole_plans import HolePlan
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.solvers.native.cell_engine import LiteralSets
from fsm_hpc.search.solvers.native.function_trees import Listed, placed, tree_of
from fsm_hpc.search.solvers.native.kernels.cell_shapes import ABOVE, FunctionTree
from fsm_hpc.search.solvers.native.kernels.shapes import Bounds
from fsm_hpc.search.solvers.native.table import Array

STEPS = (16, 8, 4, 2, 1, 0)  # errors less than allowed: the best formulas are looked for first


@dataclass(frozen=True, slots=True)
class CellPass:
    """All sets of k literals, searched for formulas whose score is in a range."""

    tree: FunctionTree
    truths: Array  # of the tree's functions, as bytes
    above: int  # the least score, above that of the most errors allowed
    below: int  # and the first that an earlier pass has searched
    units: int


class CellSpace:
    """The fixed literals of a table, and the passes over their sets."""

    def __init__(self, table: LiteralTable, plans: Sequence[HolePlan]) -> None:
        count = len(table.columns)
        none = np.zeros(1, np.int32)
        nothing = Bounds(False, none, np.zeros(1, np.int64), none, 0, 0)
        self.held = np.ascontiguousarray(table.ranks > 0)
        self.sets = LiteralSets(self.held, table.weights, np.arange(1, count + 1), nothing)
        numbers = sorted({plan.function.variables for plan in plans})
        trees = [_tree(plans, variables) for variables in numbers]
        self.passes = list(self._passes(trees))

    def _passes(self, trees: Sequence[tuple[FunctionTree, Array]]) -> Iterator[CellPass]:
        below = ABOVE
        for above in STEPS:
            for tree, truths in trees:
                units = self.sets.units(tree.variables)
                yield CellPass(tree, truths, above, below, units)
            below = above

    def prepare(self, one: CellPass) -> Array:
        """Sums and bounds that the pass uses."""
        self.sets.keep_sums(one.tree.variables - 1)
        return self.sets.known_bounds(one.tree.variables)


def _tree(plans: Sequence[HolePlan], variables: int) -> tuple[FunctionTree, Array]:
    """All functions of so many literals, with every way to name their variables once."""
    places = np.array(list(permutations(range(variables))), np.int8)
    parts = []
    for number, plan in enumerate(plans):
        if plan.function.variables == variables:
            truths = placed(plan.function.bits, places)
            plan_of = np.full(len(places), number)
            parts.append(Listed(plan_of, np.zeros_like(plan_of), places, truths))
    return tree_of(variables, parts)
