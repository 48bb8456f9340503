"""A problem as arrays: merged rows with net weights, columns as small numbers, literal families."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Formula, Proposition
from fsm_hpc.search.constraints import PLAIN, ColumnConstraint
from fsm_hpc.search.features import ALONE, BooleanFeature, NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.shapes import Bounds, Data, Families
from fsm_hpc.search.solvers.native.row_sets import Layout, literal_sets
from fsm_hpc.search.solvers.simple import missing_constants

Array = NDArray[Any]
MANY_VALUES = 1 << 12  # of a pivot that is the first of a pair
MOST_BOXED = 32  # variables of a context
MOST_UNITS = 1 << 60  # that are counted
WIDE_PAIR = 1 << 22  # cells of two interval columns beyond which one of them is boxed instead


@dataclass(frozen=True, slots=True)
class KernelColumn:
    """A column of the search: a numeric one, or Booleans of which at most one holds on a row."""

    kind: int
    ranks: Array
    card: int
    numeric: NumericFeature | None
    codes: tuple[Proposition, ...] = ()  # of the values 1, 2, ...; value 0: none of them
    values: tuple[int, ...] = ()  # of a numeric column: the ranks that some row has
    constraint: ColumnConstraint = PLAIN  # what the constraints ask of it
    floor: int = 0  # of a numeric column: 1 where rank 0 is that of rows that no cut holds on
    step: int = 1  # 2 where rows lie between cuts: these are then at every second rank

    @property
    def name(self) -> str:
        """The column of the table; of several categories that of the first."""
        return self.codes[0].column if self.numeric is None else self.numeric.column

    @property
    def empty_at(self) -> int | None:
        """The rank from which on, or at which, a numeric column holds on none of the rows."""
        ends = self.cuts[::-1] if self.kind == INTERVAL else (self.card - 1,)
        return next((rank for rank in ends if rank not in self.values), None)

    @property
    def literal_count(self) -> int:
        if self.kind == SUFFIX or self.numeric is None:
            return len(self.cuts)
        first, last = self.numeric.reach.T
        return int(np.maximum(0, last - first + 1).sum())

    @property
    def widest(self) -> tuple[int, int] | None:
        """The literal that holds on every row, if the column has one."""
        low, high = self.cuts[0], self.card - 1 if self.kind == SUFFIX else self.cuts[-1]
        return (low, high) if all(low <= value <= high for value in self.values) else None

    @property
    def cuts(self) -> range:
        """The ranks that a literal may begin at, and an interval end at."""
        return range(self.floor, self.card, self.step)

    @property
    def literals(self) -> Iterator[tuple[int, int]]:
        """The ranks that each literal of a numeric column holds from and to."""
        if self.kind == SUFFIX or self.numeric is None:
            return ((low, self.card - 1) for low in self.cuts)
        ranks = self.cuts
        return ((ranks[low], ranks[high]) for low, high in self.numeric.literals)

    def proposition(self, low: int, high: int) -> Proposition:
        if self.numeric is None:
            return self.codes[low - 1]
        low, high = ((rank - self.floor) // self.step for rank in (low, high))
        return self.numeric.proposition(low, None if self.kind == SUFFIX else high)


class KernelTable:
    """What the kernels see of a problem."""

    def __init__(self, problem: Problem, keeps_balanced: bool = False) -> None:
        """`keeps_balanced`: with rows whose labels cancel out, which decide no score."""
        self._problem = problem
        self.language = problem.language
        merged = problem.distinct_rows
        net = merged.positives - merged.negatives
        kept = np.arange(len(net)) if keeps_balanced else np.flatnonzero(net)
        self.rows = merged.first[kept]
        self.weights: Array = net[kept].astype(np.int32)
        columns = self._all_columns(problem)
        self.ranks: Array = np.zeros((len(columns), len(kept)), np.int32)
        for values, column in zip(self.ranks, columns, strict=True):
            values[:] = column.ranks
        self.columns = [replace(c, ranks=self.ranks[i]) for i, c in enumerate(columns)]

    def _all_columns(self, problem: Problem) -> list[KernelColumn]:
        return [*self._numerics(problem), *self._booleans(problem)]

    def _numerics(self, problem: Problem) -> list[KernelColumn]:
        # also those that put the rows in the same order: each has a cut of its own
        return [_numeric_column(numeric, self.rows) for numeric in problem.numerics]

    def _booleans(self, problem: Problem) -> list[KernelColumn]:
        """Categories of one column together, where they exclude each other; equal ones once."""
        features = problem.booleans
        if not features:
            return []
        truths = np.stack([feature.holds for feature in features]).take(self.rows, axis=1)
        groups: dict[Any, list[int]] = {}
        seen: set[Any] = set()
        for index, held in enumerate(map(bytes, np.packbits(truths, axis=1))):
            feature = features[index]
            key = (held, self._role(feature, index))
            if key not in seen:
                seen.add(key)
                # what is required may not occur twice, so there each category is a column
                is_alone = feature.group == ALONE or bool(self._problem.constraints.require)
                group = ("alone", index) if is_alone else feature.group
                constraint = (feature.constraint.sign, feature.constraint.needs)
                groups.setdefault((group, constraint), []).append(index)
        return [
            KernelColumn(
                POINT,
                ranks,
                len(members) + 1,
                None,
                tuple(features[i].proposition for i in members),
                constraint=features[members[0]].constraint,
            )
            for group in groups.values()
            for members, ranks in _joined(group, truths)
        ]

    def _role(self, feature: BooleanFeature, index: int) -> Any:
        """What else tells columns apart that are equal on all rows: what constraints ask of them.

        Where something is required, `a and not b` of two equal columns is a formula that no single
        one can stand for, so all are kept.
        """
        wanted = self._problem.constraints
        if wanted.require:
            return index
        return feature.constraint.sign, feature.constraint.origin if wanted.max_columns else None

    @cached_property
    def bounds(self) -> Bounds:
        """What the constraints ask of each column."""
        return self.bounds_of([column.constraint for column in self.columns])

    def bounds_of(self, constraints: list[ColumnConstraint]) -> Bounds:
        """The same of columns, or of literals, of which so much is asked."""
        wanted = self._problem.constraints
        origins = {one.origin: number for number, one in enumerate(constraints)}
        return Bounds(
            wanted.binds,
            np.array([one.sign for one in constraints], np.int32),
            np.array([one.needs for one in constraints], np.int64),
            np.array([origins[one.origin] for one in constraints], np.int32),
            (1 << len(wanted.require)) - 1,
            len(constraints) if wanted.max_columns is None else wanted.max_columns,
        )

    @property
    def constants(self) -> tuple[Formula, ...]:
        """False and true at size 3, where missing values are kept and the language has both."""
        return missing_constants(self._problem)

    @cached_property
    def kinds(self) -> Array:
        return np.array([c.kind for c in self.columns], np.int32)

    @cached_property
    def cards(self) -> Array:
        return np.array([c.card for c in self.columns], np.int32)

    @cached_property
    def floors(self) -> Array:
        return np.array([c.floor for c in self.columns], np.int32)

    @cached_property
    def places(self) -> Array:
        """The columns in order: those with few cuts first, to be boxed rather than free."""
        literals = [(c.kind != POINT, c.card, i) for i, c in enumerate(self.columns)]
        return np.array([i for _, _, i in sorted(literals)], np.int64)

    @cached_property
    def has_constants(self) -> bool:
        """Whether formulas of size 3 at most are true, and false, on every row.

        `conjunction` lacks `p or p is missing`, `disjunction` the other one. A column with a
        direction gives one of them only; with support asked for there is none, and where something
        is required, a formula that is left without it is none either.
        """
        numeric = [c for c in self.columns if c.kind != POINT]
        signs = [c.constraint.sign for c in numeric if c.widest is not None]
        has_both = min(signs, default=2) <= 0 <= max(signs, default=-2)
        return (has_both or bool(self.constants)) and not self._problem.constraints.support

    @cached_property
    def has_windows(self) -> bool:
        """Whether intervals are answered end by end, as one that holds nowhere is no answer."""
        return not self.has_constants and not self.has_rows_between_ends

    @property
    def _widest(self) -> int:
        """Cells of two interval columns that are free together; none where ends have windows."""
        return 0 if self.has_windows else WIDE_PAIR

    @cached_property
    def has_rows_between_ends(self) -> bool:
        """Whether rows lie between the ends of intervals, which boxes cannot represent."""
        return any(c.step > 1 for c in self.columns)

    @cached_property
    def has_wide_pairs(self) -> bool:
        """Whether two interval columns are too wide to be free together."""
        two = self._interval_sides[-2:]
        return len(two) == 2 and int(two[0] * two[1]) > self._widest

    @property
    def _interval_sides(self) -> Array:
        """What each interval column brings to the size of a pair's table, in order."""
        return np.sort(self.cards[self.kinds == INTERVAL].astype(np.int64) + 1)

    @cached_property
    def families(self) -> Families:
        """Choices for a boxed variable, in the order of the columns."""
        columns, ends = [], []
        for index in self.places:
            column = self.columns[index]
            least, last = column.floor, column.card - 1
            if column.kind == POINT:
                choices = [(v, v, v, v) for v in range(1, column.card)]
            elif column.kind == SUFFIX:
                choices = [(least, last, last, last)]
            else:
                choices = [(least, last, least, last)]
            columns += [index] * len(choices)
            ends += choices
        column_of = np.array(columns, np.int32)
        bounds = np.array(ends, np.int32).reshape(-1, 4)
        ways = binomials(len(columns), MOST_BOXED + 1)
        return Families(column_of, bounds, self.kinds[column_of] != POINT, ways)

    @cached_property
    def largest_table(self) -> int:
        """Cells of the largest pair of interval columns that is free together."""
        most, intervals = 1, self._interval_sides
        for low, side in enumerate(intervals):
            # the widest partner that keeps the pair within the bound, other than itself
            high = int(np.searchsorted(intervals, self._widest // side, side="right")) - 1
            partner = high - 1 if high == low else high
            if partner >= 0:
                most = max(most, int(side * intervals[partner]))
        return most

    @cached_property
    def starts(self) -> Array:
        """Where each column begins in a list of all values, one more for each, and the end."""
        return np.concatenate(([0], np.cumsum(self.cards.astype(np.int64) + 2)))

    @cached_property
    def data(self) -> Data:
        order = np.zeros(len(self.places), np.int32)
        order[self.places] = np.arange(len(self.places))
        layout = Layout.of(self.weights)
        ranks = layout.placed(self.ranks)
        return Data(
            ranks,
            layout.placed(self.weights),
            *literal_sets(ranks, self.cards, self.kinds != POINT, layout),
            layout.full,
            layout.planes,
            layout.spans,
            layout.factors,
            int((layout.full != 0).sum()),
            layout.positives,
            layout.is_plain,
            self.kinds,
            self.cards,
            self.floors,
            self.starts,
            order,
            self.places,
            self._widest,
            MANY_VALUES,
            self.bounds,
            self.has_windows,
            *self._windows(),
        )

    def _windows(self) -> tuple[Array, Array]:
        """The high ends of each low end; those of an interval that have support, else all."""
        first, last = np.zeros((2, int(self.starts[-1])), np.int32)
        last[:] = self.cards.max(initial=0)
        for start, column in zip(self.starts, self.columns, strict=False):
            if self.has_windows and column.kind == INTERVAL and column.numeric is not None:
                at = slice(start + column.floor, start + column.card)
                first[at], last[at] = column.numeric.reach.T + column.floor
        return first, last


def _numeric_column(numeric: NumericFeature, rows: Array) -> KernelColumn:
    """Rows that no cut holds on have rank 0, those between cuts have ranks of their own."""
    kind = SUFFIX if numeric.method is Method.PIVOT else INTERVAL
    floor = 0 if numeric.is_always_reached else 1
    step = 1 if numeric.between is None else 2
    ranks = numeric.ranks[rows].astype(np.int32) * step + floor
    if numeric.between is not None:
        ranks = np.where(ranks < 0, 0, ranks + numeric.between[rows]).astype(np.int32)
    present = tuple(np.unique(ranks).tolist())
    card = floor + step * len(numeric.thresholds)
    return KernelColumn(
        kind, ranks, card, numeric, (), present, numeric.constraint, floor=floor, step=step
    )


def _joined(group: list[int], truths: Array) -> list[tuple[list[int], Array]]:
    """A column's members, and which of them holds on a row; all in one if no two hold together."""
    block = truths[group]
    holding = block.sum(axis=0, dtype=np.int32)
    if holding.max(initial=0) > 1:
        return [([member], truths[member].astype(np.int32)) for member in group]
    return [(group, ((block.argmax(axis=0) + 1) * holding).astype(np.int32))]


def binomials(most: int, size: int) -> Array:
    """[n, k]: the ways to choose k of n; what exceeds all that can be searched is cut off."""
    found = np.zeros((most + 1, size + 1), np.int64)
    found[:, 0] = 1
    for k in range(1, size + 1):
        exact = np.concatenate(([0], np.cumsum(found[:-1, k - 1])))
        rough = np.concatenate(([0.0], np.cumsum(found[:-1, k - 1].astype(float))))
        found[:, k] = np.where(rough > MOST_UNITS, MOST_UNITS, exact)
    return found
