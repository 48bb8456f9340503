"""The functions of a size over sorted literals, as trees over the bytes of their truth tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.truth_table import steady
from fsm_hpc.search.solvers.native.kernels.shapes import GROUP, FunctionTree
from fsm_hpc.search.solvers.native.plans import Plan, plans
from fsm_hpc.search.solvers.native.table import Array


@dataclass(frozen=True, slots=True)
class Listed:
    """Functions in canonical order: by plan, places of the variables, and free function."""

    plans: Array
    fillings: Array
    places: Array  # function x variable: which of the sorted literals it is
    truths: Array  # function x cell


@cache
def literal_counts(size: int, language: Language) -> tuple[int, ...]:
    """How many literals the functions of a size have, the fewest first."""
    return tuple(sorted({_count(plan) for plan in plans(size, False, language)}))


def _count(plan: Plan) -> int:
    return plan.boxed + plan.free


@cache
def function_tree(size: int, language: Language, variables: int) -> FunctionTree:
    """All functions of so many literals, with every way to name their variables once.

    A plan is known by its place among `plans`.
    """
    parts = [
        Listed(np.full(len(places), number), fillings, places, truths)
        for number, plan in enumerate(plans(size, False, language))
        if _count(plan) == variables
        for fillings, places, truths in [_of_plan(plan)]
    ]
    return tree_of(variables, parts)


def tree_of(variables: int, parts: Sequence[Listed]) -> FunctionTree:
    """The tree of these functions, in canonical order."""
    names = ("plans", "fillings", "places", "truths")
    joined = {n: np.concatenate([getattr(one, n) for one in parts]) for n in names}
    # the first that says the same of every set stands for all
    kept = np.sort(np.unique(np.packbits(joined["truths"], axis=1), axis=0, return_index=True)[1])
    plan, filling, places, truths = (joined[name][kept] for name in names)
    filling = filling.astype(np.int32)  # one type, so that kernels are compiled once
    rises, falls = steady(truths)
    values, first, end, roots = _tree(_bytes(truths))
    return FunctionTree(variables, values, first, end, roots, plan, filling, places, rises, falls)


def _of_plan(plan: Plan) -> tuple[Array, Array, Array]:
    """Fillings, places and truths of all that a plan makes of sorted literals, in order."""
    fillings, places, truths = [], [], []
    for f in sorted(plan.trees):
        found = _places(plan, f)
        fillings.append(np.full(len(found), f, np.int32))
        places.append(found)
        truths.append(placed(plan.truth(f), found))
    every = np.concatenate(places)
    order = np.lexsort((np.concatenate(fillings), *every.T[::-1]))
    return np.concatenate(fillings)[order], every[order], np.concatenate(truths)[order]


def _places(plan: Plan, f: int) -> Array:
    """The ways to give sorted literals to the variables, interchangeable ones in one order only."""
    count = _count(plan)
    found = np.zeros((1, 0), np.int8)
    for variable in range(count):
        earlier = list(_earlier(plan, f, variable))
        found = np.concatenate(
            [np.hstack([found, np.full((len(found), 1), place, np.int8)]) for place in range(count)]
        )
        new = found[:, -1:]
        fits = (found[:, :-1] != new).all(axis=1) & (found[:, earlier] < new).all(axis=1)
        found = found[fits]
    return found


def _earlier(plan: Plan, f: int, variable: int) -> Iterator[int]:
    """The variables whose literal has to come before that of this one."""
    if variable < plan.boxed:
        if plan.after[variable] >= 0:
            yield plan.after[variable]
    else:
        yield from (i for i in range(plan.boxed) if plan.cross[f] >> i & 1)
        yield from range(plan.boxed, variable)


def placed(truth: Array, places: Array) -> Array:
    """Truth tables over the sorted literals: bit p of a cell is the literal at place p."""
    cells = np.arange(len(truth))
    source = np.zeros((len(places), len(truth)), np.int32)
    for variable, place in enumerate(places.T):
        source |= (cells >> place[:, None] & 1).astype(np.int32) << variable
    return np.asarray(truth[source])


def _bytes(truths: Array) -> Array:
    missing = max(0, GROUP - truths.shape[1])
    return np.packbits(np.pad(truths, ((0, 0), (0, missing))), axis=1, bitorder="little")


def _tree(codes: Array) -> tuple[Array, Array, Array, int]:
    """Nodes by level: the byte of each, and where its children are; leaves say which function."""
    order = np.lexsort(codes.T[::-1])
    codes = codes[order]
    is_new = np.zeros(len(codes), bool)
    is_new[:1] = True
    levels = []
    for level in range(codes.shape[1]):
        is_new[1:] |= codes[1:, level] != codes[:-1, level]
        levels.append(np.flatnonzero(is_new))
    starts = np.concatenate(([0], np.cumsum([len(level) for level in levels])))
    values = np.concatenate([codes[at, level] for level, at in enumerate(levels)])
    first, end = np.zeros((2, len(values)), np.int32)
    for level, at in enumerate(levels):
        here = slice(starts[level], starts[level + 1])
        if level + 1 < len(levels):
            first[here] = starts[level + 1] + np.searchsorted(levels[level + 1], at)
            end[here] = np.append(first[here][1:], starts[level + 2])
        else:
            first[here] = order[at]
    return values, first, end, len(levels[0])
