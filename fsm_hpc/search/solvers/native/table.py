"""A problem as arrays: merged rows with net weights, columns as small numbers, literal families."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import ALONE, NumericFeature, Problem
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.shapes import Data, Families

Array = NDArray[Any]
MANY_VALUES = 1 << 12
WIDE_PAIR = 1 << 22  # cells of two interval columns beyond which one of them is boxed instead


@dataclass(frozen=True, slots=True)
class KernelColumn:
    """A column of the search: a numeric one, or Booleans of which at most one holds on a row."""

    kind: int
    ranks: Array
    card: int
    numeric: NumericFeature | None
    codes: tuple[Proposition, ...] = ()  # of the values 1, 2, ...; value 0: none of them

    def proposition(self, low: int, high: int) -> Proposition:
        if self.numeric is None:
            return self.codes[low - 1]
        return self.numeric.proposition(low, None if self.kind == SUFFIX else high)


class KernelTable:
    """What the kernels see of a problem."""

    def __init__(self, problem: Problem) -> None:
        merged = problem.distinct_rows
        net = merged.positives - merged.negatives
        kept = np.flatnonzero(net)
        self.rows = merged.first[kept]
        self.weights: Array = net[kept].astype(np.int32)
        columns = [*self._numerics(problem), *self._booleans(problem)]
        self.ranks: Array = np.zeros((len(columns), len(kept)), np.int32)
        for values, column in zip(self.ranks, columns, strict=True):
            values[:] = column.ranks
        self.columns = [replace(c, ranks=self.ranks[i]) for i, c in enumerate(columns)]

    def _numerics(self, problem: Problem) -> list[KernelColumn]:
        kind = SUFFIX if problem.method is Method.PIVOT else INTERVAL
        return [
            KernelColumn(kind, n.ranks[self.rows].astype(np.int32), len(n.cuts), n)
            for n in problem.numerics
        ]

    def _booleans(self, problem: Problem) -> list[KernelColumn]:
        """Categories of one column together, where they exclude each other; equal ones once."""
        features = problem.booleans
        if not features:
            return []
        truths = np.stack([feature.holds for feature in features]).take(self.rows, axis=1)
        groups: dict[Any, list[int]] = {}
        seen: set[bytes] = set()
        for index, key in enumerate(map(bytes, np.packbits(truths, axis=1))):
            if key not in seen:
                seen.add(key)
                group = features[index].group
                groups.setdefault(("alone", index) if group == ALONE else group, []).append(index)
        names = [feature.proposition for feature in features]
        return [
            KernelColumn(POINT, ranks, len(members) + 1, None, tuple(names[i] for i in members))
            for group in groups.values()
            for members, ranks in _joined(group, truths)
        ]

    @cached_property
    def kinds(self) -> Array:
        return np.array([c.kind for c in self.columns], np.int32)

    @cached_property
    def cards(self) -> Array:
        return np.array([c.card for c in self.columns], np.int32)

    @cached_property
    def order(self) -> Array:
        """Place of each column: those with few cuts first, to be boxed rather than asked."""
        literals = [(c.kind != POINT, c.card, i) for i, c in enumerate(self.columns)]
        places = np.zeros(len(literals), np.int32)
        for place, (_, _, i) in enumerate(sorted(literals)):
            places[i] = place
        return places

    @cached_property
    def wide(self) -> Array:
        """Pairs of interval columns too wide for a pair hole."""
        cards = np.array([c.card + 1 if c.kind == INTERVAL else 0 for c in self.columns])
        out = np.outer(cards, cards) > WIDE_PAIR
        np.fill_diagonal(out, False)
        return out

    @cached_property
    def families(self) -> Families:
        """Choices for a boxed variable, in the order of the columns."""
        columns, ends = [], []
        for index in np.argsort(self.order):
            column = self.columns[index]
            last = column.card - 1
            if column.kind == POINT:
                choices = [(v, v, v, v) for v in range(1, column.card)]
            elif column.kind == SUFFIX:
                choices = [(0, last, last, last)]
            else:
                choices = [(0, last, 0, last)]
            columns += [index] * len(choices)
            ends += choices
        column_of = np.array(columns, np.int32)
        bounds = np.array(ends, np.int32).reshape(-1, 4)
        return Families(column_of, bounds, self.kinds[column_of] != POINT)

    @cached_property
    def singles(self) -> Array:
        """Columns for a hole of one literal, written like pairs."""
        return np.array([(i, i) for i in np.argsort(self.order)], np.int32).reshape(-1, 2)

    @cached_property
    def pairs(self) -> Array:
        """Columns (x, y) for a hole of two literals.

        x has fewer values, since it is gone through. Of two intervals it has more, since its
        ends are searched by branch and bound while those of y are gone through every time; of
        two pivots with many values as well, since y is then a tree.
        """
        kinds, cards = self.kinds, self.cards
        places = np.argsort(self.order)
        later, earlier = np.tril_indices(len(places))
        x, y = places[earlier], places[later]
        twice = (x == y) & ((kinds[x] != POINT) | (cards[x] < 3))
        kept = ~twice & ~self.wide[x, y]
        x, y = x[kept], y[kept]
        turn = (kinds[x] == INTERVAL) | ((kinds[x] == SUFFIX) & (cards[y] > MANY_VALUES))
        pairs = np.stack((np.where(turn, y, x), np.where(turn, x, y)), axis=1)
        return np.ascontiguousarray(pairs, np.int32)

    @cached_property
    def largest_table(self) -> int:
        """Cells of the largest pair that is never swept."""
        cards, kinds = self.cards.astype(np.int64) + 1, self.kinds
        x, y = self.pairs.T
        tabled = (kinds[x] == POINT) | (kinds[y] == POINT) | (kinds[x] == INTERVAL)
        return int((cards[x] * cards[y])[tabled].max(initial=1))

    @cached_property
    def data(self) -> Data:
        return Data(self.ranks, self.weights, self.kinds, self.cards, self.order, self.wide)


def _joined(group: list[int], truths: Array) -> list[tuple[list[int], Array]]:
    """A column's members, and which of them holds on a row; all in one if no two hold together."""
    block = truths[group]
    holding = block.sum(axis=0, dtype=np.int32)
    if holding.max(initial=0) > 1:
        return [([member], truths[member].astype(np.int32)) for member in group]
    return [(group, ((block.argmax(axis=0) + 1) * holding).astype(np.int32))]
