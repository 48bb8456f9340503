# mypy: disable-error-code="no-untyped-def"
"""Sets of rows as bits: their weight, and the rows of a word that a literal holds on."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.kernels.intrinsics import (
    common_of_four,
    common_of_three,
    common_of_two,
    lowest,
    popcount,
)
from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

POINT, SUFFIX, INTERVAL = range(3)  # how a column is cut: value = code, value >= cut, interval
NONE = np.uint64(0)
ONE = np.uint64(1)
WORD_BITS = 6


@part
def weight_in(data, word, rows):
    """What these rows of one word weigh."""
    total = 0
    for p in range(len(data.factors)):
        if data.spans[p, 0] <= word < data.spans[p, 1]:
            total += popcount(rows & data.planes[p, word]) * data.factors[p]
    return total


@part
def weight_of_both(data, words, others, start, end):
    """What the rows in both sets weigh, in the words from start to end."""
    total = 0
    for p in range(len(data.factors)):
        first, last = max(start, data.spans[p, 0]), min(end, data.spans[p, 1])
        if data.is_plain:
            total += data.factors[p] * common_of_two(first, last, words, others)
        else:
            total += data.factors[p] * common_of_three(first, last, words, others, data.planes[p])
    return total


@part
def weight_of_three(data, words, others, more, start, end):
    """What the rows in all three sets weigh, in the words from start to end."""
    total = 0
    for p in range(len(data.factors)):
        first, last = max(start, data.spans[p, 0]), min(end, data.spans[p, 1])
        if data.is_plain:
            total += data.factors[p] * common_of_three(first, last, words, others, more)
        else:
            plane = data.planes[p]
            total += data.factors[p] * common_of_four(first, last, words, others, more, plane)
    return total


@part
def rows_between(data, column, low, high, word, among):
    """Those of the rows of a word that have a value from low to high - 1; a category: low."""
    start = data.sets_from[column]
    if start < 0:
        return _scan(data, column, low, high, word, among)
    if data.kinds[column] == POINT:
        return among & data.sets[start + low, word]
    return among & data.sets[start + low, word] & ~data.sets[start + high, word]


@subroutine
def _scan(data, column, low, high, word, among):
    """The same for a column that has too many values for a set of each."""
    values = data.ranks[column]
    found = NONE
    rest = among
    while rest != NONE:
        at = lowest(rest)
        bit = ONE << np.uint64(at)
        if low <= values[(word << WORD_BITS) + at] < high:
            found |= bit
        rest &= ~bit
    return found
