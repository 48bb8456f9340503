"""Every Boolean function by the size of its smallest formula, up to the names of its variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.language import Language

# A tree is a variable's number, or a connective and its parts: ("not", tree), ("and", tree, tree).
Tree = int | tuple[Any, ...]
Bits = NDArray[np.bool_]
Composed = Iterable[tuple[Bits, Tree]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that depends on all its variables, and a smallest formula for it.

    Bit `i` of `table` is its value where variable `v` is bit `v` of `i`.
    """

    variables: int
    table: int
    tree: Tree

    @property
    def bits(self) -> Bits:
        return np.array([self.table >> i & 1 for i in range(1 << self.variables)], dtype=bool)


@cache
def functions(size: int, language: Language = Language.PAPER) -> tuple[Function, ...]:
    """The functions whose smallest formula has that size, one for all ways to name variables.

    Of languages whose connectives may be nested freely; `typed_functions.py` knows the others.
    """
    if size == 1:
        return (Function(1, 0b10, 0),)
    known = (functions(smaller, language) for smaller in range(1, size))
    return new_ones(_composed(size, language), known)


def new_ones(composed: Composed, known: Iterable[Iterable[Function]]) -> tuple[Function, ...]:
    """The functions among these that are not known from a smaller size, each once."""
    smaller = {(f.variables, f.table) for of_a_size in known for f in of_a_size}
    found: dict[tuple[int, int], Function] = {}
    seen: set[bytes] = set()
    for bits, tree in composed:
        if bits.tobytes() in seen:
            continue
        seen.add(bits.tobytes())
        variables, table, names = _canonical(bits)
        if (variables, table) not in smaller and (variables, table) not in found:
            found[variables, table] = Function(variables, table, rename(tree, names))
    return tuple(found[key] for key in sorted(found))


def rename(tree: Tree, names: dict[int, int]) -> Tree:
    """The tree with other variables; those that do not matter become variable 0."""
    if isinstance(tree, int):
        return names.get(tree, 0)
    return (tree[0], *(rename(part, names) for part in tree[1:]))


def _composed(size: int, language: Language) -> Iterator[tuple[Bits, Tree]]:
    """Values and trees of all that one connective makes of smaller functions."""
    for f in functions(size - 1, language):
        yield ~f.bits, ("not", f.tree)
    for left in range(1, (size - 1) // 2 + 1):
        pairs = itertools.product(functions(left, language), functions(size - 1 - left, language))
        for f, g in pairs:
            for a, b, parts in joined(f, g):
                yield a & b, ("and", *parts)
                yield a | b, ("or", *parts)
                yield from _more(a, b, parts, language)


def _more(
    a: Bits, b: Bits, parts: tuple[Tree, Tree], language: Language
) -> Iterator[tuple[Bits, Tree]]:
    """What connectives beyond the paper's make of two functions."""
    if language is Language.XOR:
        yield a ^ b, ("xor", *parts)
        yield ~(a ^ b), ("iff", *parts)
    elif language is Language.IMPLIES:
        yield ~a | b, ("implies", *parts)
        yield a | ~b, ("implies", *parts[::-1])


def joined(f: Function, g: Function) -> Iterator[tuple[Bits, Bits, tuple[Tree, Tree]]]:
    """The values of both, and their trees, for every way in which they may share variables."""
    for names in _overlaps(f.variables, g.variables):
        count = max(f.variables, *(n + 1 for n in names.values()), 1)
        a = _spread(f.bits, dict(enumerate(range(f.variables))), count)
        b = _spread(g.bits, names, count)
        yield a, b, (f.tree, rename(g.tree, names))


def _overlaps(left: int, right: int) -> Iterator[dict[int, int]]:
    """All ways in which the variables of the right may be new or among those of the left."""
    for shared in range(min(left, right) + 1):
        for mine in itertools.combinations(range(right), shared):
            fresh = itertools.count(left)
            new = {v: next(fresh) for v in range(right) if v not in mine}
            for theirs in itertools.permutations(range(left), shared):
                yield new | dict(zip(mine, theirs, strict=True))


def _spread(bits: Bits, names: dict[int, int], count: int) -> Bits:
    """The values of a function on `count` variables, its own called `names`."""
    index = np.arange(1 << count)
    source = np.zeros_like(index)
    for mine, name in names.items():
        source |= (index >> name & 1) << mine
    return bits[source]


@cache
def _permuted(variables: int) -> NDArray[np.int64]:
    """Row p: where each entry of a table comes from when its variables are permuted by p."""
    index = np.arange(1 << variables)
    rows = []
    for order in itertools.permutations(range(variables)):
        source = np.zeros_like(index)
        for mine, name in enumerate(order):
            source |= (index >> name & 1) << mine
        rows.append(source)
    return np.array(rows)


def _canonical(bits: Bits) -> tuple[int, int, dict[int, int]]:
    """Variables that matter, the least table that naming them can give, and those names."""
    count = len(bits).bit_length() - 1
    matter = []
    for v in range(count):
        pairs = bits.reshape(-1, 2, 1 << v)
        if (pairs[:, 0] != pairs[:, 1]).any():
            matter.append(v)
    index = np.arange(1 << len(matter))
    source = sum(((index >> i & 1) << v for i, v in enumerate(matter)), np.zeros_like(index))
    core = bits[source]
    tables = np.packbits(core[_permuted(len(matter))], axis=1, bitorder="little")
    best = int(np.lexsort(tables.T)[0])  # the last byte counts most
    number = int.from_bytes(tables[best].tobytes(), "little")
    order = next(itertools.islice(itertools.permutations(range(len(matter))), best, None))
    return len(matter), number, {v: order[i] for i, v in enumerate(matter)}
