"""The optimum by trying everything: every choice of cuts, every formula; for tiny tables only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from fsm_hpc.formulas.connectives import CONNECTIVES
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.grammar import FORMULA, PROPOSITION, Production
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.features import NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem


def fewest_errors(problem: Problem, length: int) -> list[int]:
    """For every bound 1..length the fewest errors of any formula within it."""
    weights = [1] * problem.rows if problem.weights is None else problem.weights.tolist()
    return least_weight(problem, length, weights)


def least_weight(problem: Problem, length: int, weights: Sequence[Any]) -> list[Any]:
    """The same where an error on a row counts what its weight says: any kind of number."""
    found: list[set[int]] = [set() for _ in range(length)]
    fixed = [b.proposition for b in problem.booleans]
    for cuts in itertools.product(*map(cuts_of, problem.numerics)):
        for size, masks in enumerate(_truths(problem, [*fixed, *cuts], length)):
            found[size] |= masks
    labels, everything = _mask(problem.labels), sum(weights)
    best = [
        min((_weight(m ^ labels, weights) for m in masks), default=everything) for masks in found
    ]
    return [min(best[: size + 1]) for size in range(length)]


def _weight(wrong: int, weights: Sequence[Any]) -> Any:
    return sum(weight for row, weight in enumerate(weights) if wrong >> row & 1)


def smallest_size(problem: Problem, length: int) -> int:
    """The size of the smallest formula with the fewest errors within the bound."""
    errors = fewest_errors(problem, length)
    return errors.index(errors[-1]) + 1


def cuts_of(feature: NumericFeature) -> Iterator[Proposition]:
    values = range(len(feature.thresholds))
    if feature.method is Method.PIVOT:
        return (feature.proposition(low) for low in values)
    pairs = itertools.combinations_with_replacement(values, 2)
    return (feature.proposition(low, high) for low, high in pairs)


def _truths(problem: Problem, propositions: list[Proposition], length: int) -> list[set[int]]:
    """By size, the truth vectors that need that size: those of smaller formulas are left out."""
    atoms = {_mask(p.evaluate(problem.table)) for p in propositions}
    return truths(atoms, problem.rows, problem.language, length)


def truths(atoms: set[int], rows: int, language: Language, length: int) -> list[set[int]]:
    """The same over atoms that are given as truth vectors, from the table of the language."""
    kinds: dict[str, list[set[int]]] = {kind: [] for kind in language.grammar}
    kinds[PROPOSITION] = [atoms, *(set() for _ in range(length - 1))]
    seen: dict[str, set[int]] = {kind: set() for kind in kinds}
    for size in range(1, length + 1):
        for kind in [*language.grammar][::-1]:  # types that others include come last
            new: set[int] = set()
            for one in language.grammar[kind]:
                if isinstance(one, str):
                    new |= kinds[one][size - 1]
                else:
                    new |= _made(one, kinds, size, rows)
            kinds[kind].append(new - seen[kind])
            seen[kind] |= new
    return kinds[FORMULA]


def _made(one: Production, kinds: dict[str, list[set[int]]], size: int, rows: int) -> set[int]:
    """What a connective makes of smaller parts."""
    full = (1 << rows) - 1
    if one.is_list:
        return _thresholds(one.connective, kinds[one.parts[0]], size, rows)
    join = joining(one.connective, len(one.parts))
    if len(one.parts) == 1:
        return {join(full, a) for a in kinds[one.parts[0]][size - 2]} if size > 1 else set()
    left, right = one.parts
    return {
        join(full, a, b)
        for first in range(1, size - 1)
        for a in kinds[left][first - 1]
        for b in kinds[right][size - 2 - first]
    }


@cache
def joining(name: str, count: int) -> Callable[..., int]:
    """A connective on truth vectors: all cells in which it is true, or all but the others."""
    made = CONNECTIVES[name](*[Atom(Proposition("p"))] * count)
    by_value: dict[bool, list[str]] = {False: [], True: []}
    for values in itertools.product((False, True), repeat=count):
        signs = (v if value else f"(full ^ {v})" for v, value in zip("ab", values, strict=False))
        by_value[bool(made.joined(values))].append(" & ".join(signs))
    is_short = len(by_value[True]) <= len(by_value[False])
    cells = " | ".join(by_value[is_short]) or "0"
    text = cells if is_short else f"full ^ ({cells})"
    found: Callable[..., int] = eval(f"lambda full, a, b=0: {text}")
    return found


def _thresholds(name: str, literals: list[set[int]], size: int, rows: int) -> set[int]:
    """At least k of n: by what the literals cost, how many hold on each row."""
    listed: list[set[tuple[int, ...]]] = [{(0,) * (rows + 1)}]  # the last entry: how many
    for cost in range(1, size):
        longer = set()
        for own in range(1, cost + 1):
            for mask in literals[own - 1]:
                more = (*((mask >> row) & 1 for row in range(rows)), 1)
                for sums in listed[cost - own]:
                    longer.add(tuple(a + b for a, b in zip(sums, more, strict=True)))
        listed.append(longer)
    assert name == "at_least"
    return {
        sum((some >= count) << row for row, some in enumerate(held))
        for *held, number in listed[size - 1]
        if number >= 2
        for count in range(1, number + 1)
    }


def _mask(truth: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")
