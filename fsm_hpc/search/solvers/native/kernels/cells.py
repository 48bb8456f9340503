# mypy: disable-error-code="no-untyped-def"
"""Sums over the cells of sets of fixed literals, which bound all functions of a set at once.

A set of k literals splits the rows into 2^k cells. A function of the literals holds on some of the
cells, so that no function scores more than the sum of the positive cells.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from fsm_hpc.search.solvers.native.kernels.cell_shapes import LANES
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, subroutine


@intrinsic
def popcount(typing_context, word):
    """How many bits of the word are set, in one machine instruction."""
    del typing_context

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@part
def sum_of(table, words, literal):
    """The weights of the rows of a set where the literal holds."""
    total = np.int64(0)
    bits = table.bits[literal]
    for s in range(len(table.sections)):
        count = np.int64(0)
        for w in range(table.sections[s, 0], table.sections[s, 1]):
            count += np.int64(popcount(words[w] & bits[w]))
        total += table.sections[s, 2] * count
    return total


@kernel
def sum_conjunctions(table, size, words, chosen):
    """Fill in the sums of all conjunctions of so many literals.

    `words[i]`: the rows where the first i chosen literals hold; words[0] has all rows.
    """
    count = len(table.bits)
    at = table.starts[size]
    level = 0
    chosen[0] = 0
    while level >= 0:
        if level == size - 1:
            for e in range(chosen[level], count):
                table.sums[at] = sum_of(table, words[level], e)
                at += 1
        elif chosen[level] < count:
            for w in range(table.bits.shape[1]):
                words[level + 1, w] = words[level, w] & table.bits[chosen[level], w]
            level += 1
            chosen[level] = chosen[level - 1] + 1
            continue
        level -= 1
        if level >= 0:
            chosen[level] += 1


# ------------------------------------------------------------------------------ sets of literals


@part
def choose(table, number, chosen, size):
    """The set of so many literals that has this number in lexicographic order."""
    last = len(table.bits) - 1
    left = table.binomials[last + 1, size] - 1 - number
    m = last
    for i in range(size):
        while table.binomials[m, size - i] > left:
            m -= 1
        left -= table.binomials[m, size - i]
        chosen[i] = last - m
        m -= 1


@part
def advance(table, chosen, size):
    """The next set; the first place at which it differs."""
    count = len(table.bits)
    i = size - 1
    while i > 0 and chosen[i] == count - size + i:
        i -= 1
    chosen[i] += 1
    for k in range(i + 1, size):
        chosen[k] = chosen[k - 1] + 1
    return i


@part
def is_allowed(table, chosen, size):
    """Whether no two of the literals exclude each other."""
    allowed = True
    for i in range(1, size):
        allowed &= chosen[i] >= table.next_free[chosen[i - 1]]
    return allowed


@part
def subtract_supersets(rows, cells, start, blocks):
    """From sums over conjunctions to sums over cells, for many last literals (Moebius)."""
    bit = 1
    while bit < cells:
        for cell in range(cells):
            if cell & bit == 0:
                less, more = rows[cell], rows[cell | bit]
                for b in range(blocks):
                    at = start + b * LANES
                    for j in range(at, at + LANES):
                        less[j] -= more[j]
        bit <<= 1


@part
def place_of(table, chosen, subset, more):
    """Where sums of a subset of the chosen literals with `more` others begin, but for those."""
    last = len(table.bits) - 1
    size = more
    rest = subset
    while rest:
        size += 1
        rest &= rest - 1
    if size >= len(table.starts) or table.starts[size] < 0:
        return np.int64(-1)
    at = table.starts[size] + table.binomials[last + 1, size] - 1 - last
    i = 0
    k = 0
    rest = subset
    while rest:
        if rest & 1:
            at -= table.binomials[last - chosen[k], size - i]
            i += 1
        rest >>= 1
        k += 1
    return at


@subroutine
def open_prefix(table, memory, ready, count):
    """Sums over the cells of the first literals, with each literal after them."""
    words, weights, inner = memory.words, memory.weights, memory.inner
    chosen, literals = memory.chosen, len(table.bits)
    width = table.bits.shape[1]
    for level in range(ready, count):
        half = 1 << level
        bits = table.bits[chosen[level]]
        for subset in range(half):
            weights[half | subset] = sum_of(table, words[subset], chosen[level])
            for w in range(width):
                words[half | subset, w] = words[subset, w] & bits[w]
    cells = 1 << count
    start = chosen[count - 1] + 1 if count else 0
    for subset in range(cells):
        inner[subset] = weights[subset]
        memory.offsets[subset] = place_of(table, chosen, subset, 2)
        row = memory.singles[subset]
        at = place_of(table, chosen, subset, 1)
        if at >= 0:
            for e in range(start, literals):
                row[e] = table.sums[at + e]
        else:
            for e in range(start, literals):
                row[e] = sum_of(table, words[subset], e)
    subtract_supersets(memory.singles, cells, start, (literals - start + LANES - 1) // LANES)
    bit = 1
    while bit < cells:
        for cell in range(cells):
            if cell & bit == 0:
                inner[cell] -= inner[cell | bit]
        bit <<= 1


@subroutine
def open_row(table, memory, count, d, start):
    """Sums over the cells of the first literals where literal d holds, with each after it."""
    literals, cells, last = len(table.bits), 1 << count, len(table.bits) - 1
    width = table.bits.shape[1]
    words = memory.pair_words
    for subset in range(cells):
        row = memory.pairs[subset]
        at = memory.offsets[subset] if subset < cells - 1 else np.int64(-1)
        if at >= 0:
            at -= table.binomials[last - d, 2]
            for e in range(start, literals):
                row[e] = table.sums[at + e]
        else:
            for w in range(width):
                words[w] = memory.words[subset, w] & table.bits[d, w]
            for e in range(start, literals):
                row[e] = sum_of(table, words, e)
    subtract_supersets(memory.pairs, cells, start, (literals - start + LANES - 1) // LANES)


@subroutine
def bound_row(memory, count, d, start, blocks):
    """By last literal the most that any function of the set scores: the sum of its gains."""
    bounds = memory.bounds
    for j in range(start, start + blocks * LANES):
        bounds[j] = 0
    for cell in range(1 << count):
        with_d = np.int32(memory.singles[cell, d])
        without = np.int32(memory.inner[cell] - memory.singles[cell, d])
        both_row, single_row = memory.pairs[cell], memory.singles[cell]
        for b in range(blocks):
            at = start + b * LANES
            for j in range(at, at + LANES):
                both = both_row[j]
                single = np.int32(single_row[j] - both)
                gain = max(both, np.int32(0)) + max(np.int32(with_d - both), np.int32(0))
                gain += max(single, np.int32(0)) + max(np.int32(without - single), np.int32(0))
                bounds[j] += np.int32(gain)
