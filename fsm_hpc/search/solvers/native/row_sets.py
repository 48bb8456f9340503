"""Sets of rows as bits: where each row has its bit, what bits weigh, and a set for each literal."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.search.solvers.native.kernels.kernel import BLOCK

Array = NDArray[Any]
WORD = 64
MOST_BYTES = 1 << 26  # of the sets of all literals; in wider columns not every value has one


@dataclass(frozen=True, slots=True)
class Layout:
    """A bit for each row: positive rows first, of each class the heaviest, in whole blocks."""

    rows: Array  # by bit; -1 where there is none
    positives: int  # words of positive rows
    planes: Array  # plane x word: the rows whose weight has that plane's factor in it
    spans: Array  # words in which a plane has rows
    factors: Array

    @staticmethod
    def of(weights: Array) -> Layout:
        heaviest = np.argsort(-np.abs(weights), kind="stable")
        classes = [_padded(heaviest[weights[heaviest] * sign > 0]) for sign in (1, -1)]
        rows = np.concatenate(classes)
        by_bit = np.where(rows < 0, 0, np.abs(weights)[rows]).astype(np.int64)
        positives = len(classes[0]) // WORD
        masks, spans, factors = [], [], []
        for start, end in ((0, positives), (positives, len(rows) // WORD)):
            held = by_bit[start * WORD : end * WORD]
            common = gcd(*np.unique(held).tolist()) if len(held) else 1
            for power in range(int(held.max(initial=0) // max(common, 1)).bit_length()):
                mask = np.zeros(len(rows), bool)
                mask[start * WORD : end * WORD] = held // common >> power & 1
                if mask.any():
                    masks.append(packed(mask))
                    spans.append(_span(masks[-1], start))
                    factors.append(common << power)
        planes = np.stack(masks) if masks else np.zeros((0, len(rows) // WORD), np.uint64)
        ends = np.array(spans, np.int64).reshape(-1, 2)
        return Layout(rows, positives, planes, ends, np.array(factors, np.int64))

    @property
    def full(self) -> Array:
        return packed(self.rows >= 0)

    @property
    def is_plain(self) -> bool:
        """Whether all rows of a class weigh the same."""
        planes = np.bincount(self.spans[:, 0] >= self.positives, minlength=2)
        return bool(planes.max() < 2)

    def placed(self, values: Array) -> Array:
        """Values of rows, by bit."""
        found = np.where(self.rows < 0, 0, values[..., self.rows]).astype(values.dtype)
        return np.ascontiguousarray(found)


def literal_sets(
    ranks: Array, cards: Array, is_numeric: Array, layout: Layout
) -> tuple[Array, Array, Array]:
    """For each value of a column the rows that have it, of a numeric one those that reach it.

    The other arrays tell where the sets of each column begin, and that only every 2^shift-th value
    of a numeric column has a set, where these would take too much memory.
    """
    words = len(layout.rows) // WORD
    room = MOST_BYTES // (8 * max(1, words))
    starts, shifts = np.zeros((2, len(cards)), np.int64)
    sets, used = [np.zeros((1, words), np.uint64)], 1
    order = np.argsort(cards, kind="stable")
    for place, column in enumerate(order):
        share = max(2, (room - used) // (len(order) - place))
        while is_numeric[column] and _count(cards[column], shifts[column]) > share:
            shifts[column] += 1
        count = _count(cards[column], shifts[column])
        own = _sets_of(ranks[column] >> shifts[column], count, layout)
        if is_numeric[column]:
            own = np.bitwise_or.accumulate(own[::-1])[::-1]
        starts[column] = used
        sets.append(own)
        used += count
    return np.concatenate(sets), starts, shifts


def _count(card: int, shift: int) -> int:
    """Sets of a column: of its values, and of one that no row reaches."""
    return (int(card) >> int(shift)) + 2


def _sets_of(values: Array, count: int, layout: Layout) -> Array:
    """The rows that have each of so many values."""
    found = np.zeros((count, len(layout.rows) // WORD), np.uint64)
    at = np.flatnonzero(layout.rows >= 0)
    bit = np.uint64(1) << (at % WORD).astype(np.uint64)
    np.bitwise_or.at(found, (values[at], at // WORD), bit)
    return found


def packed(truth: Array) -> Array:
    return np.ascontiguousarray(np.packbits(truth, axis=-1, bitorder="little")).view(np.uint64)


def _padded(rows: Array) -> Array:
    """The rows, and no row as often as fills the last block."""
    return np.append(rows, np.full(-len(rows) % (WORD * BLOCK), -1, rows.dtype))


def _span(mask: Array, start: int) -> tuple[int, int]:
    """The heaviest rows come first, so that a plane of a high power ends early."""
    last = int(np.flatnonzero(mask)[-1])
    return start, last + BLOCK - (last - start) % BLOCK
