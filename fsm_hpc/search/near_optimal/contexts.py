"""Functions as contexts with a hole: variables that are boxed, and those that are asked at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from fsm_hpc.formulas.functions import Function, Tree, functions, rename
from fsm_hpc.search.solvers.native.kernels.shapes import Context

Permutation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SizedFunction:
    """A function, and the size of its smallest formula."""

    size: int
    function: Function


def functions_up_to(bound: int, columns: int) -> list[SizedFunction]:
    """All functions within the size that so many columns can fill."""
    return [
        SizedFunction(size, function)
        for size in range(1, bound + 1)
        for function in functions(size)
        if 0 < function.variables <= columns
    ]


@cache
def context_of(function: Function, hole: tuple[int, ...]) -> Context:
    """The function with some variables in its hole, as kernels read it."""
    boxed = tuple(v for v in range(function.variables) if v not in hole)
    some, every = [], []  # by digit of each context variable: false, true, unknown
    for digits in itertools.product(range(3), repeat=len(boxed)):
        known = [_filled(function, hole, boxed, values) for values in _values_of(digits)]
        some.append(int(np.bitwise_or.reduce(known)))
        every.append(int(np.bitwise_and.reduce(known)))
    return Context(
        np.array(some, np.uint8),
        np.array(every, np.uint8),
        np.array(boxed, np.int64),
        np.array(hole, np.int64),
    )


def _filled(
    function: Function, hole: tuple[int, ...], boxed: tuple[int, ...], values: tuple[int, ...]
) -> int:
    """Bit x + 2y: the function's value where its hole's variables are x and y."""
    index = sum(value << v for v, value in zip(boxed, values, strict=True))
    state = 0
    for filling in range(1 << len(hole)):
        inner = sum((filling >> n & 1) << v for n, v in enumerate(hole))
        state |= (function.table >> (index | inner) & 1) << filling
    return state


def _values_of(digits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*((0, 1) if digit == 2 else (digit,) for digit in digits))


@cache
def symmetries(function: Function) -> tuple[Permutation, ...]:
    """The ways to exchange variables that leave the function as it is."""
    orders = np.array(list(itertools.permutations(range(function.variables))), np.int64)
    index = np.arange(1 << function.variables)
    bits, moved = function.bits, np.zeros((len(orders), len(index)), np.int64)
    for variable in range(function.variables):
        moved |= (index >> orders[:, variable, None] & 1) << variable
    return tuple(map(tuple, orders[(bits[moved] == bits).all(axis=1)].tolist()))


def first_of_equals(function: Function, columns: tuple[int, ...]) -> tuple[int, ...]:
    """Of the ways to give these columns to its variables that say the same, the least one."""
    return min(tuple(columns[v] for v in order) for order in symmetries(function))


def shape(tree: Tree) -> tuple[Tree, tuple[int, ...]]:
    """A tree with its variables named as they come, and how they were called."""
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
