"""Tables where every literal is Boolean: row sets as bits."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Found, Hole, fill_single, found, holds, hole_of
from fsm_hpc.search.solvers.native.engines import Job, Shared, Worker, chosen_families
from fsm_hpc.search.solvers.native.kernels import bitsets
from fsm_hpc.search.solvers.native.plans import PAIRS, Plan
from fsm_hpc.search.solvers.native.table import Array, Table

WORD = 64
NO_ROW = -1  # fills up a word
NO_VALUE = -1  # what a column has there


class BitEngine:
    """Row sets as bits, for tables where every literal is Boolean."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.literals = [(int(f[0]), int(f[1]), int(f[3])) for f in table.families]
        copies = np.abs(table.weights)
        rows = np.repeat(np.arange(len(copies)), copies)
        positive = table.weights[rows] > 0
        parts = _padded(rows[positive]), _padded(rows[~positive])
        self.positives = len(parts[0]) // WORD
        layout = np.concatenate(parts)
        bits = []
        for column, literals in groupby(self.literals, key=itemgetter(0)):
            values = np.append(table.columns[column].ranks, np.int32(NO_VALUE))[layout]
            bits += [_packed(values == low) for _, low, _ in literals]
        self.bits = np.stack(bits)
        self.full = _packed(layout != NO_ROW)

    @property
    def families(self) -> Array:
        out = np.zeros((len(self.literals), 6), np.int32)
        out[:, 0] = np.arange(len(self.literals))
        return out

    def worker(self) -> Worker:
        words, features = len(self.full), len(self.literals)
        sets = [np.zeros(words, np.uint64) for _ in range(4)]
        counts = [np.zeros(features, np.int64) for _ in range(4)]
        chosen = np.zeros(32, np.int32)
        return Worker.of([*sets[:2], *counts, chosen, *sets[2:]], [])

    def parts(self, plan: Plan) -> int:
        return 1

    def search(
        self, worker: Worker, job: Job, end: int, shared: Shared, slot: int, budget: int
    ) -> int:
        status: int = bitsets.search_bits(
            self.bits,
            self.full,
            self.positives,
            job.families,
            job.arrays,
            np.array(job.plan.states, np.int8),
            worker.memory,
            worker.control,
            shared.best,
            slot,
            shared.flag,
            worker.record,
            job.first,
            end,
            budget,
        )
        return status

    def decode(self, job: Job, record: Array) -> Found:
        unit, x, mask, score, y = (int(v) for v in record[:5])
        literals = [self.literals[family[0]] for family in chosen_families(job, unit)]
        hole = hole_of(self.table, job.plan, literals, score)
        literals.append(self.literals[x])
        if job.plan.hole == 1:
            f = fill_single(self.table, hole, literals[-1], mask)
        else:
            f = self._function(hole, x, y, mask)
            literals.append(self.literals[y])
        return found(self.table, job.plan.trees[f], literals, score)

    def _function(self, hole: Hole, x: int, y: int, mask: int) -> int:
        a, b = (holds(self.table, self.literals[i])[hole.rows].astype(int) for i in (x, y))
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
