"""The propositions of a column: a fixed one, or one whose threshold the solver chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column
from fsm_hpc.formulas.formula import Proposition, Relation, Truth
from fsm_hpc.search.constraints import FREE, PLAIN, ColumnConstraint, Constraints
from fsm_hpc.search.cuts import Cuts
from fsm_hpc.search.method import Method

BELOW = -1  # the rank of a row below all thresholds, or with a missing value
ALONE = -1  # the group of a Boolean column that is not one of several categories


@dataclass(frozen=True, slots=True)
class BooleanFeature:
    """A proposition with a fixed truth on every row."""

    proposition: Proposition
    holds: Truth
    group: int = ALONE  # categories of one column share a group: one of them holds on each row
    constraint: ColumnConstraint = PLAIN

    @property
    def is_missing_indicator(self) -> bool:
        return self.proposition.relation is Relation.MISSING


@dataclass(frozen=True)
class NumericFeature:
    """A column whose threshold (or interval) the solver chooses.

    The rank of a row is that of the highest threshold that its value reaches, or BELOW.
    `between`: rows whose value exceeds that threshold, so that an interval which ends there
    excludes them; None without such rows, as with observed thresholds.
    """

    column: str
    method: Method
    ranks: NDArray[np.int32]
    thresholds: NDArray[np.float64]
    between: Truth | None = None
    constraint: ColumnConstraint = PLAIN
    support: int = 0  # rows that each of its propositions has to hold on, and fail on
    write: Callable[[float], float] = float  # the threshold as the formula has it

    @staticmethod
    def of(
        column: Column,
        method: Method,
        cuts: Cuts,
        constraints: Constraints = FREE,
        counts: NDArray[Any] | None = None,  # multiplicities of the rows
    ) -> NumericFeature | None:
        """None for a column without thresholds: all values are missing, or none has support."""
        values, support = column.values, constraints.support
        known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
        found = cuts.candidates(
            column.name, values[known], None if counts is None else counts[known]
        )
        if support and method is Method.PIVOT:
            found = found[_has_support(found, values[known], len(values), support)]
        if not len(found):
            return None
        ranks = np.searchsorted(found, values, side="right").astype(np.int32) - np.int32(1)
        ranks[~known] = BELOW
        between = (ranks != BELOW) & (found[ranks] != values)
        is_needed = method is Method.INTERVAL and bool(between.any())
        made = NumericFeature(
            column.name,
            method,
            ranks,
            found,
            between if is_needed else None,
            constraints.of_column(column),
            support,
            column.threshold,
        )
        return made if not support or next(made.literals, None) else None

    @property
    def is_always_reached(self) -> bool:
        """Whether the lowest threshold, or the widest interval, holds on every row."""
        return self.between is None and not bool((self.ranks == BELOW).any())

    @property
    def literals(self) -> Iterator[tuple[int, int]]:
        """The ranks of the ends that a proposition may have."""
        top = len(self.thresholds) - 1
        if self.method is Method.PIVOT:
            return ((low, top) for low in range(top + 1))
        return (
            (low, high)
            for low, (first, last) in enumerate(self.reach.tolist())
            for high in range(first, last + 1)
        )

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """For each lower end of an interval the first and the last upper end that has support.

        A longer interval holds on more rows, so that all between the two have it as well.
        """
        count = len(self.thresholds)
        at, after = (np.zeros(count + 1, np.int64) for _ in range(2))
        between = np.zeros(len(self.ranks), bool) if self.between is None else self.between
        for sums, rows in ((at, ~between), (after, between)):
            np.add.at(sums, self.ranks[rows & (self.ranks != BELOW)] + 1, 1)
        # rows up to a threshold, and those before it
        upto = np.cumsum(at)[1:] + np.cumsum(after)[:-1]
        begin = np.cumsum(at + after)[:-1]
        most = len(self.ranks) - self.support
        first = np.searchsorted(upto, begin + self.support, side="left")
        last = np.searchsorted(upto, begin + most, side="right") - 1
        low = np.arange(count)
        return np.stack([np.maximum(first, low), np.minimum(last, count - 1)], axis=1)

    def proposition(self, low: int, high: int | None = None) -> Proposition:
        """The proposition with the threshold of rank `low`, or the interval of both ranks."""
        if self.method is Method.PIVOT:
            return Proposition.at_least(self.column, self.write(self.thresholds[low]))
        top = len(self.thresholds) - 1 if high is None else high
        ends = (self.write(self.thresholds[end]) for end in (low, top))
        return Proposition.within(self.column, *ends)


def _has_support(thresholds: NDArray[Any], values: NDArray[Any], rows: int, support: int) -> Truth:
    """Whether enough rows reach each threshold, and enough rows do not."""
    reached = len(values) - np.searchsorted(np.sort(values), thresholds, side="left")
    return np.asarray((reached >= support) & (reached <= rows - support))
