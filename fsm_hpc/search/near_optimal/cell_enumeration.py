"""One thread that searches sets of fixed literals for all formulas within the slack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fsm_hpc.search.near_optimal.cell_space import CellPass, CellSpace
from fsm_hpc.search.near_optimal.families import RawFamily, Searched, Stretch
from fsm_hpc.search.solvers.native.kernels.cell_search import add_votes, search_sets
from fsm_hpc.search.solvers.native.kernels.cell_shapes import ABOVE, CellMemory
from fsm_hpc.search.solvers.native.kernels.near_units import PAUSE
from fsm_hpc.search.solvers.native.kernels.order import AT, DONE, STOPPED, UNIT_BITS
from fsm_hpc.search.solvers.native.kernels.shapes import Lane, Race
from fsm_hpc.search.solvers.native.table import Array

BUFFER = 1 << 10  # formulas that a kernel finds before it comes back
BUDGET = 20_000_000  # steps of work before it does, some 20 ms
CUT, ENDS = (1, 1), (1, 1, 1, 1)  # of a column with one literal


class CellEnumerator:
    """The same kernel as that of the optimum; it keeps all formulas from the goal on."""

    def __init__(self, space: CellSpace, goal: int, flag: Array) -> None:
        self._space, self._goal, self._flag = space, goal, flag
        self._lane = Lane(np.zeros(5, np.int64), np.zeros(4, np.int64), np.zeros((0, 2), np.int64))
        self._memory: CellMemory | None = None

    def search(self, piece: Stretch) -> Iterator[Searched]:
        one, status = self._space.passes[piece.plan], -1
        bounds, place = self._space.prepare(one), self._lane.control
        goal, ceiling = self._goal + one.above, ABOVE
        if one.below < ABOVE:
            ceiling = self._goal + one.below
        race = Race(np.array([goal << UNIT_BITS]), self._flag, 0)
        place[AT] = piece.start
        while status not in (DONE, STOPPED):
            memory = self._room(one.tree.variables)
            arrays = self._space.sets.arrays
            status = search_sets(
                arrays, one.tree, memory, bounds, self._lane, race, piece.end, BUDGET, ceiling
            )
            rest = None if status == DONE else Stretch(piece.plan, int(place[AT]), piece.end)
            yield Searched(*self._taken(one, memory), rest)
            if self._flag[PAUSE]:
                return

    def _room(self, variables: int) -> CellMemory:
        """Arrays for so many literals; more of them where one unit has filled the last ones."""
        known = self._memory
        room = BUFFER if known is None else len(known.found)
        if known is not None and known.found_count[0] > len(known.found):
            room, known = int(2 * known.found_count[0]), None
        if known is None or len(known.chosen) <= variables:
            known = self._memory = self._space.sets.memory(variables, room)
        known.found_count[0] = 0
        return known

    def _taken(self, one: CellPass, memory: CellMemory) -> tuple[list[RawFamily], Array]:
        """The formulas in the buffer, and the rows on which each of them holds, added up."""
        tree, variables = one.tree, one.tree.variables
        count = int(memory.found_count[0])
        count = 0 if count > len(memory.found) else count  # else its unit is searched again
        votes = np.zeros(self._space.held.shape[1], np.int64)
        add_votes(self._space.held, one.truths, variables, memory.found, count, votes)
        scores, functions = memory.found[:count, 0].tolist(), memory.found[:count, 1]
        columns = np.take_along_axis(memory.found[:count, 2:], tree.places[functions], axis=1)
        cuts, ends = (CUT,) * variables, (ENDS,) * variables
        found = zip(tree.plans[functions].tolist(), columns.tolist(), scores, strict=True)
        return [RawFamily(plan, tuple(c), 1, score, ends, cuts) for plan, c, score in found], votes
