"""The two kernels behind one face: boxes of cuts for mixed tables, bits for Boolean ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fsm_hpc.solvers.native import bitsets, boxes
from fsm_hpc.solvers.native.holes import INTERVAL, POINT
from fsm_hpc.solvers.native.plans import Plan, plans
from fsm_hpc.solvers.native.records import (
    Found,
    Literal,
    cut_of,
    fill_pair,
    fill_single,
    found,
    hole_of,
)
from fsm_hpc.solvers.native.table import Array, Table

CELLS = 1 << 16  # of a pair's table, beyond which pivots are swept
BUDGET = 20_000_000  # steps of work in one call, some 20 ms
RECORD = 6 + 2 * 12


@dataclass(slots=True)
class Job:
    """Units of one plan that are still to be handed out, numbered from `first` on."""

    plan: Plan
    arrays: tuple[Any, ...]
    families: Array
    first: int
    units: int
    at: int = 0


@dataclass(slots=True)
class Worker:
    """The arrays of one thread."""

    memory: tuple[Array, ...]
    scratch: tuple[Array, ...]
    control: Array
    record: Array


@dataclass(frozen=True, slots=True)
class Shared:
    """What the threads of a search see of each other: their leaders, and the wish to stop."""

    best: Array
    flag: Array


class Engine(Protocol):
    """Searches the units of a plan."""

    table: Table

    def worker(self) -> Worker: ...

    def families(self, literals: list[Literal] | None) -> Array:
        """Choices for a boxed variable: all, or these literals only."""
        ...

    def search(self, worker: Worker, job: Job, end: int, shared: Shared, slot: int) -> int: ...

    def decode(self, job: Job, record: Array) -> Found: ...


def make_engine(table: Table) -> Engine:
    is_boolean = all(column.kind == POINT for column in table.columns)
    return BitEngine(table) if is_boolean else BoxEngine(table)


def jobs(engine: Engine, size: int, literals: list[Literal] | None = None) -> Iterator[Job]:
    """All units of a size, or those whose boxed variables are among some literals."""
    families = engine.families(literals)
    first = 0
    for plan in plans(size, bool(engine.table.wide.any())):
        units = len(families) ** plan.boxed
        yield Job(plan, _arrays(plan), families, first, units)
        first += units


def _arrays(plan: Plan) -> tuple[Any, ...]:
    positive, negative = plan.relaxed()
    cross = np.array([plan.cross.get(f, -1) for f in range(8)], np.int32)
    return positive, negative, np.array(plan.after, np.int32), cross, plan.partner, plan.hole


def _chosen(job: Job, unit: int) -> Array:
    chosen = np.zeros(32, np.int32)
    boxes.choose_families(unit - job.first, job.families, job.arrays, chosen)
    return job.families[chosen[: job.plan.boxed]]


class BoxEngine:
    """Branch and bound over boxes of cuts."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def families(self, literals: list[Literal] | None) -> Array:
        if literals is None:
            return self.table.families
        numeric = [self.table.columns[c].numeric is not None for c, _, _ in literals]
        rows = [(c, a, a, b, b, n) for (c, a, b), n in zip(literals, numeric, strict=True)]
        rows.sort(key=lambda row: (self.table.order[row[0]], row))
        return np.array(rows, np.int32).reshape(-1, 6)

    def worker(self) -> Worker:
        table = self.table
        rows, columns = len(table.rows), len(table.columns)
        card = max(c.card for c in table.columns) + 2
        depth = 16 * (int(np.log2(np.abs(table.weights).sum() + 2)) + 3)
        holes = (len(table.pairs) + len(table.singles) + 1) * depth
        cells = max([CELLS, *(self._area(x, y) for x, y in table.pairs)])
        tree = 4 << int(np.log2(card))
        ints = [(rows * 48,), (holes,), (holes,), (depth + 4, 48)]
        memory = [np.zeros(shape, np.int32) for shape in ints]
        memory[0][:rows] = np.arange(rows)
        memory += [np.zeros((depth + 4, 5), np.int64), np.zeros(rows, np.int32)]
        memory += [np.zeros(rows, kind) for kind in (np.bool_, np.int32, np.int32)]
        memory += [np.zeros(columns, kind) for kind in (np.bool_, np.int32)]
        shapes = [card, (columns, rows), cells, card, card, rows, card, (tree, 6)]
        scratch = [np.zeros(shape, np.int32) for shape in shapes]
        return Worker(
            tuple(memory), tuple(scratch), np.zeros(5, np.int64), np.zeros(RECORD, np.int64)
        )

    def _area(self, x: int, y: int) -> int:
        """Cells of a pair that is never swept."""
        a, b = self.table.columns[x], self.table.columns[y]
        return a.card * b.card if POINT in (a.kind, b.kind) or a.kind == INTERVAL else 0

    def search(self, worker: Worker, job: Job, end: int, shared: Shared, slot: int) -> int:
        holes = self.table.pairs if job.plan.hole == 2 else self.table.singles
        status: int = boxes.search(
            self.table.data,
            job.families,
            job.arrays,
            holes,
            worker.memory,
            worker.scratch,
            worker.control,
            shared.best,
            slot,
            shared.flag,
            worker.record,
            job.first,
            end,
            BUDGET,
        )
        return status

    def decode(self, job: Job, record: Array) -> Found:
        unit, entry, mask, score, low, high = (int(v) for v in record[:6])
        plan = job.plan
        literals = [
            (int(family[0]), int(record[6 + 2 * i]), int(record[7 + 2 * i]))
            for i, family in enumerate(_chosen(job, unit))
        ]
        hole = hole_of(self.table, plan, literals, score)
        pairs = self.table.pairs if plan.hole == 2 else self.table.singles
        x, y = (int(c) for c in pairs[entry])
        literals.append(cut_of(self.table, x, hole, plan.boxed > 0 or plan.hole == 2, low, high))
        if plan.hole == 1:
            f = fill_single(self.table, hole, literals[-1], mask)
        else:
            f, second = fill_pair(self.table, hole, literals[-1], y, mask)
            literals.append(second)
        return found(self.table, plan.trees[f], literals, score)


