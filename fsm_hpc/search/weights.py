"""Weights of rows as whole numbers: exact where possible, else with a known error."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.objective import Objective, ObjectiveName

MOST = (1 << 24) - 1  # total weight of a class: the range of the native solver's scores
_FEW = 4096  # distinct weights up to which fractions are tried
_FINEST = 1_000_000  # largest denominator for a decimal number
_LARGEST = 1 << 62  # largest whole number
_TOLERATED = 0.01  # share of all weight that rounding may move

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Weighing:
    """A whole weight for each row, and the share of all weight that rounding moved.

    The share is 0 only if the whole weights have exactly the given ratios.
    """

    weights: Counts | None = None  # None: one each
    error: float = 0.0


def weigh(objective: Objective, labels: Truth, given: Numbers | None = None) -> Weighing:
    """The weight of an error on each row; `given` weights are positive."""
    if given is None and objective.name is ObjectiveName.ACCURACY:
        return Weighing()
    if given is not None and not np.isfinite(given).all():
        raise UserError("the weights of the rows: expected finite numbers, found infinity or NaN")
    values, codes = (
        (np.ones(1), np.zeros(len(labels), np.int64))
        if given is None
        else np.unique(given, return_inverse=True)
    )
    is_simple = len(values) <= _FEW or bool((values == np.rint(values)).all())
    counts = [np.bincount(codes[labels == side], minlength=len(values)) for side in (False, True)]
    if not is_simple:
        values = values / values.max()
        factors = _factors(objective, [float((values * side).sum()) for side in counts])
        largest = max(factors)
        made, error = _nearly([values * float(factor / largest) for factor in factors], counts)
        return Weighing(np.where(labels, made[1][codes], made[0][codes]), error)
    fractions = [as_fraction(value) for value in values.tolist()]
    factors = _factors(objective, [_total(fractions, side) for side in counts])
    by_side = [[fraction * Fraction(factor) for fraction in fractions] for factor in factors]
    whole, error = _whole(by_side, counts)
    return Weighing(np.where(labels, whole[1][codes], whole[0][codes]), error)


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Multiplicities of the rows in whole numbers; `one` is a row of weight 1."""

    counts: NDArray[Any]
    one: int


def row_counts(weights: Numbers) -> RowCounts:
    """Exactly the ratios of the weights, as Python's whole numbers where 64 bits are too few."""
    values, codes = np.unique(weights, return_inverse=True)
    fractions = [Fraction(value) for value in values.tolist()]
    if len(values) <= _FEW:
        simple = [as_fraction(value) for value in values.tolist()]
        fractions = simple if _denominator(simple) <= _LARGEST else fractions
    one = _denominator(fractions)
    whole = [int(fraction * one) for fraction in fractions]
    is_small = max(whole) * len(weights) < _LARGEST
    return RowCounts(np.array(whole, np.int64 if is_small else object)[codes], one)


def _denominator(fractions: Sequence[Fraction]) -> int:
    """The smallest common denominator, or some number above the range."""
    shared = 1
    for fraction in fractions:
        shared = math.lcm(shared, fraction.denominator)
        if shared > _LARGEST and fraction.denominator & (fraction.denominator - 1):
            break
    return shared


def as_given(objective: Objective, labels: Truth, given: Numbers | None) -> Numbers:
    """The weights as floats, in the given ratios up to float precision."""
    base = np.ones(len(labels)) if given is None else given / given.max()
    factors = _factors(objective, [float(base[labels == side].sum()) for side in (False, True)])
    of_class = [float(factor / max(factors)) for factor in factors]
    return np.asarray(base * np.where(labels, of_class[1], of_class[0]))


def as_fraction(value: float) -> Fraction:
    """The simplest fraction with this float: 0.1 is one tenth."""
    exact = Fraction(value)
    simple = exact.limit_denominator(_FINEST)
    return simple if float(simple) == value else exact


def _factors(
    objective: Objective, totals: Sequence[Fraction | float]
) -> tuple[Fraction | float, Fraction | float]:
    """The factors of negative and positive rows beside their weights; `totals` by class."""
    if objective.name is ObjectiveName.COSTS:
        assert objective.false_positive is not None
        assert objective.false_negative is not None
        return as_fraction(objective.false_positive), as_fraction(objective.false_negative)
    if objective.name is ObjectiveName.BALANCED and all(totals):
        return totals[1], totals[0]
    return Fraction(1), Fraction(1)  # a single class is balanced


def _total(fractions: Sequence[Fraction], counts: Counts) -> Fraction:
    pairs = zip(fractions, counts.tolist(), strict=True)
    return sum((fraction * count for fraction, count in pairs if count), Fraction(0))


def _whole(
    by_side: Sequence[Sequence[Fraction]], counts: Sequence[Counts]
) -> tuple[list[Counts], float]:
    """Whole numbers in the same ratios, rounded where they would be too large."""
    used = [
        weight
        for weights, count in zip(by_side, counts, strict=True)
        for weight, rows in zip(weights, count.tolist(), strict=True)
        if rows
    ]
    unit = _unit(used)
    if unit is not None:
        totals = [_total(w, c) for w, c in zip(by_side, counts, strict=True)]
        if max(totals) / unit <= MOST:
            return [_rounded(weights, unit) for weights in by_side], 0.0
    largest = max(used)
    shares = [np.array([float(min(Fraction(1), w / largest)) for w in side]) for side in by_side]
    return _nearly(shares, counts)


def _nearly(by_side: Sequence[Numbers], counts: Sequence[Counts]) -> tuple[list[Counts], float]:
    """The nearest whole numbers in range, none of them 0, and the share of weight they move."""
    totals = [float((w * c).sum()) for w, c in zip(by_side, counts, strict=True)]
    rows = max(int(count.sum()) for count in counts)
    unit = max(totals) / max(1, MOST - rows)  # rounding up adds one at most to each row
    whole = [np.maximum(1, np.rint(weights / unit)).astype(np.int64) for weights in by_side]
    moved = sum(
        float((np.abs(made * unit - weights) * count).sum())
        for made, weights, count in zip(whole, by_side, counts, strict=True)
    )
    error = max(moved / sum(totals), sys.float_info.min)  # floats cannot show that it is none
    if error > _TOLERATED or rows >= MOST:
        raise UserError(
            f"the weights of the rows: expected whole numbers with a sum of at most {MOST:,} in "
            f"each class, found weights of which rounding moves {100 * error:.1f} %; use weights "
            "that differ less"
        )
    return whole, error


def _unit(weights: Sequence[Fraction]) -> Fraction | None:
    """The greatest common divisor; None above the range."""
    shared = 1
    for weight in weights:
        shared = math.lcm(shared, weight.denominator)
        if shared > _LARGEST:
            return None
    return Fraction(math.gcd(*(int(weight * shared) for weight in weights)), shared)


def _rounded(weights: Sequence[Fraction], unit: Fraction) -> Counts:
    return np.array([max(1, round(weight / unit)) for weight in weights], np.int64)
