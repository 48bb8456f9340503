"""Every function of at most a size as contexts with a hole, each formula in one of them only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsm_hpc.formulas.functions import Function, functions
from fsm_hpc.search.solvers.native.kernels.shapes import NearPlan

Permutation = tuple[int, ...]


@dataclass(frozen=True)
class HolePlan:
    """A function and the variables that are answered for all cuts at once.

    The widest columns of a formula are in the hole. Which of the variables those are differs from
    formula to formula, so a function has a plan for every choice, up to its own symmetries.
    """

    size: int
    function: Function
    hole: tuple[int, ...]

    @property
    def boxed(self) -> tuple[int, ...]:
        return tuple(v for v in range(self.function.variables) if v not in self.hole)

    def units(self, columns: int) -> int:
        """How many ways there are to number columns for the context."""
        return int(columns ** len(self.boxed))

    @cached_property
    def arrays(self) -> NearPlan:
        moves, same = self._exchanges()
        some, every = self._states()
        return NearPlan(
            np.array(some, np.uint8),
            np.array(every, np.uint8),
            np.array(self.boxed, np.int64),
            np.array(self.hole, np.int64),
            np.array(moves, np.int64).reshape(len(moves), len(self.boxed)),
            same,
        )

    def _exchanges(self) -> tuple[list[Permutation], bool]:
        """How symmetries that keep the hole move the context; whether one moves the hole alone."""
        boxed, hole = self.boxed, self.hole
        moves, same = set(), False
        for order in symmetries(self.function):
            if {order[v] for v in hole} == set(hole):
                move = tuple(boxed.index(order[v]) for v in boxed)
                is_still = move == tuple(range(len(boxed)))
                same = same or (is_still and order[hole[0]] != hole[0])
                if not is_still:
                    moves.add(move)
        return sorted(moves), same

    def _states(self) -> tuple[list[int], list[int]]:
        """By digit of each context variable (false, true, unknown) the fillings that hold."""
        some, every = [], []
        for digits in itertools.product(range(3), repeat=len(self.boxed)):
            known = [self._filled(values) for values in _values_of(digits)]
            some.append(int(np.bitwise_or.reduce(known)))
            every.append(int(np.bitwise_and.reduce(known)))
        return some, every

    def _filled(self, values: tuple[int, ...]) -> int:
        """Bit x + 2y: the function's value where its hole's variables are x and y."""
        index = sum(value << v for v, value in zip(self.boxed, values, strict=True))
        state = 0
        for filling in range(1 << len(self.hole)):
            inner = sum((filling >> n & 1) << v for n, v in enumerate(self.hole))
            state |= (self.function.table >> (index | inner) & 1) << filling
        return state


def _values_of(digits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*((0, 1) if digit == 2 else (digit,) for digit in digits))


def symmetries(function: Function) -> list[Permutation]:
    """The ways to exchange variables that leave the function as it is."""
    count = function.variables
    return [
        order
        for order in itertools.permutations(range(count))
        if all(
            function.table >> index & 1
            == function.table >> sum((index >> order[v] & 1) << v for v in range(count)) & 1
            for index in range(1 << count)
        )
    ]


def hole_plans(bound: int, has_intervals: bool, columns: int) -> list[HolePlan]:
    """Plans of all functions within the size that so many columns can fill."""
    return [
        HolePlan(size, function, hole)
        for size in range(1, bound + 1)
        for function in functions(size)
        if function.variables <= columns
        for hole in _holes(function, has_intervals)
    ]


def fixed_plans(bound: int, columns: int) -> list[HolePlan]:
    """The functions themselves, where no column has a cut to choose."""
    return [
        HolePlan(size, function, ())
        for size in range(1, bound + 1)
        for function in functions(size)
        if 0 < function.variables <= columns
    ]


def _holes(function: Function, has_intervals: bool) -> Iterator[tuple[int, ...]]:
    """Sets of variables for the hole, one of each orbit of the symmetries."""
    widths = {2} if function.variables > 1 else {1}
    if has_intervals:
        widths.add(1)  # two ends of one literal are a hole of their own
    exchanges = symmetries(function)
    seen: set[frozenset[int]] = set()
    for width in sorted(widths):
        for hole in itertools.combinations(range(function.variables), width):
            if frozenset(hole) not in seen:
                seen |= {frozenset(order[v] for v in hole) for order in exchanges}
                yield hole
