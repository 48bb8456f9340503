"""Mixed tables: branch and bound over boxes of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fsm_hpc.search.frontier import Leader, Rest
from fsm_hpc.search.solvers.native import decoder
from fsm_hpc.search.solvers.native.engines import (
    Blocks,
    Engine,
    PlanUnits,
    Worker,
    chosen_families,
    units_of_plans,
)
from fsm_hpc.search.solvers.native.kernels import boxes, shapes
from fsm_hpc.search.solvers.native.kernels.columns import EXTREMES
from fsm_hpc.search.solvers.native.kernels.pairs import COLUMN_BITS, FIELDS
from fsm_hpc.search.solvers.native.kernels.ranking import BEGUN, STACKED, UNITS
from fsm_hpc.search.solvers.native.plans import Plan
from fsm_hpc.search.solvers.native.row_sets import WORD
from fsm_hpc.search.solvers.native.table import MOST_BOXED, KernelTable

MOST_CANDIDATES = 1 << 14  # of a unit
FEWEST_CANDIDATES = 4  # of a unit that boxes nothing, so that threads can share the work
RANGES = 128  # of two cuts that wait to be looked at: two for each bit of both
SUMS = ("net", "gain", "loss", "cut_at", "roles_x", "roles_y")  # by literal


class BoxEngine(Engine):
    """Branch and bound over boxes of cuts."""

    most_units = UNITS

    def __init__(self, table: KernelTable) -> None:
        self.table = table

    def units_of_size(self, size: int) -> list[PlanUnits]:
        return list(units_of_plans(self.table, size, self.blocks))

    def worker(self, keeps_all: bool = False) -> Worker:
        table = self.table
        found = boxes.MANY_FOUND + self._most_candidates if keeps_all else 0
        rows, columns = len(table.rows), len(table.columns)
        card = max(c.card for c in table.columns) + 2
        depth = 16 * (int(np.log2(np.abs(table.weights).sum() + 2)) + 3)
        candidates = self._most_candidates * depth
        tree = 4 << int(np.log2(card))
        words, bits = len(table.data.full), table.data.ranks.shape[1]
        ints: dict[str, Any] = {"live": (depth + 4) * words, "masks": candidates}
        ints |= {"boxes": (depth + 4, 4 * MOST_BOXED), "codes": (2, 3 * WORD)}
        ints |= {"rows": rows, "row_weights": rows, "allowed": columns}
        ints |= {"cards": columns, "has_top_rows": columns, "chosen": MOST_BOXED, "merged": columns}
        ints |= {"roles": (columns, 2), "limits": (columns, 4)}
        ints |= {"extremes": (columns, EXTREMES)}
        ints |= {"columns": MOST_BOXED, "box": 4 * MOST_BOXED, "where": 2}
        ints |= {"marks": card, "local": (columns, bits), "ranges": (RANGES, FIELDS)}
        ints |= dict.fromkeys(SUMS, int(table.starts[-1]))
        ints |= dict.fromkeys(("cells", "losses"), table.largest_table)
        ints |= dict.fromkeys(("inside", "sums", "heads", "prefix", "queue"), card)
        ints |= {"order": rows, "tree": (tree, 6), "interval_ranges": (256, 4), "window": 2}
        sets = ("gained", "lost", "opened", "gained_x", "lost_x")
        memory = shapes.BoxMemory(
            **{name: np.zeros(shape, np.int32) for name, shape in ints.items()},
            **{name: np.zeros(words, np.uint64) for name in sets},
            pieces=np.zeros((2, 3 * WORD), np.uint64),
            frames=np.zeros((depth + 4, 5), np.int64),
            entries=np.zeros(candidates, np.int64),
            unit=np.zeros(3, np.int64),
            ends=np.zeros((MOST_BOXED, 2), np.int32),
            compressed=np.zeros(columns, np.int64),
            listed=np.zeros(1, np.int64),
            found=np.zeros((found, 3), np.int64),
            found_count=np.zeros(1, np.int64),
            is_reported=np.zeros(self._most_candidates, np.bool_),
        )
        memory.live[: table.data.words] = np.flatnonzero(table.data.full)
        cuts = np.zeros((MOST_BOXED, 2), np.int64)
        thread = shapes.ThreadState(np.zeros(5, np.int64), np.zeros(6, np.int64), cuts)
        return Worker(thread, memory)

    def blocks(self, plan: Plan) -> Blocks:
        everything = self._pairs if plan.free == 2 else len(self.table.columns)
        candidates = min(MOST_CANDIDATES, everything)
        if not plan.boxed:
            candidates = min(candidates, max(FEWEST_CANDIDATES, everything // MOST_CANDIDATES))
        return Blocks(-(-everything // candidates), candidates)

    @property
    def _pairs(self) -> int:
        columns = len(self.table.columns)
        return columns * (columns + 1) // 2

    @property
    def _most_candidates(self) -> int:
        """Of a unit, and the one beyond them that a box may look at."""
        return min(MOST_CANDIDATES, self._pairs) + 1

    def search(
        self, worker: Worker, units: PlanUnits, shared: shapes.SharedBest, end: int, budget: int
    ) -> int:
        status: int = boxes.search(
            self.table.data,
            units.families,
            units.arrays,
            worker.memory,
            worker.thread,
            shared,
            shapes.Span(units.first, end, budget, *units.blocks),
        )
        return status

    def rest(self, worker: Worker, units: PlanUnits) -> Rest:
        """The boxes of a unit that are not looked at, the next one last."""
        if not worker.thread.control[BEGUN]:
            return ()
        assert isinstance(worker.memory, shapes.BoxMemory)
        stack = worker.memory.boxes[: worker.thread.control[STACKED], : 4 * units.plan.boxed]
        return tuple(tuple(box) for box in stack.tolist())

    def resume(self, worker: Worker, units: PlanUnits, rest: Rest) -> None:
        """Put those boxes on the stack of the next unit."""
        assert isinstance(worker.memory, shapes.BoxMemory)
        for at, box in enumerate(rest):
            worker.memory.boxes[at, : 4 * units.plan.boxed] = box
        worker.thread.control[STACKED] = len(rest)

    def decode(self, groups: Sequence[PlanUnits], thread: shapes.ThreadState) -> Leader:
        unit, entry, mask, score, low, high = (int(value) for value in thread.incumbent)
        units = next(group for group in groups if unit < group.end)
        plan = units.plan
        literals = [
            (int(units.families.column[family]), int(cuts[0]), int(cuts[1]))
            for family, cuts in zip(chosen_families(units, unit), thread.cuts, strict=False)
        ]
        free = decoder.free_rows_of(self.table, plan, literals, score)
        x, y = divmod(entry, 1 << COLUMN_BITS)
        literals.append((x, low, high))
        if plan.free == 1:
            f = decoder.fill_single(self.table, free, literals[-1], mask)
        else:
            f, second = decoder.fill_pair(self.table, free, literals[-1], y, mask)
            literals.append(second)
        return decoder.leader_of(self.table, plan.trees[f], literals, score, unit)
