"""Mixed tables: branch and bound over boxes of cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsm_hpc.search.solvers.native import decoder
from fsm_hpc.search.solvers.native.engines import MOST_BOXED, PlanUnits, Worker, chosen_families
from fsm_hpc.search.solvers.native.kernels import boxes, shapes
from fsm_hpc.search.solvers.native.kernels.coarse import MAX_BINS
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL
from fsm_hpc.search.solvers.native.kernels.units import HOLES_OF_A_UNIT
from fsm_hpc.search.solvers.native.plans import Plan
from fsm_hpc.search.solvers.native.table import Array, KernelTable

CELLS = 1 << 16  # of a pair's table, beyond which pivots are swept
LIVE_ROWS = 1 << 24  # room for the row lists of a branch; without it they are not shortened


class BoxEngine:
    """Branch and bound over boxes of cuts."""

    def __init__(self, table: KernelTable) -> None:
        self.table = table

    @property
    def families(self) -> shapes.Families:
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
        ints: dict[str, Any] = {"live": live, "entries": holes, "masks": holes}
        ints |= {"boxes": (depth + 4, 4 * MOST_BOXED), "digits": rows, "rows": rows}
        ints |= {"row_weights": rows, "cards": columns, "chosen": MOST_BOXED}
        ints |= {"columns": MOST_BOXED, "box": 4 * MOST_BOXED, "where": 2}
        memory = shapes.BoxMemory(
            **{name: np.zeros(shape, np.int32) for name, shape in ints.items()},
            frames=np.zeros((depth + 4, 5), np.int64),
            open_rows=np.zeros(rows, np.bool_),
            fresh=np.zeros(columns, np.bool_),
        )
        memory.live[:rows] = np.arange(rows)
        sizes = {
            "marks": card,
            "local": (columns, rows),
            "cells": cells,
            "losses": cells if self._has_intervals else (MAX_BINS + 1) ** 2,
            "inside": card,
            "sums": card,
            "order": rows,
            "heads": card,
            "tree": (tree, 6),
            "ends": (256, 4),
        }
        scratch = {name: np.zeros(shape, np.int32) for name, shape in sizes.items()}
        return Worker.of(memory, shapes.Scratch(**scratch))

    def parts(self, plan: Plan) -> int:
        return 1 if plan.boxed else -(-len(self._holes(plan)) // HOLES_OF_A_UNIT)

    def _holes(self, plan: Plan) -> Array:
        return self.table.pairs if plan.hole == 2 else self.table.singles

    @property
    def _has_intervals(self) -> bool:
        return any(column.kind == INTERVAL for column in self.table.columns)

    def search(self, worker: Worker, units: PlanUnits, race: shapes.Race, span: shapes.Span) -> int:
        status: int = boxes.search(
            self.table.data,
            units.families,
            units.arrays,
            self._holes(units.plan),
            worker.memory,
            worker.scratch,
            worker.lane,
            race,
            span,
        )
        return status

    def decode(self, units: PlanUnits, lane: shapes.Lane) -> decoder.Leader:
        unit, entry, mask, score, low, high = (int(value) for value in lane.leader)
        plan = units.plan
        literals = [
            (int(units.families.column[family]), int(cuts[0]), int(cuts[1]))
            for family, cuts in zip(chosen_families(units, unit), lane.cuts, strict=False)
        ]
        hole = decoder.hole_of(self.table, plan, literals, score)
        x, y = (int(c) for c in self._holes(plan)[entry])
        literals.append(
            decoder.cut_of(self.table, x, hole, plan.boxed > 0 or plan.hole == 2, low, high)
        )
        if plan.hole == 1:
            f = decoder.fill_single(self.table, hole, literals[-1], mask)
        else:
            f, second = decoder.fill_pair(self.table, hole, literals[-1], y, mask)
            literals.append(second)
        return decoder.leader_of(self.table, plan.trees[f], literals, score)
