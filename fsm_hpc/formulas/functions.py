"""Every Boolean function of a language by the size of its smallest formula."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.connectives import CONNECTIVES, formula_of, joined
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.grammar import FORMULA, PROPOSITION, Production
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.shipped_lists import shipped

# A tree is a variable's number, or a connective and its parts: ("not", tree), ("and", tree, tree).
Tree = int | tuple[Any, ...]
Bits = NDArray[np.bool_]
Composed = Iterator[tuple[Bits, Tree]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function that depends on all its variables, and a smallest formula for it.

    Bit `i` of `table` is its value where variable `v` is bit `v` of `i`.
    """

    variables: int
    table: int
    tree: Tree

    def to_list(self) -> list[Any]:
        return [self.variables, f"{self.table:x}", self.tree]

    @property
    def bits(self) -> Bits:
        return np.array([self.table >> i & 1 for i in range(1 << self.variables)], dtype=bool)


@cache
def functions(size: int, language: Language = Language.PAPER) -> tuple[Function, ...]:
    """The functions whose smallest formula in the language has that size.

    One for all ways to name variables. Lists that take long to compute are shipped.
    """
    found = shipped(size, language)
    if found is None:
        return listed_functions(size, language)
    return tuple(Function(v, int(table, 16), tree) for v, table, tree in found["functions"])


def listed_functions(size: int, language: Language) -> tuple[Function, ...]:
    """The same, computed from the grammar and all smaller sizes."""
    return _typed_functions(size, FORMULA, language)


@cache
def _typed_functions(size: int, kind: str, language: Language) -> tuple[Function, ...]:
    """The functions whose smallest formula of a type of the grammar has that size."""
    if kind == PROPOSITION:
        return (Function(1, 0b10, 0),) if size == 1 else ()
    smaller = {
        (f.variables, f.table) for less in range(1, size) for f in _known(less, kind, language)
    }
    found: dict[tuple[int, int], Function] = {}
    seen: set[bytes] = set()
    for bits, tree in _composed(size, kind, language):
        if bits.tobytes() in seen:
            continue
        seen.add(bits.tobytes())
        variables, table, names = _canonical(bits)
        if (variables, table) not in smaller and (variables, table) not in found:
            found[variables, table] = Function(variables, table, rename(tree, names))
    return tuple(found[key] for key in sorted(found))


def _known(size: int, kind: str, language: Language) -> tuple[Function, ...]:
    return functions(size, language) if kind == FORMULA else _typed_functions(size, kind, language)


def build(tree: Any, leaf: Callable[[Any], Formula]) -> Formula:
    """The formula of a tree; everything but a connective with its parts is a leaf."""
    if not (isinstance(tree, tuple) and isinstance(tree[0], str)):
        return leaf(tree)
    return formula_of(tree[0], [build(part, leaf) for part in tree[1:]])


def rename(tree: Tree, names: dict[int, int]) -> Tree:
    """The tree with renamed variables; irrelevant ones become variable 0."""
    if isinstance(tree, int):
        return names.get(tree, 0)
    return (tree[0], *(rename(part, names) for part in tree[1:]))


def _composed(size: int, kind: str, language: Language) -> Composed:
    """Values and trees of all compositions of smaller functions for a type of the grammar."""
    pairs: dict[tuple[str, ...], list[str]] = {}
    for one in language.grammar[kind]:
        if isinstance(one, str):
            yield from ((f.bits, f.tree) for f in _known(size, one, language))
        elif one.is_list:
            yield from _listed(size, one)
        elif len(one.parts) == 1:
            for f in _known(size - 1, one.parts[0], language) if size > 1 else ():
                yield joined(one.connective, f.bits), (one.connective, f.tree)
        else:
            pairs.setdefault(one.parts, []).append(one.connective)
    for (left, right), names in pairs.items():
        yield from _of_pairs(size, left, right, names, language)


