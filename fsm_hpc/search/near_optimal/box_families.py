"""Search boxes for all families with a member within the slack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from fsm_hpc.formulas.functions import Tree
from fsm_hpc.search.near_optimal.contexts import SizedFunction, first_of_equals, shape
from fsm_hpc.search.near_optimal.family_search import FamilySearch
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.near_optimal.sink import FamilyEngine, RawFamily, Sink, passes
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.engines import PlanUnits, Worker, chosen_families, units_of_plans
from fsm_hpc.search.solvers.native.kernels.pairs import COLUMN_BITS
from fsm_hpc.search.solvers.native.kernels.ranking import STOPPED, UNIT_BITS
from fsm_hpc.search.solvers.native.kernels.shapes import BoxMemory, SharedBest


@dataclass(frozen=True, slots=True)
class BoxPass(PlanUnits):
    """The units of a plan in one pass, for families with at least a score of `above` the lowest."""

    size: int
    above: int

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.size,)


class BoxSpace:
    """The table of the boxes, and the passes over its units."""

    def __init__(self, table: LiteralTable, functions: Sequence[SizedFunction], slack: int) -> None:
        self.table, self.functions = table, functions
        self._engine = BoxEngine(table)
        sizes = sorted({function.size for function in functions})
        self.groups = list(self._passes(sizes, slack))
        shapes = (shape(sized.function.tree) for sized in functions)
        self._known = {tree: (number, names) for number, (tree, names) in enumerate(shapes)}

    def _passes(self, sizes: Sequence[int], slack: int) -> Iterator[BoxPass]:
        first, columns = 0, len(self.table.columns)
        for above in (slack - errors for errors in passes(slack)):
            for size in sizes:
                for units in units_of_plans(self.table, size, self._engine.blocks):
                    if units.plan.boxed + units.plan.free <= columns:
                        known = {field.name: getattr(units, field.name) for field in fields(units)}
                        yield BoxPass(**{**known, "first": first}, size=size, above=above)
                        first += units.units

    def engine(self, goal: int, sink: Sink) -> BoxFamilies:
        return BoxFamilies(self, goal, sink)

    def family_key(self, tree: Tree, columns: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """The function of a plan's tree, and the columns of its variables."""
        named, names = shape(tree)
        number, own_names = self._known[named]
        given = dict(zip(own_names, (columns[name] for name in names), strict=True))
        chosen = tuple(given[v] for v in range(len(given)))
        return number, first_of_equals(self.functions[number].function, chosen)


@dataclass(slots=True)
class FamilyWorker(Worker):
    """The arrays of one thread, and its search of single families."""

    counting: FamilySearch | None = None


class BoxFamilies(FamilyEngine, BoxEngine):
    """The engine of the optimum; families that reach the goal are counted and added to the sink."""

    def __init__(self, space: BoxSpace, goal: int, sink: Sink) -> None:
        super().__init__(space.table)
        self._space, self._goal, self._sink = space, goal, sink

    def worker(self, keeps_all: bool = True) -> Worker:
        worker = super().worker(keeps_all)
        counting = FamilySearch(self._space.table, self._space.functions, self._goal)
        return FamilyWorker(worker.thread, worker.memory, counting)

    def units_of_size(self, size: int) -> list[PlanUnits]:
        return list(self._space.groups)

    def search(
        self, worker: Worker, units: PlanUnits, shared: SharedBest, end: int, budget: int
    ) -> int:
        assert isinstance(units, BoxPass)
        assert isinstance(worker, FamilyWorker)
        assert isinstance(worker.memory, BoxMemory)
        worker.memory.found_count[0] = 0
        goal = np.array([self._goal + units.above << UNIT_BITS])
        status = super().search(worker, units, SharedBest(goal, shared.flag, 0), end, budget)
        families = list(self._counted(worker, units, shared))
        if shared.flag[0]:  # perhaps not all families are counted: the units count as not searched
            status = STOPPED
        self._sink.add(families, shared)
        return status

    def _counted(
        self, worker: FamilyWorker, units: BoxPass, shared: SharedBest
    ) -> Iterator[RawFamily]:
        assert worker.counting is not None
        for key in set(self._reported(worker, units)):
            if key not in self._sink:
                family = worker.counting.count(*key, shared.flag)
                if family is not None and family.score >= self._goal + units.above:
                    yield family

    def _reported(
        self, worker: FamilyWorker, units: BoxPass
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The families that the kernel reported to reach the goal."""
        memory = worker.memory
        assert isinstance(memory, BoxMemory)
        for unit, entry, mask in memory.found[: memory.found_count[0]].tolist():
            context = units.families.column[chosen_families(units, unit)].tolist()
            columns = [*context, *divmod(entry, 1 << COLUMN_BITS)]
            for f, tree in units.plan.trees.items():
                if mask >> f & 1:
                    yield self._space.family_key(tree, columns)
