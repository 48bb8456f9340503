"""Problems whose literals are fixed: sets of literals, bounded by the sums over their cells."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fsm_hpc.search.frontier import Leader, UnitRange
from fsm_hpc.search.solvers.native import decoder
from fsm_hpc.search.solvers.native.engines import Engine, UnitGroup, Worker
from fsm_hpc.search.solvers.native.function_trees import function_tree, literal_counts
from fsm_hpc.search.solvers.native.kernels import cells
from fsm_hpc.search.solvers.native.kernels.ranking import UNITS
from fsm_hpc.search.solvers.native.kernels.shapes import (
    ABOVE,
    FIRST,
    FUNCTION,
    GROUP,
    LANES,
    NEVER,
    PLAN,
    SCORE,
    Bounds,
    CellMemory,
    FixedTable,
    FunctionTree,
    SharedBest,
    ThreadState,
)
from fsm_hpc.search.solvers.native.literal_list import FREE, ListedLiteral, list_literals
from fsm_hpc.search.solvers.native.plans import plans
from fsm_hpc.search.solvers.native.row_sets import WORD, packed
from fsm_hpc.search.solvers.native.table import MOST_UNITS, Array, KernelTable, binomials

MOST_SUMS = 1 << 24  # of conjunctions that are kept
MOST_REMEMBERED = 1 << 22  # units whose bound is kept from one size to the next
MOST_VARIABLES = 16  # a set of more literals has too many cells
FILLINGS = 8  # functions of free literals
NO_ROW = -1  # fills up a word


@dataclass(frozen=True, slots=True)
class CellUnits(UnitGroup):
    """The units of all sets of k literals, for the functions of a size."""

    size: int
    tree: FunctionTree
    known_bounds: Array


class LiteralSets:
    """The fixed literals of some rows, and the sums over their conjunctions."""

    def __init__(self, holds: Array, weights: Array, next_free: Array, constraints: Bounds) -> None:
        layout, sections = _sections(weights)
        self.count = len(holds)
        self._lock = threading.Lock()
        self._bounds: dict[int, Array] = {}
        self.arrays = FixedTable(
            packed(np.pad(holds, ((0, 0), (0, 1)))[:, layout]),
            sections,
            next_free.astype(np.int64),
            binomials(self.count, MOST_VARIABLES + 2),
            np.zeros(0, np.int32),
            np.full(MOST_VARIABLES + 2, -1, np.int64),
            int(weights.sum()),
            constraints,
        )
        self._everything = np.full(self.arrays.bits.shape[1], ~np.uint64(0))
        self.keep_sums(1)

    def units(self, variables: int) -> int:
        """Sets of the first literals, of which each is one unit with all that may be the last."""
        return MOST_UNITS + 1 if variables > MOST_VARIABLES else self._number(variables - 1)

    def known_bounds(self, variables: int) -> Array:
        """By unit the greatest bound of its sets, which is the same for all sizes."""
        with self._lock:
            if variables not in self._bounds:
                units = self.units(variables)
                kept = units if units <= MOST_REMEMBERED else 0
                self._bounds[variables] = np.full(kept, ABOVE, np.int32)
            return self._bounds[variables]

    def keep_sums(self, most: int) -> None:
        """Sum conjunctions of at most so many literals, as far as there is room for them."""
        with self._lock:
            for size in range(1, min(most, MOST_VARIABLES) + 1):
                number = self._number(size)
                if size > 1 and len(self.arrays.sums) + number > MOST_SUMS:
                    return
                if self.arrays.starts[size] < 0:
                    self._add_sums(size, number)

    def _add_sums(self, size: int, number: int) -> None:
        starts, sums = self.arrays.starts.copy(), self.arrays.sums
        starts[size] = len(sums)
        words = np.zeros((size, len(self._everything)), np.uint64)
        words[0] = self._everything
        sums = np.concatenate([sums, np.zeros(number, np.int32)])
        arrays = self.arrays._replace(sums=sums, starts=starts)
        cells.sum_conjunctions(arrays, size, words, np.zeros(size, np.int64))
        self.arrays = arrays

    def _number(self, size: int) -> int:
        return int(self.arrays.binomials[self.count, size])

    def memory(self, variables: int, found: int = 0) -> CellMemory:
        """The arrays of one thread for sets of at most so many literals."""
        subsets, columns = 1 << max(0, variables - 2), self.count + LANES
        width, groups = len(self._everything), max(1, (1 << variables) // GROUP)
        words = np.zeros((subsets, width), np.uint64)
        words[0] = self._everything
        weights, inner = np.zeros((2, subsets), np.int64)
        weights[0] = self.arrays.total
        singles, pairs = np.zeros((2, subsets, columns), np.int32)
        at, stop, partial = np.zeros((3, groups), np.int64)
        return CellMemory(
            np.zeros(variables + 1, np.int64),
            words,
            weights,
            inner,
            np.zeros(subsets, np.int64),
            singles,
            pairs,
            np.zeros(columns, np.int32),
            np.zeros(width, np.uint64),
            np.zeros(1 << variables, np.int32),
            np.zeros((groups, 1 << GROUP), np.int32),
            np.zeros(groups + 1, np.int64),
            at,
            stop,
            partial,
            np.zeros((found, variables + 2), np.int64),
            np.zeros(1, np.int64),
        )


class CellEngine(Engine):
    """Searches sets of fixed literals."""

    most_units = MOST_UNITS

    def __init__(self, table: KernelTable) -> None:
        self.table = table
        self.literals: list[ListedLiteral] = list(list_literals(table))
        places = [literal.place for literal in self.literals]
        constraints = [table.columns[place[0]].constraint for place in places]
        self.sets = LiteralSets(
            np.stack([decoder.holds(table, place) for place in places]),
            table.weights,
            _next_free([literal.owner for literal in self.literals]),
            table.bounds_of(constraints) if table.bounds.is_any else table.bounds,
        )

    def worker(self) -> Worker:
        leader = np.zeros(FIRST + MOST_VARIABLES, np.int64)
        leader[SCORE] = -UNITS
        return Worker(ThreadState(np.zeros(5, np.int64), leader, np.zeros((0, 2), np.int64)))

    def units_of_size(self, size: int) -> list[UnitGroup]:
        """Sets of few literals first: they are searched in no time, and bound all others."""
        found: list[UnitGroup] = []
        first, language = 0, self.table.language
        for variables in literal_counts(size, language):
            if variables > self.sets.count:
                break
            units = self.sets.units(variables)
            if variables > MOST_VARIABLES:
                return [*found, UnitGroup(first, units)]  # more than can be searched
            self.sets.keep_sums(variables - 1)
            tree = function_tree(size, language, variables)
            bounds = self.sets.known_bounds(variables)
            found.append(CellUnits(first, units, size, tree, bounds))
            first += units
        return found

    def search(
        self, worker: Worker, units: CellUnits, shared: SharedBest, end: int, budget: int
    ) -> int:
        memory, variables = worker.memory, units.tree.variables
        if not isinstance(memory, CellMemory) or len(memory.chosen) <= variables:
            memory = worker.memory = self.sets.memory(variables)
        status: int = cells.search_sets(
            self.sets.arrays,
            units.tree,
            memory,
            units.known_bounds,
            worker.thread,
            shared,
            end,
            budget,
            NEVER,
        )
        return status

    def upper_bound(self, groups: Sequence[CellUnits], left: Iterable[UnitRange]) -> int | None:
        """From the bounds of sets, where a smaller size has all of them."""
        found = NEVER
        for group, one in itertools.product(groups, left):
            start, end = max(one.start, group.first), min(one.end, group.end)
            bounds = group.known_bounds[start - group.first : max(start, end) - group.first]
            if len(bounds) < end - start:
                return None
            found = max(found, int(bounds.max(initial=NEVER)))
        return found if found < ABOVE else None

    def decode(self, groups: Sequence[CellUnits], thread: ThreadState) -> Leader:
        score, number, f = (int(thread.incumbent[field]) for field in (SCORE, PLAN, FUNCTION))
        plan = plans(groups[0].size, False, self.table.language)[number]
        chosen = thread.incumbent[FIRST : FIRST + plan.boxed + plan.free].tolist()
        literals = [self.literals[literal].place for literal in chosen]
        most = max(group.tree.variables for group in groups)
        return decoder.leader_of(
            self.table, plan.trees[f], literals, score, self._place(number, chosen, f, most)
        )

    def _place(self, plan: int, chosen: list[int], f: int, most: int) -> int:
        """A formula's place in canonical order: its plan, its literals by variable, its filling."""
        place = plan
        for literal in [*chosen, *[0] * (most - len(chosen))]:
            place = place * self.sets.count + literal
        return UNITS + place * FILLINGS + f


def _next_free(owners: list[int]) -> Array:
    """By literal the first one after it that a formula may have beside it."""
    found = np.arange(1, len(owners) + 1)
    for at in range(len(owners) - 2, -1, -1):
        if owners[at] != FREE and owners[at] == owners[at + 1]:
            found[at] = found[at + 1]
    return found


def _sections(weights: Array) -> tuple[Array, Array]:
    """Rows in sections of one weight each: by sign, and by every bit of the weight's number."""
    layout, sections, at = [np.zeros(0, np.int64)], [], 0
    for sign in (1, -1):
        sizes = np.maximum(weights.astype(np.int64) * sign, 0)
        for bit in range(int(sizes.max(initial=0)).bit_length()):
            rows = np.flatnonzero(sizes >> bit & 1)
            if len(rows):
                words = -(-len(rows) // WORD)
                layout.append(np.pad(rows, (0, -len(rows) % WORD), constant_values=NO_ROW))
                sections.append((at, at + words, sign << bit))
                at += words
    return np.concatenate(layout), np.array(sections, np.int64).reshape(-1, 3)