class BitEngine:
    """Row sets as bits, for tables where every literal is Boolean."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.literals = [(int(f[0]), int(f[1]), int(f[3])) for f in table.families]
        copies = np.abs(table.weights)
        rows = np.repeat(np.arange(len(copies)), copies)
        positive = table.weights[rows] > 0
        self._parts = rows[positive], rows[~positive]
        self.positives = -(-len(self._parts[0]) // 64)
        truths = [table.columns[c].ranks == low for c, low, _ in self.literals]
        self.bits = np.stack([self._packed(truth) for truth in truths])
        self.full = self._packed(np.ones(len(table.rows), bool))

    def _packed(self, truth: Array) -> Array:
        """Positive rows, then negative rows, each padded to whole words."""
        out = []
        for rows in self._parts:
            padded = np.zeros(-(-len(rows) // 64) * 64, bool)
            padded[: len(rows)] = truth[rows]
            out.append(np.packbits(padded, bitorder="little").view(np.uint64))
        return np.concatenate(out)

    def families(self, literals: list[Literal] | None) -> Array:
        chosen = self.literals if literals is None else literals
        indices = sorted(self.literals.index(literal) for literal in chosen)
        rows = [(i, 0, 0, 0, 0, 0) for i in indices]
        return np.array(rows, np.int32).reshape(-1, 6)

    def worker(self) -> Worker:
        words, features = len(self.full), len(self.literals)
        shapes = [(words, np.uint64)] * 2 + [(features, np.int64)] * 4
        shapes += [(32, np.int32)] + [(words, np.uint64)] * 2
        memory = tuple(np.zeros(shape, kind) for shape, kind in shapes)
        return Worker(memory, (), np.zeros(5, np.int64), np.zeros(RECORD, np.int64))

    def search(self, worker: Worker, job: Job, end: int, shared: Shared, slot: int) -> int:
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
            BUDGET,
        )
        return status

    def decode(self, job: Job, record: Array) -> Found:
        unit, x, mask, score, y = (int(v) for v in record[:5])
        literals = [self.literals[family[0]] for family in _chosen(job, unit)]
        hole = hole_of(self.table, job.plan, literals, score)
        literals.append(self.literals[x])
        if job.plan.hole == 1:
            f = fill_single(self.table, hole, literals[-1], mask)
        else:
            f = self._function(hole_of(self.table, job.plan, literals[:-1], score), x, y, mask)
            literals.append(self.literals[y])
        return found(self.table, job.plan.trees[f], literals, score)

    def _function(self, hole: Any, x: int, y: int, mask: int) -> int:
        from fsm_hpc.solvers.native.plans import PAIRS
        from fsm_hpc.solvers.native.records import holds

        a, b = (holds(self.table, self.literals[i])[hole.rows].astype(int) for i in (x, y))
        for values, f in sorted(PAIRS.items(), key=lambda item: item[1]):
            truth = values >> (a + 2 * b) & 1
            if mask >> f & 1 and int((hole.weights * truth).sum()) == hole.goal:
                return f
        raise AssertionError("the kernel reported a score that no function has")
