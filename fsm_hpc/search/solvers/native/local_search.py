"""Good formulas of every size without proof: greedy growth, then exact replacement of literals."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from fsm_hpc.formulas.formula import Atom, Formula
from fsm_hpc.formulas.functions import build
from fsm_hpc.search.frontier import Leader
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.decoder import Literal, holds
from fsm_hpc.search.solvers.native.expressions import (
    OPEN,
    Expression,
    Path,
    expression_of,
    flipped,
    grown,
    is_of,
    leaves,
    negated,
    part_at,
    polarity,
    replaced,
    size_of,
    truth,
)
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT
from fsm_hpc.search.solvers.native.kernels.local import HIGH, LOW, VALUE, best_literals
from fsm_hpc.search.solvers.native.table import Array, KernelTable

BEAM = 12  # formulas of each size that are extended
BRANCHES = 2  # literals that are tried at a new place
QUICK_BEST = 2  # formulas of each size that a first pass improves
FIRST_LITERALS = 36  # plain, and as many negated
MOST_KEPT = 400  # formulas of each size
MOST_SEEN = 200_000  # formulas of each size that are recognized
KEPT_TRUTHS = 4096  # literals whose rows are kept
ALTERNATIVES = 8  # literals among which a random step chooses
TYPICAL_RANK = 15  # of the formula from which a random step starts
FLIPPED = 0.3  # of random steps change a connective
FORBIDDEN, FREE = -2, -1  # of `columns` in the kernel
LOW_AT, HIGH_AT = 4, 5

PROOF_ALONE_S = 0.1  # before the local search begins
SLICE_S = 0.02  # of the local search between two looks at the proof
# of the time, for the local search: where this size, the next, the one after or a later one is last
SHARES = (0.05, 0.3, 0.5, 0.8)
FIRST_S = 60.0  # so long; later on LATER_SHARE
LATER_SHARE = 0.02


@dataclass(slots=True)
class Pace:
    """How much time the local search has beside the proof.

    Its share is of processor time, so that other work on the machine does not make it larger; while
    the proof waits for helpers, or cannot go on, a quarter of the time that passes counts.
    """

    began: float = field(default_factory=time.monotonic)
    began_processor: float = field(default_factory=time.process_time)
    used_s: float = 0.0
    alone: bool = False  # no proof beside it

    def run(self, search: LocalSearch, length: int, proved_length: int) -> None:
        """Let it go on for a moment, if it has used less than its share."""
        now, used_before = time.monotonic(), time.thread_time()
        if self.alone:
            search.run(length, lambda: time.monotonic() >= now + SLICE_S)
            return
        passed_s = now - self.began
        processor_s = time.process_time() - self.began_processor
        spent_s = min(passed_s, max(processor_s, passed_s / 4))
        if spent_s < PROOF_ALONE_S:
            return
        share = SHARES[min(length - proved_length - 1, len(SHARES) - 1)]
        allowed_s = share * min(spent_s, FIRST_S) + LATER_SHARE * spent_s
        until = now + min(SLICE_S, allowed_s - self.used_s)
        search.run(length, lambda: time.monotonic() >= until)
        self.used_s += time.thread_time() - used_before


@dataclass(slots=True)
class _Pool:
    """The formulas of one size, best first once sorted, each truth table once."""

    entries: list[tuple[int, int, int, Expression]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)  # hashes of truth tables
    count: int = 0

    def add(self, score: int, key: int, expression: Expression) -> bool:
        """Whether it is new."""
        if key in self.seen:
            return False
        self.seen.add(key)
        self.count += 1
        self.entries.append((-score, self.count, key, expression))
        return True

    def best(self) -> list[Expression]:
        """The best first; what is forgotten may come again."""
        self.entries.sort()
        del self.entries[MOST_KEPT:]
        if len(self.seen) > MOST_SEEN:
            self.seen = {key for _, _, key, _ in self.entries}
        return [expression for *_, expression in self.entries]


class LocalSearch:
    """Improves formulas of all sizes step by step; the same steps in every run.

    Every literal of a formula is replaced by the best one of all columns and thresholds until no
    replacement helps; a step is one replacement. What violates a constraint is never offered.
    """

    def __init__(self, problem: Problem, table: KernelTable, seed: int = 0) -> None:
        self._problem = problem
        self._table = table
        self._random = random.Random(seed)  # nosec B311 - restarts of a search
        self._pools: dict[int, _Pool] = {}
        self._truths: dict[Literal, Array] = {}
        self._best: dict[int, Leader] = {}
        self._length = 0
        self._learned: list[Expression] = []  # that are not improved yet
        self._steps: Iterator[None] = iter(())
        self._weights = table.weights.astype(np.int64)
        self._columns, self._ends, self._starts = _columns_of(table)
        card = max((column.card for column in table.columns), default=0) + 2
        self._sums, self._prefix, self._queue = np.zeros((3, card), np.int64)

    def best(self, size: int) -> Leader | None:
        """The best formula found of at most that size."""
        found = [leader for at, leader in self._best.items() if at <= size]
        return max(found, key=lambda one: (one.score, -one.formula.size), default=None)

    def run(self, length: int, is_over: Callable[[], bool]) -> None:
        """Search formulas of sizes up to `length` until that is over."""
        if not self._table.columns or not len(self._table.rows):
            return
        if length > self._length:
            first = max(1, self._length - 2)  # longer extensions of these were not tried
            self._length = length
            self._steps = self._all_steps(first)
        while not is_over():
            next(self._steps)

    def learn(self, formula: Formula) -> None:
        """Take a formula that was found elsewhere as one to improve."""
        expression = expression_of(formula, self._table)
        if expression is not None:
            self._learned.append(expression)
            self._add(expression)

    # -------------------------------------------------------------------------------- steps

    def _all_steps(self, first: int) -> Iterator[None]:
        if first == 1:
            yield from self._begin()
        while self._learned:
            yield from self._improve(self._learned.pop())
        for size in range(first, self._length + 1):
            yield from self._extend_quickly(size)
        for size in range(first, self._length + 1):
            yield from self._extend(size)
        while True:
            yield from self._restart()

    def _begin(self) -> Iterator[None]:
        """The best literals, plain and negated, and the shortest formula that is allowed."""
        for expression in (OPEN, negated(OPEN)):
            path = leaves(expression)[0]
            for literal in self._candidates(expression, path, FIRST_LITERALS):
                self._add(replaced(expression, path, literal))
            yield
        self.learn(self._problem.shortest)
        yield

    def _extend_quickly(self, size: int) -> Iterator[None]:
        """Extend the best formula of a size, and improve the best results of each size only."""
        larger: dict[int, list[tuple[int, int, Expression]]] = {}
        for expression in self._kept(size)[:1]:
            for extended, path in grown(expression, self._table.language):
                for literal in self._candidates(extended, path, 1):
                    result = replaced(extended, path, literal)
                    ranked = larger.setdefault(size_of(result), [])
                    ranked.append((-self._score(result), len(ranked), result))
                    yield
        for of_size, ranked in larger.items():
            for *_, result in sorted(ranked)[:QUICK_BEST] if of_size <= self._length else ():
                yield from self._improve(result)

    def _extend(self, size: int) -> Iterator[None]:
        """Extend the best formulas of a size by one literal at every place."""
        language = self._table.language
        for expression in self._kept(size)[:BEAM]:
            if is_of(negated(expression), language):
                yield from self._improve(negated(expression))
            for larger, path in grown(expression, language):
                if size_of(larger) > self._length:
                    continue
                for literal in self._candidates(larger, path, BRANCHES):
                    yield from self._improve(replaced(larger, path, literal))

    def _restart(self) -> Iterator[None]:
        """Change a good formula at random, then improve it."""
        sizes = [size for size in (self._length, self._length - 1) if self._kept(size)]
        size = self._random.choice(sizes or [max(self._pools)])
        kept = self._kept(size)
        place = int(self._random.expovariate(1 / TYPICAL_RANK))
        expression = kept[min(len(kept) - 1, place)]
        for _ in range(self._random.choice((1, 1, 2, 2, 3))):
            path = self._random.choice(leaves(expression))
            found = self._candidates(expression, path, ALTERNATIVES)
            yield
            if found:
                expression = replaced(expression, path, self._random.choice(found))
        if self._random.random() < FLIPPED:
            expression = flipped(expression, self._table.language, self._random)
        yield from self._improve(expression)

    def _improve(self, expression: Expression) -> Iterator[None]:
        """Replace one literal at a time by the best, until none is better; keep the result."""
        score = self._score(expression)
        is_better = True
        while is_better:
            is_better = False
            for path in leaves(expression):
                found = self._candidates(expression, path, 1)
                other = replaced(expression, path, found[0]) if found else expression
                if (value := self._score(other)) > score:
                    expression, score, is_better = other, value, True
                yield
        self._add(expression)

    def _kept(self, size: int) -> list[Expression]:
        return self._pools[size].best() if size in self._pools else []

    def _add(self, expression: Expression) -> None:
        size = size_of(expression)
        if size > self._length:
            return
        held = self._truth(expression)
        score = int(self._weights[held].sum())
        if self._pools.setdefault(size, _Pool()).add(score, hash(held.tobytes()), expression):
            known = self.best(size)
            if known is None or score > known.score:
                self._offer(expression)

    def _offer(self, expression: Expression) -> None:
        """Keep a formula as an answer, if the problem admits it."""
        formula = build(expression, self._atom).canonical()
        problem = self._problem
        if problem.language.has(formula) and problem.admits(formula):
            score = problem.positives - problem.errors(formula)
            self._best[formula.size] = Leader(formula, score)

    def _atom(self, literal: Literal) -> Atom:
        column, low, high = literal
        return Atom(self._table.columns[column].proposition(low, high))

    # ----------------------------------------------------------------------------- literals

    def _truth(self, expression: Expression) -> Array:
        return np.asarray(truth(expression, self._held))

    def _score(self, expression: Expression) -> int:
        return int(self._weights[self._truth(expression)].sum())

    def _held(self, literal: Literal) -> Array:
        found = self._truths.get(literal)
        if found is None:
            if len(self._truths) >= KEPT_TRUTHS:
                self._truths.clear()
            found = self._truths[literal] = holds(self._table, literal)
        return found

    def _candidates(self, expression: Expression, path: Path, count: int) -> list[Literal]:
        """The best literals at that place, one of each column, the best first."""
        with_it = truth(expression, self._held, path, np.True_)
        without = truth(expression, self._held, path, np.False_)
        gains = self._weights * (with_it.astype(np.int8) - without)
        rows = np.flatnonzero(gains)
        columns = self._allowed(expression, path)
        best = np.zeros((len(columns), 3), np.int64)
        best_literals(
            self._table.ranks,
            rows,
            gains[rows],
            columns,
            self._ends,
            self._starts,
            self._sums,
            self._prefix,
            self._queue,
            best,
        )
        order = np.argsort(-best[:, VALUE], kind="stable")[:count]
        return [
            (column, int(best[column, LOW]), int(best[column, HIGH]))
            for column in order.tolist()
            if best[column, VALUE] > -(1 << 29)
        ]

    def _allowed(self, expression: Expression, path: Path) -> Array:
        """The columns that may stand there; a numeric one keeps the threshold that it has."""
        columns: Array = self._columns.copy()
        others = [part_at(expression, other) for other in leaves(expression) if other != path]
        for column, low, high in others:
            if columns[column, 0] != POINT:
                columns[column, LOW_AT:] = low, high
        if self._problem.constraints.binds:
            self._restrict(columns, [other[0] for other in others], polarity(expression, path))
        return columns

    def _restrict(self, columns: Array, others: list[int], sign: int) -> None:
        """Forbid columns with which the formula would violate a constraint."""
        bounds = self._table.bounds
        needs = 0
        for other in others:
            needs |= int(bounds.needs[other])
        is_wrong = (bounds.signs != 0) & (bounds.signs != sign)
        helps = bounds.needs & bounds.wanted & ~needs
        if helps.any():
            is_wrong |= helps == 0
        origins = {int(bounds.origins[other]) for other in others}
        if len(origins) >= bounds.most:
            is_wrong |= ~np.isin(bounds.origins, list(origins))
        columns[is_wrong, LOW_AT] = FORBIDDEN


def _columns_of(table: KernelTable) -> tuple[Array, Array, Array]:
    """The columns as the kernel reads them, and the ends of intervals."""
    columns, ends, starts = [], [np.zeros((1, 2), np.int64)], []
    count = 1
    for column in table.columns:
        columns.append((column.kind, column.card, column.floor, column.step, FREE, FREE))
        starts.append(count)
        if column.kind == INTERVAL and column.numeric is not None:
            ends.append(column.numeric.reach.astype(np.int64))
            count += len(ends[-1])
    shaped = np.array(columns, np.int64).reshape(-1, 6)
    return shaped, np.concatenate(ends), np.array(starts, np.int64)
