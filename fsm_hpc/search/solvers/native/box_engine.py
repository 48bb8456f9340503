"""Mixed tables: branch and bound over boxes of cuts."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.decoder import (
    Found,
    cut_of,
    fill_pair,
    fill_single,
    found,
    hole_of,
)
from fsm_hpc.search.solvers.native.engines import Job, Shared, Worker, chosen_families
from fsm_hpc.search.solvers.native.kernels import boxes
from fsm_hpc.search.solvers.native.kernels.coarse import MAX_BINS
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL
from fsm_hpc.search.solvers.native.kernels.units import HOLES_OF_A_UNIT
from fsm_hpc.search.solvers.native.plans import Plan
from fsm_hpc.search.solvers.native.table import Array, Table

CELLS = 1 << 16  # of a pair's table, beyond which pivots are swept
LIVE_ROWS = 1 << 24  # room for the row lists of a branch; without it they are not shortened


class BoxEngine:
    """Branch and bound over boxes of cuts."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @property
    def families(self) -> Array:
        return self.table.families

    def worker(self) -> Worker:
        table = self.table
        rows, columns = len(table.rows), len(table.columns)
        card = max(c.card for c in table.columns) + 2
        depth = 16 * (int(np.log2(np.abs(table.weights).sum() + 2)) + 3)
        holes = (len(table.pairs) + len(table.singles) + 1) * depth
        cells = max(CELLS, table.largest_table)
        tree = 4 << int(np.log2(card))
        live = min(48 * rows, max(4 * rows, LIVE_ROWS))
        ints = [(live,), (holes,), (holes,), (depth + 4, 48)]
        memory = [np.zeros(shape, np.int32) for shape in ints]
        memory[0][:rows] = np.arange(rows)
        memory += [np.zeros((depth + 4, 5), np.int64), np.zeros(rows, np.int32)]
        memory += [np.zeros(rows, kind) for kind in (np.bool_, np.int32, np.int32)]
        memory += [np.zeros(columns, kind) for kind in (np.bool_, np.int32)]
        losses = cells if self._has_intervals else (MAX_BINS + 1) ** 2
        shapes = [card, (columns, rows), cells, losses, card, card, rows, card, (tree, 6), (256, 4)]
        scratch = [np.zeros(shape, np.int32) for shape in shapes]
        return Worker.of(memory, scratch)

    def parts(self, plan: Plan) -> int:
        return 1 if plan.boxed else -(-len(self._holes(plan)) // HOLES_OF_A_UNIT)

    def _holes(self, plan: Plan) -> Array:
        return self.table.pairs if plan.hole == 2 else self.table.singles

    @property
    def _has_intervals(self) -> bool:
        return any(column.kind == INTERVAL for column in self.table.columns)

    def search(
        self, worker: Worker, job: Job, end: int, shared: Shared, slot: int, budget: int
    ) -> int:
        status: int = boxes.search(
            self.table.data,
            job.families,
            job.arrays,
            self._holes(job.plan),
            worker.memory,
            worker.scratch,
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
        unit, entry, mask, score, low, high = (int(v) for v in record[:6])
        plan = job.plan
        literals = [
            (int(family[0]), int(record[6 + 2 * i]), int(record[7 + 2 * i]))
            for i, family in enumerate(chosen_families(job, unit))
        ]
        hole = hole_of(self.table, plan, literals, score)
        x, y = (int(c) for c in self._holes(plan)[entry])
        literals.append(cut_of(self.table, x, hole, plan.boxed > 0 or plan.hole == 2, low, high))
        if plan.hole == 1:
            f = fill_single(self.table, hole, literals[-1], mask)
        else:
            f, second = fill_pair(self.table, hole, literals[-1], y, mask)
            literals.append(second)
        return found(self.table, plan.trees[f], literals, score)
