"""Tables where every column has few literals: row sets as bits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, groupby
from operator import itemgetter

import numpy as np

from fsm_hpc.search.frontier import Leader, Rest
from fsm_hpc.search.solvers.native import decoder
from fsm_hpc.search.solvers.native.engines import (
    MOST_BOXED,
    Blocks,
    PlanUnits,
    Worker,
    chosen_families,
)
from fsm_hpc.search.solvers.native.kernels import bitsets, shapes
from fsm_hpc.search.solvers.native.kernels.bitsets import FREE
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.order import ENTRY, LOW, MASK, OPEN, SCORE, UNIT
from fsm_hpc.search.solvers.native.plans import PAIRS, Plan
from fsm_hpc.search.solvers.native.table import Array, KernelTable

WORD = 64
PAIRS_OF_A_UNIT = 1 << 20  # of literals, at most: some milliseconds
NO_ROW = -1  # fills up a word
NO_VALUE = -1  # what a column has there


class BitEngine:
    """Row sets as bits, for tables where every column has few literals."""

    def __init__(self, table: KernelTable) -> None:
        self.table = table
        copies = np.abs(table.weights)
        rows = np.repeat(np.arange(len(copies)), copies)
        positive = table.weights[rows] > 0
        layout = np.concatenate([_padded(rows[positive]), _padded(rows[~positive])])
        full = _packed(layout != NO_ROW)
        self.literals: list[decoder.Literal] = []
        owners, bits = [], []
        found = self._all_of(layout) if table.bounds.is_any else self._different(layout, full)
        for literal, owner, held in found:
            self.literals.append(literal)
            owners.append(owner)
            bits.append(held)
        asked = [table.columns[literal[0]].asked for literal in self.literals]
        self.table_bits = shapes.BitTable(
            np.stack(bits),
            np.array(owners, np.int32),
            full,
            len(_padded(rows[positive])) // WORD,
            table.bounds_of(asked) if table.bounds.is_any else table.bounds,
        )

    def _different(
        self, layout: Array, full: Array
    ) -> Iterator[tuple[decoder.Literal, int, Array]]:
        """Each literal with its owner and its rows, those that say the same once."""
        free = {full.tobytes()}
        for column, literals in groupby(self._candidates(), key=itemgetter(0)):
            is_numeric = self.table.columns[column].kind != POINT
            values = self._values(column, layout)
            seen = {np.zeros_like(full).tobytes()}
            for literal in literals:
                held = _packed((values >= literal[1]) & (values <= literal[2]))
                key = held.tobytes()
                if is_numeric and (key in free or key in seen):
                    continue  # a literal that may be combined with any other is as good
                seen.add(key)
                if not is_numeric:
                    free.add(key)
                yield literal, column if is_numeric else FREE, held
        for literal, held in self._constants(full):
            yield literal, FREE, held

    def _all_of(self, layout: Array) -> Iterator[tuple[decoder.Literal, int, Array]]:
        """The same under constraints: literals of two columns are not as good as each other."""
        for index in self.table.places.tolist():
            column, values = self.table.columns[index], self._values(index, layout)
            is_numeric, seen = column.kind != POINT, set()
            ends = column.literals if is_numeric else ((v, v) for v in range(1, column.card))
            for low, high in ends:
                held = _packed((values >= low) & (values <= high))
                if not is_numeric or held.tobytes() not in seen:
                    seen.add(held.tobytes())
                    yield (index, low, high), index if is_numeric else FREE, held

    def _values(self, column: int, layout: Array) -> Array:
        return np.append(self.table.columns[column].ranks, np.int32(NO_VALUE))[layout]

    def _candidates(self) -> Iterator[decoder.Literal]:
        """Every literal that holds on some rows and not on others, column by column."""
        for index in self.table.places.tolist():
            column = self.table.columns[index]
            if column.kind == POINT:
                yield from ((index, value, value) for value in range(1, column.card))
            elif column.kind == SUFFIX:
                yield from ((index, value, column.card - 1) for value in column.values[1:])
            elif column.step > 1:
                yield from ((index, *ends) for ends in column.literals)
            else:
                held = [value for value in column.values if value >= column.floor]
                yield from ((index, *ends) for ends in combinations_with_replacement(held, 2))

    def _constants(self, full: Array) -> Iterator[tuple[decoder.Literal, Array]]:
        """One cut that holds on every row, and one that holds on none, where columns have them."""
        numeric = [(i, c) for i, c in enumerate(self.table.columns) if c.kind != POINT]
        for index, column in numeric:
            if column.widest is not None:
                yield (index, *column.widest), full
                break
        for index, column in numeric:
            if column.empty_at is not None:
                high = column.empty_at if column.kind == INTERVAL else column.card - 1
                yield (index, column.empty_at, high), np.zeros_like(full)
                return

    @property
    def families(self) -> shapes.Families:
        count, owners = len(self.literals), self.table_bits.owners
        places = np.arange(count, dtype=np.int32)
        column = np.where(owners == FREE, -1 - places, owners).astype(np.int32)
        return shapes.Families(column, np.zeros((count, 4), np.int32), owners != FREE)

    def worker(self) -> Worker:
        words, literals = len(self.table_bits.full), len(self.literals)
        sets = [np.zeros(words, np.uint64) for _ in range(4)]
        gain, loss, roles_x, roles_y = (np.zeros(literals, np.int64) for _ in range(4))
        chosen = np.zeros(MOST_BOXED, np.int32)
        plus, minus, plus_x, minus_x = sets
        return Worker.of(
            shapes.BitMemory(
                plus,
                minus,
                gain,
                loss,
                roles_x,
                roles_y,
                chosen,
                plus_x,
                minus_x,
                np.zeros(3, np.int64),
            )
        )

    def blocks(self, plan: Plan) -> Blocks:
        literals = len(self.literals)
        holes = literals if plan.hole == 1 else min(literals, max(1, PAIRS_OF_A_UNIT // literals))
        return Blocks(-(-literals // holes), holes)

    def search(self, worker: Worker, units: PlanUnits, race: shapes.Race, span: shapes.Span) -> int:
        status: int = bitsets.search_bits(
            self.table_bits, units.families, units.arrays, worker.memory, worker.lane, race, span
        )
        return status

    def rest(self, worker: Worker, units: PlanUnits) -> Rest:
        """The literal that a begun unit goes on with."""
        at = int(worker.lane.control[OPEN])
        return ((at,),) if at else ()

    def take_up(self, worker: Worker, units: PlanUnits, rest: Rest) -> None:
        if rest:
            worker.lane.control[OPEN] = rest[0][0]

    def decode(self, units: PlanUnits, lane: shapes.Lane) -> Leader:
        unit, x, mask, score, y = (int(lane.leader[i]) for i in (UNIT, ENTRY, MASK, SCORE, LOW))
        literals = [self.literals[family] for family in chosen_families(units, unit)]
        hole = decoder.hole_of(self.table, units.plan, literals, score)
        literals.append(self.literals[x])
        if units.plan.hole == 1:
            f = decoder.fill_single(self.table, hole, literals[-1], mask)
        else:
            f = self._function(hole, x, y, mask)
            literals.append(self.literals[y])
        return decoder.leader_of(self.table, units.plan.trees[f], literals, score, unit)

    def _function(self, hole: decoder.Hole, x: int, y: int, mask: int) -> int:
        a, b = (decoder.holds(self.table, self.literals[i])[hole.rows].astype(int) for i in (x, y))
        for values, f in sorted(PAIRS.items(), key=lambda item: item[1]):
            truth = values >> (a + 2 * b) & 1
            if mask >> f & 1 and int((hole.weights * truth).sum()) == hole.goal:
                return f
        raise AssertionError("the kernel reported a score that no function has")


def _padded(rows: Array) -> Array:
    """The rows, and no row as often as fills the last word."""
    return np.append(rows, np.full(-len(rows) % WORD, NO_ROW, rows.dtype))


def _packed(truth: Array) -> Array:
    return np.packbits(truth, bitorder="little").view(np.uint64)
