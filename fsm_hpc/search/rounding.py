"""Rewrite the thresholds of a formula: the middle of a gap, or its roundest number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Formula, Proposition, Relation
from fsm_hpc.formulas.truth_table import replaced
from fsm_hpc.search.cuts import CutRule
from fsm_hpc.search.problem import Problem

_ENOUGH_DIGITS = 1000  # for exact sums of the largest and the smallest float
Chosen = Callable[[float, float], float]  # a number in a gap, from its observed and its other end
_WITH_THRESHOLDS = (Relation.AT_LEAST, Relation.WITHIN)


def written(problem: Problem, formula: Formula) -> Formula:
    """The formula with thresholds by the rule; its value on every fitted row stays."""
    if not problem.cuts.rule.rewrites:
        return formula
    chosen = middle if problem.cuts.rule is CutRule.MIDPOINTS else roundest
    return _moved(problem, formula, chosen)


def snapped(problem: Problem, formula: Formula) -> Formula:
    """The formula with rewritten thresholds moved back to observed values."""
    if not problem.cuts.rule.rewrites:
        return formula
    return _moved(problem, formula, lambda kept, other: kept)


def _moved(problem: Problem, formula: Formula, chosen: Chosen) -> Formula:
    def again(p: Proposition) -> Proposition:
        if p.relation not in _WITH_THRESHOLDS:
            return p
        values = problem.observed.get(p.column)
        if values is None:
            return p
        low = _low_end(values, p.low, chosen)
        if p.relation is Relation.AT_LEAST:
            return p.moved(low=low)
        return p.moved(low=low, high=_high_end(values, p.high, chosen))

    return replaced(formula, again)


def within_slack(problem: Problem, formula: Formula) -> Formula:
    """The formula with rounder thresholds, one after the other, within the allowed errors."""
    cuts = problem.cuts
    if cuts.rule is not CutRule.ROUNDED or not cuts.slack:
        return formula
    errors, one = problem.errors_in_rows(formula)
    most = errors + cuts.slack * one
    for proposition in dict.fromkeys(formula.propositions()):
        if proposition.relation in _WITH_THRESHOLDS:
            formula = _rounder(problem, formula, proposition, most)
    return formula


def before(problem: Problem, found: Formula, rounded: Formula) -> dict[str, Any] | None:
    """The formula before rounding with its errors, if rounding changed it."""
    if found == rounded:
        return None
    return {"formula": str(found), "errors": problem.errors(found)}


# ---------------------------------------------------------------------------------------- gaps


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that divide the fitted rows in the same way: between two values, or the kept one."""

    kept: float
    other: float

    def holds(self, number: float) -> bool:
        low, high = sorted((self.kept, self.other))
        return low < number < high or number == self.kept


def _low_end(values: NDArray[Any], threshold: float, chosen: Chosen) -> float:
    """Another number for `value >= threshold`."""
    at = int(np.searchsorted(values, threshold, side="left"))
    return _within_gap(values, at, at - 1, chosen, threshold)


def _high_end(values: NDArray[Any], threshold: float, chosen: Chosen) -> float:
    """Another number for `value <= threshold`."""
    at = int(np.searchsorted(values, threshold, side="right"))
    return _within_gap(values, at - 1, at, chosen, threshold)


def _within_gap(
    values: NDArray[Any], kept: int, other: int, chosen: Chosen, threshold: float
) -> float:
    """A number of the gap between two values; the threshold itself beyond the last value."""
    if not 0 < max(kept, other) < len(values):
        return threshold
    gap = Gap(float(values[kept]), float(values[other]))
    number = chosen(gap.kept, gap.other)
    return number if gap.holds(number) else gap.kept


def middle(kept: float, other: float) -> float:
    """The exact middle of two decimal numbers: 4.69 between 4.68 and 4.70."""
    with localcontext() as context:
        context.prec = _ENOUGH_DIGITS
        return float((Decimal(repr(kept)) + Decimal(repr(other))) / 2)


def roundest(kept: float, other: float) -> float:
    """The multiple of the largest 5 or 1 with zeros in the gap, the one nearest to its middle."""
    low, high = sorted((kept, other))
    centre = Decimal(repr(middle(kept, other)))
    top = Decimal(repr(max(abs(low), abs(high)))).adjusted() + 1
    for step in _steps(top):
        inside = [n for n in _multiples(step, low, high) if Gap(kept, other).holds(float(n))]
        if inside:
            return float(min(inside, key=lambda n: (abs(n - centre), n)))
    return kept


def _steps(top: int) -> Iterator[Decimal]:
    """500, 100, 50, 10, 5, 1, 0.5, ...: down to the last digit of a float."""
    for power in range(top, top - 20, -1):
        yield Decimal((0, (5,), power))
        yield Decimal((0, (1,), power))


def _multiples(step: Decimal, low: float, high: float) -> Iterator[Decimal]:
    """The multiples nearest to the ends and the middle of a range."""
    with localcontext() as context:
        context.prec = 60
        ends = Decimal(repr(low)) / step, Decimal(repr(high)) / step
        first = int(ends[0].to_integral_value(ROUND_CEILING))
        last = int(ends[1].to_integral_value(ROUND_FLOOR))
        around = (first + last) // 2
        for times in sorted({first, *range(around - 5, around + 6), last}):
            if first <= times <= last:
                yield step * times


# --------------------------------------------------------------------------------------- slack


def _rounder(problem: Problem, formula: Formula, p: Proposition, most: int) -> Formula:
    """The formula with the roundest ends of one proposition within the allowed errors."""
    lows = _with_ends(lambda number: p.moved(low=number), p.low)
    formula, moved = _first_within(problem, formula, p, lows, most)
    if p.relation is Relation.WITHIN:
        highs = _with_ends(lambda number: moved.moved(high=number), p.high)
        formula, _ = _first_within(problem, formula, moved, highs, most)
    return formula


def _with_ends(changed: Callable[[float], Proposition], threshold: float) -> Iterator[Proposition]:
    tried = map(changed, _by_roundness(threshold))
    return (q for q in tried if q.relation is not Relation.WITHIN or q.low <= q.high)


def _first_within(
    problem: Problem, formula: Formula, old: Proposition, new: Iterator[Proposition], most: int
) -> tuple[Formula, Proposition]:
    """The formula with the first new proposition within the allowed errors, else unchanged."""
    for other in new:
        tried = replaced(formula, {old: other}.get)
        if problem.errors_in_rows(tried)[0] <= most and problem.meets_constraints(tried):
            return tried, other
    return formula, old


def _by_roundness(threshold: float) -> Iterator[float]:
    """Multiples of ever smaller steps next to the threshold, up to the threshold itself."""
    exact = Decimal(repr(threshold))
    for step in _steps(exact.adjusted()):
        times = (exact / step).to_integral_value(ROUND_FLOOR)
        around = (step * times, step * (times + 1))
        for number in sorted(around, key=lambda n: abs(n - exact)):
            is_finite = math.isfinite(float(number))  # floats end at 1.8e308
            if is_finite and (number != 0 or threshold == 0):  # 0 is a multiple of everything
                yield float(number)
        if exact in around:
            return