def _of_pairs(size: int, left: str, right: str, names: list[str], language: Language) -> Composed:
    """The compositions of two functions; those of one type in one order only."""
    joins = [(name, CONNECTIVES[name].commutes) for name in names]
    is_alike = left == right
    for first in range(1, (size - 1) // 2 + 1 if is_alike else size - 1):
        rest = _known(size - 1 - first, right, language)
        for f, g in itertools.product(_known(first, left, language), rest):
            for a, b, parts in _shared(f, g):
                for name, commutes in joins:
                    yield joined(name, a, b), (name, *parts)
                    if is_alike and not commutes:
                        yield joined(name, b, a), (name, *parts[::-1])


def _shared(f: Function, g: Function) -> Iterator[tuple[Bits, Bits, tuple[Tree, Tree]]]:
    """The values and trees of both for every way to share variables."""
    for names in _overlaps(f.variables, g.variables):
        count = max(f.variables, *(n + 1 for n in names.values()), 1)
        a = _spread(f.bits, dict(enumerate(range(f.variables))), count)
        b = _spread(g.bits, names, count)
        yield a, b, (f.tree, rename(g.tree, names))


def _overlaps(left: int, right: int) -> Iterator[dict[int, int]]:
    """All ways to identify variables of the right with those of the left, or to add new ones."""
    for shared in range(min(left, right) + 1):
        for mine in itertools.combinations(range(right), shared):
            fresh = itertools.count(left)
            new = {v: next(fresh) for v in range(right) if v not in mine}
            for theirs in itertools.permutations(range(left), shared):
                yield new | dict(zip(mine, theirs, strict=True))


def _spread(bits: Bits, names: dict[int, int], count: int) -> Bits:
    """The values of a function on `count` variables, its own named `names`."""
    index = np.arange(1 << count)
    source = np.zeros_like(index)
    for mine, name in names.items():
        source |= (index >> name & 1) << mine
    return bits[source]


def _canonical(bits: Bits) -> tuple[int, int, dict[int, int]]:
    """The relevant variables, the least table under renaming, and those names."""
    matter = [v for v in range(len(bits).bit_length() - 1) if _matters(bits, v)]
    index = np.arange(1 << len(matter))
    source = sum(((index >> i & 1) << v for i, v in enumerate(matter)), np.zeros_like(index))
    core = bits[source]
    ways = orders(classes(core, len(matter)))
    tables = np.packbits(core[_permuted(ways)], axis=1, bitorder="little")
    best = int(np.lexsort(tables.T)[0])  # the last byte counts most
    number = int.from_bytes(tables[best].tobytes(), "little")
    return len(matter), number, {v: ways[best][i] for i, v in enumerate(matter)}


def _matters(bits: Bits, variable: int) -> bool:
    pairs = bits.reshape(-1, 2, 1 << variable)
    return bool((pairs[:, 0] != pairs[:, 1]).any())


def exchangeable(values: NDArray[Any], a: int, b: int) -> bool:
    """Whether a table is unchanged when two of its variables are exchanged."""
    return bool((values == values[_exchanged(len(values), a, b)]).all())


@cache
def _exchanged(size: int, a: int, b: int) -> NDArray[np.int64]:
    index = np.arange(size)
    differ = (index >> a ^ index >> b) & 1
    return np.asarray(index ^ (differ << a | differ << b))


def classes(values: NDArray[Any], variables: int, alone: int | None = None) -> tuple[int, ...]:
    """The first exchangeable variable of each variable; one may be kept alone."""
    first = list(range(variables))
    for b, a in itertools.combinations(range(variables - 1, -1, -1), 2):
        if alone not in (a, b) and exchangeable(values, a, b):
            first[b] = a
    return tuple(first)


@cache
def orders(classes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """All ways to name variables, those of one class in one order only."""
    found: list[tuple[int, ...]] = [()]
    for variable, first in enumerate(classes):
        before = [v for v in range(variable) if classes[v] == first]
        least = before[-1] if before else None
        found = [
            (*names, name)
            for names in found
            for name in range(len(classes))
            if name not in names and (least is None or name > names[least])
        ]
    return tuple(found)


@cache
def _permuted(orders: tuple[tuple[int, ...], ...]) -> NDArray[np.int64]:
    """Row p: where each entry of a table comes from when its variables are named by p."""
    names = np.array(orders, np.int64).reshape(len(orders), -1)
    index = np.arange(1 << names.shape[1])
    source = np.zeros((len(names), len(index)), np.int64)
    for mine, name in enumerate(names.T):
        source |= (index >> name[:, None] & 1) << mine
    return source


# ------------------------------------------------------------------------------ lists of literals


def _listed(size: int, production: Production) -> Composed:
    """A connective with a number over a list of literals; variables may be repeated."""
    for weights in _weights(size - 1, size):
        listed: list[Tree] = [
            v if weight > 0 else ("not", v)
            for v, weight in enumerate(weights)
            for _ in range(abs(weight))
        ]
        truth = np.arange(1 << len(weights))[:, None] >> np.arange(len(weights)) & 1
        held = [(truth[:, v] > 0) ^ (w < 0) for v, w in enumerate(weights) for _ in range(abs(w))]
        yield from _counted(production.connective, held, listed)
    if size == 4:  # a literal and its own negation
        held_p = np.array([False, True])
        yield from _counted(production.connective, [held_p, ~held_p], [0, ("not", 0)])


def _counted(name: str, held: Sequence[Bits], listed: Sequence[Tree]) -> Composed:
    """The connective with every number over a list of two literals or more."""
    for count in range(1, len(listed) + 1) if len(listed) > 1 else ():
        label = f"{name} {count}"
        yield np.asarray(joined(label, *held)), (label, *listed)


def _weights(cost: int, most: int) -> Iterator[tuple[int, ...]]:
    """The multiplicity of each variable, negated ones below zero, in descending order."""
    if cost == 0:
        yield ()
    for weight in range(min(most, cost), -(cost // 2) - 1, -1):
        if weight:
            own = weight if weight > 0 else -2 * weight
            yield from ((weight, *rest) for rest in _weights(cost - own, weight))
