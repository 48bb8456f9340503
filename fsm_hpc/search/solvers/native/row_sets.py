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
MOST_BYTES = 1 << 26  # of the sets of all literals; wider columns do without


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
) -> tuple[Array, Array]:
    """For each value of a column the rows that have it, of a numeric one those that reach it.

    The second array tells where the sets of each column begin; -1 where it has too many.
    """
    words = len(layout.rows) // WORD
    room = MOST_BYTES // (8 * max(1, words))
    starts, sets, used = np.full(len(cards), -1, np.int64), [np.zeros((1, words), np.uint64)], 1
    for column in np.argsort(cards, kind="stable"):
        count = int(cards[column]) + 2
        if used + count > room:
            break
        starts[column] = used
        sets.append(_sets_of(ranks[column], count, bool(is_numeric[column]), layout))
        used += count
    return np.concatenate(sets), starts


def _sets_of(ranks: Array, count: int, is_numeric: bool, layout: Layout) -> Array:
    out = np.zeros((count, len(layout.rows) // WORD), np.uint64)
    at = np.flatnonzero(layout.rows >= 0)
    bit = np.uint64(1) << (at % WORD).astype(np.uint64)
    np.bitwise_or.at(out, (ranks[at], at // WORD), bit)
    return np.bitwise_or.accumulate(out[::-1])[::-1].copy() if is_numeric else out


def packed(truth: Array) -> Array:
    return np.packbits(truth, bitorder="little").view(np.uint64)


def _padded(rows: Array) -> Array:
    """The rows, and no row as often as fills the last block."""
    return np.append(rows, np.full(-len(rows) % (WORD * BLOCK), -1, rows.dtype))


def _span(mask: Array, start: int) -> tuple[int, int]:
    """The heaviest rows come first, so that a plane of a high power ends early."""
    last = int(np.flatnonzero(mask)[-1])
    return start, last + BLOCK - (last - start) % BLOCK
