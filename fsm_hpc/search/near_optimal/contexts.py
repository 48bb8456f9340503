"""Functions as contexts with free literals, and the identity of a family."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from fsm_hpc.formulas.functions import Function, Tree, functions, rename
from fsm_hpc.search.solvers.native.kernels.shapes import Context

Permutation = tuple[int, ...]
SINGLE, INTERVAL_LITERAL = [0, 1, 0, 1], [0, 1, 0, 0]  # a literal, by the values of two


@dataclass(frozen=True, slots=True)
class SizedFunction:
    """A function, and the size of its smallest formula."""

    size: int
    function: Function


def functions_up_to(bound: int, columns: int) -> list[SizedFunction]:
    """All functions within the size of at most so many variables."""
    return [
        SizedFunction(size, function)
        for size in range(1, bound + 1)
        for function in functions(size)
        if 0 < function.variables <= columns
    ]


@cache
def context_of(function: Function, free: tuple[int, ...], is_interval: bool) -> Context:
    """The function with some variables left free, as kernels read it.

    Two literals are free; a single variable is the first, an interval the first but not the
    second.
    """
    boxed = tuple(v for v in range(function.variables) if v not in free)
    axes = [function.variables - 1 - v for v in (*boxed, *reversed(free))]
    bits = function.bits.reshape((2,) * function.variables).transpose(axes)
    filled = bits.reshape((2,) * len(boxed) + (-1,))
    if len(free) == 1:
        filled = filled[..., INTERVAL_LITERAL if is_interval else SINGLE]
    some = every = np.packbits(filled, axis=-1, bitorder="little")[..., 0]
    for axis in range(len(boxed)):  # a third digit: the literal is unknown
        some = np.concatenate([some, np.bitwise_or.reduce(some, axis, keepdims=True)], axis)
        every = np.concatenate([every, np.bitwise_and.reduce(every, axis, keepdims=True)], axis)
    return Context(some.ravel(), every.ravel(), np.array(boxed, np.int64), np.array(free, np.int64))


@cache
def symmetries(function: Function) -> tuple[Permutation, ...]:
    """The permutations of variables under which the function is unchanged."""
    orders = np.array(list(itertools.permutations(range(function.variables))), np.int64)
    index = np.arange(1 << function.variables)
    bits, moved = function.bits, np.zeros((len(orders), len(index)), np.int64)
    for variable in range(function.variables):
        moved |= (index >> orders[:, variable, None] & 1) << variable
    return tuple(map(tuple, orders[(bits[moved] == bits).all(axis=1)].tolist()))


def first_of_equals(function: Function, columns: tuple[int, ...]) -> tuple[int, ...]:
    """The least of the equivalent assignments of these columns to its variables."""
    return min(tuple(columns[v] for v in order) for order in symmetries(function))


def shape(tree: Tree) -> tuple[Tree, tuple[int, ...]]:
    """A tree with its variables renamed in order of occurrence, and their former names."""
    names: dict[int, int] = {}
    for variable in _variables(tree):
        names.setdefault(variable, len(names))
    return rename(tree, names), tuple(names)


def _variables(tree: Tree) -> Iterator[int]:
    if isinstance(tree, int):
        yield tree
    else:
        for part in tree[1:]:
            yield from _variables(part)
