"""The columns of the formulas of a Rashomon set, as the kernels read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.search.features import NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, SUFFIX
from fsm_hpc.search.solvers.native.table import Array


@dataclass(frozen=True, slots=True)
class LiteralColumn:
    """A Boolean column, which has one threshold, or a numeric one; none is constant."""

    name: str
    kind: int
    ranks: Array  # on every row of the problem
    card: int
    numeric: NumericFeature | None
    fixed: Proposition | None = None

    def proposition(self, low: int, high: int) -> Proposition:
        if self.fixed is not None:
            return self.fixed
        assert self.numeric is not None
        return self.numeric.proposition(low, high if self.kind == INTERVAL else None)


class LiteralTable:
    """All columns, equal ones too: each makes formulas of its own.

    Rows with equal propositions are merged; those whose labels cancel out stay, since members may
    differ on them.
    """

    def __init__(self, problem: Problem) -> None:
        merged = problem.distinct_rows
        self.rows = merged.first
        self.positives = int(merged.positives.sum())
        self.times = merged.positives + merged.negatives  # rows of the table by distinct row
        self.weights: Array = (merged.positives - merged.negatives).astype(np.int64)
        columns = [*self._numerics(problem), *self._booleans(problem)]
        # few thresholds first: holes, the last columns, are searched for all thresholds at once
        self.columns = sorted(columns, key=lambda c: (c.kind, c.card))

    def _numerics(self, problem: Problem) -> list[LiteralColumn]:
        kind = SUFFIX if problem.method is Method.PIVOT else INTERVAL
        return [
            LiteralColumn(n.column, kind, n.ranks, len(n.thresholds), n)
            for n in problem.numerics
            if len(n.thresholds) > 1
        ]

    def _booleans(self, problem: Problem) -> list[LiteralColumn]:
        return [
            LiteralColumn(p.column, SUFFIX, b.holds.astype(np.int32), 2, None, p)
            for b in problem.booleans
            for p in (b.proposition,)
            if 0 < np.count_nonzero(b.holds) < problem.rows
        ]

    @cached_property
    def ranks(self) -> Array:
        ranks = np.zeros((len(self.columns), len(self.rows)), np.int32)
        for values, column in zip(ranks, self.columns, strict=True):
            values[:] = column.ranks[self.rows]
        return ranks

    @cached_property
    def kind_of_row(self) -> Array:
        """The distinct row of every row of the problem."""
        if not self.columns:
            return np.zeros(int(self.times.sum()), np.int64)
        rows = np.ascontiguousarray(np.stack([c.ranks for c in self.columns]).T)
        number = {rows[row].tobytes(): n for n, row in enumerate(self.rows)}
        return np.array([number[values.tobytes()] for values in rows], np.int64)

    @cached_property
    def kinds(self) -> Array:
        return np.array([c.kind for c in self.columns], np.int32)

    @cached_property
    def cards(self) -> Array:
        return np.array([c.card for c in self.columns], np.int32)

    @property
    def is_fixed(self) -> bool:
        """Whether every column has a single literal."""
        return bool((self.cards == 2).all() and not self.has_intervals)

    @property
    def has_intervals(self) -> bool:
        return bool((self.kinds == INTERVAL).any())
