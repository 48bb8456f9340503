"""How each Boolean function is searched: which variables are boxed, which are free."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.functions import (
    Function,
    Tree,
    classes,
    exchangeable,
    functions,
    orders,
    rename,
)
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.shipped_lists import shipped
from fsm_hpc.formulas.truth_table import steady
from fsm_hpc.search.solvers.native.kernels.shapes import FALSE, OPEN, OPEN_NEGATED, TRUE

# Functions of a free pair, as values at (not x, not y), (x, not y), (not x, y), (x, y).
PAIRS = {0b1000: 0, 0b0010: 1, 0b0100: 2, 0b0001: 3, 0b0111: 4, 0b1101: 5, 0b1011: 6, 0b1110: 7}
FUNCTIONS = 8  # of a pair
SWAPPED = (0, 2, 1, 3, 4, 6, 5, 7)  # the same functions with x and y exchanged


@dataclass(frozen=True, slots=True)
class Plan:
    """One context with one or two free literals, and the functions that arise from them.

    `trees[f]`: a formula for free function `f`, context variables first, then x and y.
    `cross[f]`: context variables (bits) that are interchangeable with the free ones.
    `after[i]`: an interchangeable context variable that has to come before variable `i`.
    `partner`: a context variable that is half of a pair too wide to be free together, or -1.
    """

    boxed: int
    free: int
    states: tuple[int, ...]
    trees: dict[int, Tree]
    cross: dict[int, int]
    after: tuple[int, ...]
    partner: int = -1

    @property
    def later(self) -> tuple[int, ...]:
        """Of each context variable how many interchangeable ones come after it."""
        found = [0] * self.boxed
        for variable in range(self.boxed - 1, -1, -1):
            if self.after[variable] >= 0:
                found[self.after[variable]] = found[variable] + 1
        return tuple(found)

    def choices(self, count: int) -> int:
        """The ways to choose one of so many for each variable, interchangeable ones in order."""
        firsts = (more for more, before in zip(self.later, self.after, strict=True) if before < 0)
        return math.prod(math.comb(count, more + 1) for more in firsts)

    def to_list(self) -> list[Any]:
        states = "".join(map(str, self.states))
        fillings = [[f, self.cross.get(f, -1), tree] for f, tree in self.trees.items()]
        return [self.boxed, self.free, states, fillings, self.after, self.partner]

    def truth(self, f: int) -> NDArray[np.bool_]:
        """The whole function, its variables by place: the free ones come last."""
        pair = next(values for values, number in PAIRS.items() if number == f)
        values = pair if self.free == 2 else (0b10, 0b01)[f]
        filled = np.array([values >> place & 1 for place in range(1 << self.free)], dtype=bool)
        by_state = np.zeros((4, len(filled)), bool)
        by_state[TRUE], by_state[OPEN], by_state[OPEN_NEGATED] = True, filled, ~filled
        return np.asarray(by_state[np.array(self.states)].T.ravel())

    def directions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By free function the variables (bits) it only rises with, and only falls with."""
        rises, falls = np.zeros((2, FUNCTIONS), np.int64)
        for f in self.trees:
            rises[[f]], falls[[f]] = steady(self.truth(f)[None])
        return rises, falls

    def relaxed(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The best state for a positive and for a negative row, by what is known of each variable.

        Entry: base-3 digits by variable, 0 false, 1 true, 2 either.
        """
        seen = (1 << np.array(self.states)).reshape((2,) * self.boxed)  # sets of states, as bits
        for variable in range(self.boxed):
            either = np.bitwise_or.reduce(seen, axis=variable, keepdims=True)
            seen = np.concatenate([seen, either], axis=variable)
        sets = [{state for state in range(4) if bits >> state & 1} for bits in range(1, 16)]
        best = [(_best(s, TRUE, FALSE), _best(s, FALSE, TRUE)) for s in sets]
        positive, negative = np.array([(0, 0), *best], np.int8)[seen.ravel()].T
        return np.ascontiguousarray(positive), np.ascontiguousarray(negative)


def _from_list(saved: tuple[Any, ...]) -> Plan:
    boxed, free, states, fillings, after, partner = saved
    trees = {f: tree for f, _, tree in fillings}
    cross = {f: interchangeable for f, interchangeable, _ in fillings}
    return Plan(boxed, free, tuple(map(int, states)), trees, cross, after, partner)


def _best(states: set[int], wanted: int, unwanted: int) -> int:
    if wanted in states or {OPEN, OPEN_NEGATED} <= states:
        return wanted
    return next((s for s in (OPEN, OPEN_NEGATED) if s in states), unwanted)


@cache
def plans(size: int, wide_pairs: bool, language: Language = Language.PAPER) -> tuple[Plan, ...]:
    """Plans that reach every function whose smallest formula has that size, constants apart.

    `wide_pairs`: some pairs of columns cannot be free together, and one is boxed instead.
    """
    found = shipped(size, language)
    if found is None:
        return listed_plans(functions(size, language), wide_pairs)
    return tuple(map(_from_list, found["wide plans" if wide_pairs else "plans"]))


def listed_plans(listed: Iterable[Function], wide_pairs: bool) -> tuple[Plan, ...]:
    """Plans that reach these functions."""
    merged: dict[tuple[int, tuple[int, ...], int], Plan] = {}
    for function in listed:
        if function.variables == 0:
            continue
        for plan in _plans_of(function, wide_pairs):
            key = (plan.free, plan.states, plan.partner)
            known = merged.get(key, plan)
            merged[key] = replace(
                plan, trees=known.trees | plan.trees, cross=known.cross | plan.cross
            )
    return tuple(merged[key] for key in sorted(merged))


def _plans_of(function: Function, wide_pairs: bool) -> Iterator[Plan]:
    pairs = [
        found
        for x, y in itertools.combinations(range(function.variables), 2)
        if (found := _pair_plan(function, x, y)) is not None
    ]
    if not pairs:
        candidates = [_single_plan(function, x) for x in range(function.variables)]
        yield min(candidates, key=lambda plan: (_width(plan), plan.states))
        return
    plan, x, y = min(pairs, key=lambda p: (_width(p[0]), p[0].states))
    yield plan
    if wide_pairs:
        yield _single_plan(function, x, partner=y)
        if not exchangeable(function.bits, x, y):
            yield _single_plan(function, y, partner=x)


def _width(plan: Plan) -> int:
    return sum(state >= OPEN for state in plan.states)


def _pair_plan(function: Function, x: int, y: int) -> tuple[Plan, int, int] | None:
    """The context of the pair, if what it leaves of the function is one function of the pair."""
    boxed = [v for v in range(function.variables) if v not in (x, y)]
    residuals = _residuals(function, boxed, (x, y))
    inner = {r for r in residuals if r not in (0b0000, 0b1111)}
    h = min(inner)
    if not inner <= {h, h ^ 0b1111} or h not in PAIRS:
        return None
    plan = _finish(function, boxed, (x, y), residuals, h, None)
    return plan, x, y


def _single_plan(function: Function, x: int, partner: int | None = None) -> Plan:
    boxed = [v for v in range(function.variables) if v != x]
    residuals = _residuals(function, boxed, (x,))
    return _finish(function, boxed, (x,), residuals, 0b10, partner)


def _residuals(function: Function, boxed: list[int], free: tuple[int, ...]) -> list[int]:
    """For every assignment to the boxed variables the table of what is left."""
    entries = _places(tuple(boxed))[:, None] | _places(free)
    values = function.bits[entries].astype(np.int64)
    tables: list[int] = (values << np.arange(1 << len(free))).sum(axis=1).tolist()
    return tables


@cache
def _places(names: tuple[int, ...]) -> NDArray[np.int64]:
    """Where in a table of more variables each entry of a table of these is."""
    index = np.arange(1 << len(names))
    return sum(((index >> i & 1) << v for i, v in enumerate(names)), np.zeros_like(index))


def _finish(
    function: Function,
    boxed: list[int],
    free: tuple[int, ...],
    residuals: list[int],
    h: int,
    partner: int | None,
) -> Plan:
    """Name the boxed variables so that equal contexts of different functions become one plan."""
    full = (1 << (1 << len(free))) - 1
    code = {0: FALSE, full: TRUE, h: OPEN, h ^ full: OPEN_NEGATED}
    states = tuple(code[r] for r in residuals)
    last = None if partner is None else boxed.index(partner)
    named, order, flipped = _least_named(states, len(boxed), last)
    names = {v: order[i] for i, v in enumerate(boxed)}
    trees, cross = _fillings(function, names, free, h ^ full if flipped else h)
    if partner is not None:
        cross = {f: bits | 1 << names[partner] for f, bits in cross.items()}
    after = _last_equal(np.array(named), len(boxed))
    place = -1 if partner is None else names[partner]
    return Plan(len(boxed), len(free), named, trees, cross, after, place)


@cache
def _least_named(
    states: tuple[int, ...], boxed: int, last: int | None
) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """The names that give the least states; many functions have one context.

    A partner is the last among its interchangeable variables, so that columns stay in order.
    """
    return min(
        (_named(states, order) for order in orders(classes(np.array(states), boxed, last))),
        key=lambda option: (option[0], 0 if last is None else -option[1][last]),
    )


def _named(
    states: tuple[int, ...], order: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """The states with variable i called order[i], the first open one upright; whether not."""
    named = [0] * len(states)
    for place, state in zip(_places(order).tolist(), states, strict=True):
        named[place] = state
    flipped = next(s for s in named if s >= OPEN) == OPEN_NEGATED
    if flipped:
        named = [s ^ 1 if s >= OPEN else s for s in named]
    return tuple(named), order, flipped


def _fillings(
    function: Function, names: dict[int, int], free: tuple[int, ...], h: int
) -> tuple[dict[int, Tree], dict[int, int]]:
    """Trees and interchangeable variables by the functions of x, or of x and y."""
    interchangeable = _interchangeable(function, names, free)
    x, y = len(names), len(names) + 1
    if len(free) == 1:
        f = 0 if h == 0b10 else 1
        return {f: rename(function.tree, names | {free[0]: x})}, {f: interchangeable}
    f = PAIRS[h]
    trees = {
        SWAPPED[f]: rename(function.tree, names | {free[1]: x, free[0]: y}),
        f: rename(function.tree, names | {free[0]: x, free[1]: y}),
    }
    return trees, dict.fromkeys(trees, interchangeable)


def _interchangeable(function: Function, names: dict[int, int], free: tuple[int, ...]) -> int:
    """Bits of the boxed variables that could be exchanged with any free variable."""
    bits = function.bits
    return sum(
        1 << name for v, name in names.items() if all(exchangeable(bits, v, x) for x in free)
    )


def _last_equal(states: NDArray[Any], boxed: int) -> tuple[int, ...]:
    """Of each variable the last earlier one that the context does not tell from it, or -1."""
    first = classes(states, boxed)
    return tuple(
        max((u for u in range(v) if first[u] == first[v]), default=-1) for v in range(boxed)
    )
