"""What the kernels of fixed literals are handed, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from fsm_hpc.search.solvers.native.kernels.shapes import Bounds

Array = NDArray[Any]
LANES = 8  # sets that are bounded together
GROUP = 8  # cells whose subsets are summed beforehand
SCORE, PLAN, FUNCTION, FIRST = range(4)  # of a leader: these, then its literals by variable
NEVER = -(1 << 30)  # below every score
ABOVE = 1 << 30  # and above


class FixedTable(NamedTuple):
    """Fixed literals as row sets, and the sums over conjunctions of few of them."""

    bits: Array  # literal x word
    sections: Array  # first word, end, and the weight that each row has there
    next_free: Array  # by literal: the first one after it that a set may have beside it
    binomials: Array
    sums: Array  # of all conjunctions of 1, 2, ... literals, in lexicographic order
    starts: Array  # by number of literals: where these begin; -1: they are not kept
    total: int
    constraints: Bounds


class FunctionTree(NamedTuple):
    """The functions of a size in k literals, as a tree over the bytes of their truth tables."""

    variables: int
    values: Array  # of a node: one byte of the truth table
    first: Array  # its first child; of a leaf the number of the function in canonical order
    end: Array
    roots: int
    plans: Array  # by function: the plan, the function of the hole, the place of each variable
    fillings: Array
    places: Array
    rises: Array  # and the literals (bits) with which it only becomes true, only false
    falls: Array


class CellMemory(NamedTuple):
    """The arrays of one thread."""

    chosen: Array  # literals of the set but for the last
    words: Array  # by subset of the first literals: rows where all hold
    weights: Array  # and the sum of their weights
    inner: Array  # the same by cell
    offsets: Array  # where sums of each subset with two more literals are
    singles: Array  # cell x literal: sum where the literal holds too
    pairs: Array  # cell x literal: sum where the last but one holds as well
    bounds: Array  # by last literal
    pair_words: Array
    cells: Array
    groups: Array  # sums of all subsets of eight cells
    rest: Array  # what the groups from here on can add at most
    at: Array  # the path in the tree of functions
    stop: Array
    partial: Array
    found: Array  # formulas within the slack: score, function, literals
    found_count: Array
