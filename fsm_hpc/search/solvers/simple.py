"""Formulas that need no search: the best single literal, and the constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Atom, Formula, Not, Proposition
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.smallest import NAMES, smallest_formulas
from fsm_hpc.formulas.truth_table import replaced
from fsm_hpc.search.features import BELOW, NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.weights import as_given

Worth = NDArray[Any]  # of each row: its weight if its label is true, else minus its weight
SIMPLE_SIZE = 4  # of `p or not p`
FALSE, TRUE = 0b00, 0b11  # truth tables of one proposition
BOTH, EITHER = 0b1000, 0b1110  # and of two
LITERAL_SIZE = 2  # of `not p`
MISSING_SIZE = 3  # of `p and p is missing`


def best_simple(problem: Problem, length: int, worth: Worth) -> Formula | None:
    """The literal or constant with the highest score; None if none is allowed."""
    literals = [*_plain(problem, worth), *(_negated(problem, worth) if length > 1 else ())]
    allowed = [literal for literal in literals if problem.meets_constraints(literal)]
    allowed += (f for size in range(1, length + 1) for f in constants(problem, size))
    scores = [float(worth[formula.evaluate(problem.table)].sum()) for formula in allowed]
    return allowed[int(np.argmax(scores))] if allowed else None


def worth_of(problem: Problem) -> Worth:
    """By the given weights, also if those for solvers were rounded."""
    weights: Worth = problem.weights if problem.weights is not None else np.ones(problem.rows, int)
    if not problem.has_exact_weights:
        weights = as_given(problem.objective, problem.labels, problem.given)
    return np.where(problem.labels, weights, -weights)


def _plain(problem: Problem, worth: Worth) -> Iterator[Formula]:
    yield from (Atom(boolean.proposition) for boolean in problem.booleans)
    yield from (Atom(_best_threshold(numeric, worth)) for numeric in problem.numerics)


def _negated(problem: Problem, worth: Worth) -> Iterator[Formula]:
    return (Not(literal) for literal in _plain(problem, -worth))


def constants(problem: Problem, size: int) -> Iterator[Formula]:
    """Formulas of that size that are constant for any values of the columns."""
    if not problem.features:
        return
    known = smallest_formulas(problem.language, 1)
    used = next(problem.shortest.propositions())
    for truth in (FALSE, TRUE):
        if truth in known and known[truth].size == size:
            formula = replaced(known[truth], lambda _: used)
            if problem.meets_constraints(formula):
                yield formula


def missing_constants(problem: Problem) -> tuple[Formula, ...]:
    """`p and p is missing`, `p or p is missing` of a column whose values are kept: size 3.

    Empty if the language or a constraint excludes one: the search needs both.
    """
    indicators = {b.proposition.column: b for b in problem.booleans if b.is_missing_indicator}
    for numeric in problem.numerics:
        indicator = indicators.get(numeric.column)
        if indicator is None or numeric.between is not None:
            continue
        if ((numeric.ranks == BELOW) == indicator.holds).all():
            pair = (numeric.proposition(0), indicator.proposition)
            constants = _both_and_either(problem.language, *pair)
            return constants if all(map(problem.meets_constraints, constants)) else ()
    return ()


def _both_and_either(language: Language, p: Proposition, q: Proposition) -> tuple[Formula, ...]:
    """`p and q`, `p or q` in the language; empty if it lacks one."""
    known = smallest_formulas(language, 2)
    named = dict(zip(NAMES, (p, q), strict=True))
    if BOTH not in known or EITHER not in known:
        return ()
    return tuple(replaced(known[t], lambda p: named[p.column]) for t in (BOTH, EITHER))


def _best_threshold(feature: NumericFeature, worth: Worth) -> Proposition:
    """The threshold, or the interval, with the highest score."""
    between = np.zeros(len(worth), bool) if feature.between is None else feature.between
    at, after = (_by_rank(feature, np.where(rows, worth, 0)) for rows in (~between, between))
    if feature.method is Method.PIVOT:
        return feature.proposition(int(np.argmax(np.cumsum((at + after)[::-1])[::-1])))
    # sums over the rows up to a threshold, and over those before it
    upto = np.cumsum(at) + np.cumsum(after) - after
    before = np.cumsum(at + after) - at - after
    first, last = feature.reach.T
    low = int(np.argmax(_greatest(upto, first, last) - before))
    high = int(first[low] + np.argmax(upto[first[low] : last[low] + 1]))
    return feature.proposition(low, high)


def _greatest(values: NDArray[Any], first: NDArray[Any], last: NDArray[Any]) -> NDArray[Any]:
    """The maximum of the values from `first` to `last`, for each pair; -inf for empty ranges."""
    maxima = np.full(len(first), -np.inf)
    width = last - first + 1
    block = 1  # `values`: the maximum of so many values from each index on
    while block <= len(maxima):
        is_next = (width >= block) & (width < 2 * block)
        starts, ends = first[is_next], last[is_next] - block + 1
        maxima[is_next] = np.maximum(values[starts], values[ends])
        values = np.maximum(
            values, np.append(values[block:], np.full(block, -np.inf))[: len(values)]
        )
        block *= 2
    return maxima


def _by_rank(feature: NumericFeature, worth: Worth) -> NDArray[np.float64]:
    """The sum over the rows of each rank, without rows below all thresholds."""
    reached = feature.ranks != BELOW
    sums = np.bincount(feature.ranks[reached], worth[reached], len(feature.thresholds))
    return np.asarray(sums, np.float64)
