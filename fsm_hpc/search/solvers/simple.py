"""Formulas that need no search: the best single proposition, and the constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.connectives import AtLeast
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition, Truth
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.features import BELOW, NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem

Worth = NDArray[np.int_]  # of each row: 1 where its label is true, else -1


def best_proposition(problem: Problem) -> Formula:
    """The formula of size 1 with the fewest errors."""
    fixed = [boolean.proposition for boolean in problem.booleans]
    cut = [_best_cut(problem, numeric) for numeric in problem.numerics]
    formulas = [Atom(proposition) for proposition in fixed + cut]
    return min(formulas, key=problem.errors)


def constants(problem: Problem, size: int) -> Iterator[Formula]:
    """`p and not p`, `p or not p`, which canonical.lp leaves out: the same of every row, size 4."""
    if size == 4 and problem.language is Language.PAPER and not problem.constraints.require:
        literal = Atom(next(problem.shortest.propositions()))
        yield And(literal, Not(literal))
        yield Or(literal, Not(literal))


def missing_constants(problem: Problem) -> tuple[Formula, ...]:
    """`p and p is missing`, `p or p is missing` of a column whose values are kept: size 3.

    None where the language or a constraint excludes one: the search needs both constants.
    """
    holes = {b.proposition.column: b for b in problem.booleans if b.says_missing}
    for numeric in problem.numerics:
        hole = holes.get(numeric.column)
        is_whole = numeric.between is None and hole is not None
        if is_whole and hole and ((numeric.ranks == BELOW) == hole.holds).all():
            parts = Atom(numeric.proposition(0)), Atom(hole.proposition)
            made = _joined(problem.language, parts)
            is_allowed = (problem.language.has(f) and problem.obeys(f) for f in made)
            return made if all(is_allowed) else ()
    return ()


def _joined(language: Language, parts: tuple[Atom, Atom]) -> tuple[Formula, Formula]:
    if language is Language.AT_LEAST:
        return AtLeast(2, *parts), AtLeast(1, *parts)
    return And(*parts), Or(*parts)


def _best_cut(problem: Problem, feature: NumericFeature) -> Proposition:
    """The cut that agrees with most labels: a suffix of the ranks, or a run of them."""
    worth = np.where(problem.labels, 1, -1)
    if problem.weights is not None:
        worth = worth * problem.weights
    gains = _by_rank(feature, worth)
    if feature.method is Method.PIVOT:
        return feature.proposition(int(np.argmax(np.cumsum(gains[::-1])[::-1])))
    if feature.between is not None:
        return feature.proposition(*_best_reach(feature, feature.between, worth))
    sums = np.concatenate([[0], np.cumsum(gains)])
    lowest = np.minimum.accumulate(sums[:-1])
    high = int(np.argmax(sums[1:] - lowest))
    return feature.proposition(int(np.argmin(sums[: high + 1])), high)


def _best_reach(feature: NumericFeature, between: Truth, worth: Worth) -> tuple[int, int]:
    """The same where rows lie between cuts: an interval has them if it reaches the upper one."""
    at = _by_rank(feature, np.where(between, 0, worth)).tolist()
    after = [0.0, *_by_rank(feature, np.where(between, worth, 0)).tolist()]
    best, chosen = -np.inf, (0, 0)
    run, low = -np.inf, 0
    for rank, (gain, gap) in enumerate(zip(at, after, strict=False)):
        run, low = (run + gap + gain, low) if run + gap > 0 else (gain, rank)
        if run > best:
            best, chosen = run, (low, rank)
    return chosen


def _by_rank(feature: NumericFeature, worth: Worth) -> NDArray[np.float64]:
    """The sum over the rows of each rank, those below all cuts left out."""
    reached = feature.ranks != BELOW
    found = np.bincount(feature.ranks[reached], worth[reached], len(feature.cuts))
    return np.asarray(found, np.float64)
