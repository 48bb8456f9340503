"""What a solver sees: propositions to choose from, rows and labels, and the errors of a formula."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.median import median
from fsm_hpc.formulas.formula import Formula, Proposition, Relation, Truth
from fsm_hpc.search.distinct_rows import DistinctRows, merge
from fsm_hpc.search.method import Method

ALONE = -1  # the group of a Boolean column that is not one of several categories


@dataclass(frozen=True, slots=True)
class BooleanFeature:
    """A proposition with a fixed truth on every row."""

    proposition: Proposition
    holds: Truth
    group: int = ALONE  # categories of one column share a group: one of them holds on each row


@dataclass(frozen=True, slots=True)
class NumericFeature:
    """A column whose cut (or interval) the solver chooses; `cuts[ranks]` are its values."""

    column: str
    method: Method
    ranks: NDArray[np.int32]
    cuts: NDArray[np.float64]

    def proposition(self, low: int, high: int | None = None) -> Proposition:
        """The proposition with its cut at rank `low`, or its interval from `low` to `high`."""
        if self.method is Method.PIVOT:
            return Proposition.at_least(self.column, self.cuts[low])
        top = len(self.cuts) - 1 if high is None else high
        return Proposition.within(self.column, self.cuts[low], self.cuts[top])


@dataclass(frozen=True)
class Problem:
    """Find the formula over these columns that disagrees with the labels on the fewest rows."""

    method: Method
    columns: tuple[Column, ...]
    labels: Truth

    @staticmethod
    def build(
        columns: Sequence[Column],
        labels: Truth,
        method: Method,
        rows: NDArray[np.int64] | None = None,
    ) -> Problem:
        """The problem on some rows of a table (all when `rows` is not given)."""
        if rows is None:
            return Problem(method, tuple(columns), np.asarray(labels, dtype=bool))
        return Problem(
            method, tuple(c.take(rows) for c in columns), np.asarray(labels[rows], dtype=bool)
        )

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def table(self) -> dict[str, NDArray[np.generic]]:
        return {column.name: column.values for column in self.columns}

    @cached_property
    def booleans(self) -> tuple[BooleanFeature, ...]:
        """Propositions that are fixed: Boolean columns, categories and, by median, numeric ones."""
        groups: dict[str, int] = {}
        features = []
        for column in self.columns:
            if column.kind is Kind.BOOLEAN:
                source = column.source
                group = ALONE if source is None else groups.setdefault(source, len(groups))
                proposition = Proposition(column.name)
                features.append(BooleanFeature(proposition, column.values.astype(bool), group))
            elif self.method is Method.MEDIAN:
                proposition = Proposition.above(column.name, median(column.values))
                features.append(BooleanFeature(proposition, proposition.evaluate(self.table)))
        return tuple(features)

    @cached_property
    def numerics(self) -> tuple[NumericFeature, ...]:
        """Numeric columns whose cuts are to be chosen among the values observed here."""
        if self.method is Method.MEDIAN:
            return ()
        features = []
        for column in self.columns:
            if column.kind is Kind.NUMERIC:
                cuts, ranks = np.unique(column.values, return_inverse=True)
                features.append(
                    NumericFeature(
                        column.name, self.method, ranks.astype(np.int32), cuts.astype(np.float64)
                    )
                )
        return tuple(features)

    @cached_property
    def distinct_rows(self) -> DistinctRows:
        """Rows merged where every possible proposition agrees."""
        truths = [feature.holds for feature in self.booleans]
        return merge(truths, [feature.ranks for feature in self.numerics], self.labels)

    @cached_property
    def fewest_errors(self) -> int:
        """What no formula of any size can go below: rows that agree but for their label."""
        merged = self.distinct_rows
        return int(np.minimum(merged.positives, merged.negatives).sum())

    def admits(self, formula: Formula) -> bool:
        """Whether its propositions are among those to choose from, one cut a column."""
        chosen = set(formula.propositions())
        fixed = {feature.proposition for feature in self.booleans}
        cuts = {feature.column: set(feature.cuts.tolist()) for feature in self.numerics}
        needed = {
            p: {p.low, p.high} if p.relation is Relation.WITHIN else {p.low} for p in chosen - fixed
        }
        return len({p.column for p in chosen}) == len(chosen) and all(
            needed[p] <= cuts.get(p.column, set()) for p in needed
        )

    def errors(self, formula: Formula) -> int:
        return int(np.count_nonzero(formula.evaluate(self.table) != self.labels))

    def accuracy(self, formula: Formula) -> float:
        return 1.0 - self.errors(formula) / self.rows

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that decides the optimum of every length, and of nothing else."""
        digest = hashlib.sha256(self.method.value.encode())
        for column in self.columns:
            digest.update(f"\0{column.name}\0{column.kind.value}\0{column.source}\0".encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        digest.update(np.packbits(self.labels).tobytes() + str(self.rows).encode())
        return digest.hexdigest()
