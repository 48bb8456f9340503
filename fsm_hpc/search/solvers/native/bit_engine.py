"""Tables where every literal is Boolean: row sets as bits."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np

from fsm_hpc.search.solvers.native import decoder
from fsm_hpc.search.solvers.native.engines import MOST_BOXED, PlanUnits, Worker, chosen_families
from fsm_hpc.search.solvers.native.kernels import bitsets, shapes
from fsm_hpc.search.solvers.native.kernels.order import ENTRY, LOW, MASK, SCORE, UNIT
from fsm_hpc.search.solvers.native.plans import PAIRS, Plan
from fsm_hpc.search.solvers.native.table import Array, KernelTable

WORD = 64
NO_ROW = -1  # fills up a word
NO_VALUE = -1  # what a column has there


class BitEngine:
    """Row sets as bits, for tables where every literal is Boolean."""

    def __init__(self, table: KernelTable) -> None:
        self.table = table
        columns, ends = table.families.column, table.families.ends
        self.literals = [(int(c), int(e[0]), int(e[2])) for c, e in zip(columns, ends, strict=True)]
        copies = np.abs(table.weights)
        rows = np.repeat(np.arange(len(copies)), copies)
        positive = table.weights[rows] > 0
        parts = _padded(rows[positive]), _padded(rows[~positive])
        layout = np.concatenate(parts)
        bits = []
        for column, literals in groupby(self.literals, key=itemgetter(0)):
            values = np.append(table.columns[column].ranks, np.int32(NO_VALUE))[layout]
            bits += [_packed(values == low) for _, low, _ in literals]
        full = _packed(layout != NO_ROW)
        self.table_bits = shapes.BitTable(np.stack(bits), full, len(parts[0]) // WORD)

    @property
    def families(self) -> shapes.Families:
        count = len(self.literals)
        return shapes.Families(
            np.arange(count, dtype=np.int32), np.zeros((count, 4), np.int32), np.zeros(count, bool)
        )

    def worker(self) -> Worker:
        words, literals = len(self.table_bits.full), len(self.literals)
        sets = [np.zeros(words, np.uint64) for _ in range(4)]
        gain, loss, roles_x, roles_y = (np.zeros(literals, np.int64) for _ in range(4))
        chosen = np.zeros(MOST_BOXED, np.int32)
        plus, minus, plus_x, minus_x = sets
        return Worker.of(
            shapes.BitMemory(plus, minus, gain, loss, roles_x, roles_y, chosen, plus_x, minus_x)
        )

    def parts(self, plan: Plan) -> int:
        return 1

    def search(self, worker: Worker, units: PlanUnits, race: shapes.Race, span: shapes.Span) -> int:
        status: int = bitsets.search_bits(
            self.table_bits, units.families, units.arrays, worker.memory, worker.lane, race, span
        )
        return status

    def decode(self, units: PlanUnits, lane: shapes.Lane) -> decoder.Leader:
        unit, x, mask, score, y = (int(lane.leader[i]) for i in (UNIT, ENTRY, MASK, SCORE, LOW))
        literals = [self.literals[family] for family in chosen_families(units, unit)]
        hole = decoder.hole_of(self.table, units.plan, literals, score)
        literals.append(self.literals[x])
        if units.plan.hole == 1:
            f = decoder.fill_single(self.table, hole, literals[-1], mask)
        else:
            f = self._function(hole, x, y, mask)
            literals.append(self.literals[y])
        return decoder.leader_of(self.table, units.plan.trees[f], literals, score)

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
