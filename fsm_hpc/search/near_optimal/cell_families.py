"""Search sets of fixed literals for all formulas within the slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from fsm_hpc.search.near_optimal.contexts import SizedFunction
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.near_optimal.sink import FamilyEngine, RawFamily, Sink, passes
from fsm_hpc.search.solvers.native.cell_engine import LiteralSets
from fsm_hpc.search.solvers.native.engines import UnitGroup, Worker
from fsm_hpc.search.solvers.native.function_trees import Listed, placed, tree_of
from fsm_hpc.search.solvers.native.kernels.cells import search_sets
from fsm_hpc.search.solvers.native.kernels.ranking import UNIT_BITS
from fsm_hpc.search.solvers.native.kernels.shapes import (
    ABOVE,
    Bounds,
    CellMemory,
    FunctionTree,
    SharedBest,
    ThreadState,
)
from fsm_hpc.search.solvers.native.table import MOST_UNITS

BUFFER = 1 << 10  # formulas in the buffer of a kernel
THRESHOLD, RANGES = (1, 1), (1, 1, 1, 1)  # of a column with one literal


@dataclass(frozen=True, slots=True)
class CellPass(UnitGroup):
    """All sets of k literals in one pass, for formulas with a score in a range."""

    sizes: tuple[int, ...]  # of the formulas
    tree: FunctionTree
    above: int  # the lowest score, relative to that of the most errors allowed
    below: int  # and the lowest score of the pass before


class CellSpace:
    """The fixed literals of a table, and the passes over their sets."""

    def __init__(self, table: LiteralTable, functions: Sequence[SizedFunction], slack: int) -> None:
        count = len(table.columns)
        none = np.zeros(1, np.int32)
        no_bounds = Bounds(False, none, np.zeros(1, np.int64), none, 0, 0)
        self.table = table
        held = np.ascontiguousarray(table.ranks > 0)
        self.sets = LiteralSets(held, table.weights, np.arange(1, count + 1), no_bounds)
        self.groups = self._passes(functions, slack)

    def _passes(self, functions: Sequence[SizedFunction], slack: int) -> list[CellPass]:
        numbers = sorted({sized.function.variables for sized in functions})
        trees = [_tree(functions, variables) for variables in numbers]
        groups: list[CellPass] = []
        first, below = 0, ABOVE
        for above in (slack - errors for errors in passes(slack)):
            for tree in trees:
                units = self.sets.units(tree.variables)
                sizes = tuple({f.size for f in functions if f.function.variables == tree.variables})
                groups.append(CellPass(first, units, sizes, tree, above, below))
                first += units
            below = above
        return groups

    def engine(self, goal: int, sink: Sink) -> CellFamilies:
        return CellFamilies(self, goal, sink)


class CellFamilies(FamilyEngine):
    """The kernel of the optimum; it reports all formulas that reach the goal."""

    most_units = MOST_UNITS

    def __init__(self, space: CellSpace, goal: int, sink: Sink) -> None:
        self._space, self._goal, self._sink = space, goal, sink
        self.table = space.table

    def worker(self) -> Worker:
        return Worker(
            ThreadState(np.zeros(5, np.int64), np.zeros(4, np.int64), np.zeros((0, 2), np.int64))
        )

    def units_of_size(self, size: int) -> list[CellPass]:
        return self._space.groups

    def search(
        self, worker: Worker, units: CellPass, shared: SharedBest, end: int, budget: int
    ) -> int:
        sets, variables = self._space.sets, units.tree.variables
        sets.keep_sums(variables - 1)
        goal = self._goal + units.above
        status: int = search_sets(
            sets.arrays,
            units.tree,
            self._room(worker, variables),
            sets.known_bounds(variables),
            worker.thread,
            SharedBest(np.array([goal << UNIT_BITS]), shared.flag, 0),
            end,
            budget,
            ABOVE if units.below == ABOVE else self._goal + units.below,
        )
        self._sink.add(self._taken(worker, units), shared)
        return status

    def _room(self, worker: Worker, variables: int) -> CellMemory:
        """Arrays for so many literals; larger ones after a unit has filled them."""
        known = worker.memory
        assert known is None or isinstance(known, CellMemory)
        room = BUFFER if known is None else len(known.found)
        if known is not None and known.found_count[0] > len(known.found):
            room, known = int(2 * known.found_count[0]), None
        if known is None or len(known.chosen) <= variables:
            known = worker.memory = self._space.sets.memory(variables, room)
        known.found_count[0] = 0
        return known

    def _taken(self, worker: Worker, units: CellPass) -> list[RawFamily]:
        """The formulas in the buffer; none if it was too small for a unit."""
        memory, tree = worker.memory, units.tree
        assert isinstance(memory, CellMemory)
        count = int(memory.found_count[0])
        count = 0 if count > len(memory.found) else count
        scores, functions = memory.found[:count, 0].tolist(), memory.found[:count, 1]
        columns = np.take_along_axis(memory.found[:count, 2:], tree.places[functions], axis=1)
        ranges, thresholds = (RANGES,) * tree.variables, (THRESHOLD,) * tree.variables
        rows = zip(tree.plans[functions].tolist(), columns.tolist(), scores, strict=True)
        return [RawFamily(plan, tuple(c), 1, score, ranges, thresholds) for plan, c, score in rows]


def _tree(functions: Sequence[SizedFunction], variables: int) -> FunctionTree:
    """All functions of so many literals, with every assignment of their variables."""
    places = np.array(list(permutations(range(variables))), np.int8)
    parts = []
    for number, sized in enumerate(functions):
        if sized.function.variables == variables:
            truths = placed(sized.function.bits, places)
            numbers = np.full(len(places), number)
            parts.append(Listed(numbers, np.zeros_like(numbers), places, truths))
    return tree_of(variables, parts)
