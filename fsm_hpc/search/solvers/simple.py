"""Formulas that need no search: the best single proposition, and the constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import NumericFeature, Problem


def best_proposition(problem: Problem) -> Formula:
    """The formula of size 1 with the fewest errors."""
    fixed = [boolean.proposition for boolean in problem.booleans]
    cut = [_best_cut(problem, numeric) for numeric in problem.numerics]
    formulas = [Atom(proposition) for proposition in fixed + cut]
    return min(formulas, key=problem.errors)


def constants(problem: Problem, size: int) -> Iterator[Formula]:
    """`p and not p`, `p or not p`: what says the same of every row, at size 4."""
    if size == 4:
        proposition = next(best_proposition(problem).propositions())
        literal = Atom(proposition)
        yield And(literal, Not(literal))
        yield Or(literal, Not(literal))


def _best_cut(problem: Problem, feature: NumericFeature) -> Proposition:
    """The cut that agrees with most labels: a suffix of the ranks, or a run of them."""
    gains = np.bincount(feature.ranks, np.where(problem.labels, 1, -1), len(feature.cuts))
    if feature.method is Method.PIVOT:
        return feature.proposition(int(np.argmax(np.cumsum(gains[::-1])[::-1])))
    sums = np.concatenate([[0], np.cumsum(gains)])
    lowest = np.minimum.accumulate(sums[:-1])
    high = int(np.argmax(sums[1:] - lowest))
    return feature.proposition(int(np.argmin(sums[: high + 1])), high)
