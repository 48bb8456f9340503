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

Worth = NDArray[Any]  # of each row: what it weighs where its label is true, else minus that
SIMPLE_SIZE = 4  # of `p or not p`
FALSE, TRUE = 0b00, 0b11  # truth tables of one proposition
BOTH, EITHER = 0b1000, 0b1110  # and of two
LITERAL_SIZE = 2  # of `not p`
MISSING_SIZE = 3  # of `p and p is missing`


def best_simple(problem: Problem, length: int, worth: Worth) -> Formula | None:
    """The literal or constant that is worth most; None where none may be used."""
    found = [*_plain(problem, worth), *(_negated(problem, worth) if length > 1 else ())]
    allowed = [one for one in found if problem.meets_constraints(one)]
    allowed += (one for size in range(1, length + 1) for one in constants(problem, size))
    values = [float(worth[one.evaluate(problem.table)].sum()) for one in allowed]
    return allowed[int(np.argmax(values))] if allowed else None


def worth_of(problem: Problem) -> Worth:
    """By the weights that were given, also where those for solvers had to be rounded."""
    weights: Worth = problem.weights if problem.weights is not None else np.ones(problem.rows, int)
    if not problem.has_exact_weights:
        weights = as_given(problem.objective, problem.labels, problem.given)
    return np.where(problem.labels, weights, -weights)


def _plain(problem: Problem, worth: Worth) -> Iterator[Formula]:
    yield from (Atom(boolean.proposition) for boolean in problem.booleans)
    yield from (Atom(_best_cut(numeric, worth)) for numeric in problem.numerics)


def _negated(problem: Problem, worth: Worth) -> Iterator[Formula]:
    return (Not(one) for one in _plain(problem, -worth))


def constants(problem: Problem, size: int) -> Iterator[Formula]:
    """Formulas of that size that are the same on every row, whatever the columns are."""
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

    None where the language or a constraint excludes one: the search needs both constants.
    """
    holes = {b.proposition.column: b for b in problem.booleans if b.says_missing}
    for numeric in problem.numerics:
        hole = holes.get(numeric.column)
        is_whole = numeric.between is None and hole is not None
        if is_whole and hole and ((numeric.ranks == BELOW) == hole.holds).all():
            made = _both_and_either(problem.language, numeric.proposition(0), hole.proposition)
            return made if made and all(map(problem.meets_constraints, made)) else ()
    return ()


def _both_and_either(language: Language, p: Proposition, q: Proposition) -> tuple[Formula, ...]:
    """`p and q`, `p or q` as the language writes them; none where it lacks one."""
    known = smallest_formulas(language, 2)
    named = dict(zip(NAMES, (p, q), strict=True))
    if BOTH not in known or EITHER not in known:
        return ()
    return tuple(replaced(known[t], lambda one: named[one.column]) for t in (BOTH, EITHER))


def _best_cut(feature: NumericFeature, worth: Worth) -> Proposition:
    """The cut, or the interval, whose rows are worth most."""
    between = np.zeros(len(worth), bool) if feature.between is None else feature.between
    at, after = (_by_rank(feature, np.where(rows, worth, 0)) for rows in (~between, between))
    if feature.method is Method.PIVOT:
        return feature.proposition(int(np.argmax(np.cumsum((at + after)[::-1])[::-1])))
    # what rows up to a cut are worth, and those before it
    upto = np.cumsum(at) + np.cumsum(after) - after
    before = np.cumsum(at + after) - at - after
    first, last = feature.reach.T
    low = int(np.argmax(_greatest(upto, first, last) - before))
    high = int(first[low] + np.argmax(upto[first[low] : last[low] + 1]))
    return feature.proposition(low, high)


def _greatest(values: NDArray[Any], first: NDArray[Any], last: NDArray[Any]) -> NDArray[Any]:
    """The greatest of the values from `first` to `last`, for each pair; -inf where none is."""
    found = np.full(len(first), -np.inf)
    width = last - first + 1
    block = 1  # `values`: the greatest of so many from each place on
    while block <= len(found):
        is_next = (width >= block) & (width < 2 * block)
        starts, ends = first[is_next], last[is_next] - block + 1
        found[is_next] = np.maximum(values[starts], values[ends])
        values = np.maximum(
            values, np.append(values[block:], np.full(block, -np.inf))[: len(values)]
        )
        block *= 2
    return found


def _by_rank(feature: NumericFeature, worth: Worth) -> NDArray[np.float64]:
    """The sum over the rows of each rank, those below all cuts left out."""
    reached = feature.ranks != BELOW
    found = np.bincount(feature.ranks[reached], worth[reached], len(feature.thresholds))
    return np.asarray(found, np.float64)
