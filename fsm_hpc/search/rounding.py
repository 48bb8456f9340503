"""Write the cuts of a formula anew: the middle of a gap, or its roundest number."""

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
Chosen = Callable[[float, float], float]  # a number of a gap, from its kept and its other end
_CUT = (Relation.AT_LEAST, Relation.WITHIN)


def written(problem: Problem, formula: Formula) -> Formula:
    """The formula with its cuts as the rule wants them; it says the same of every fitted row."""
    if not problem.cuts.rule.rewrites:
        return formula
    chosen = middle if problem.cuts.rule is CutRule.MIDPOINTS else roundest
    return _moved(problem, formula, chosen)


def snapped(problem: Problem, formula: Formula) -> Formula:
    """The formula with its cuts at observed values again, where the rule had moved them."""
    if not problem.cuts.rule.rewrites:
        return formula
    return _moved(problem, formula, lambda kept, other: kept)


def _moved(problem: Problem, formula: Formula, chosen: Chosen) -> Formula:
    def again(p: Proposition) -> Proposition:
        if p.relation not in _CUT:
            return p
        values = problem.observed.get(p.column)
        if values is None:
            return p
        low = _number(_gap_below(values, p.low), chosen, p.low)
        if p.relation is Relation.AT_LEAST:
            return p.moved(low=low)
        return p.moved(low=low, high=_number(_gap_above(values, p.high), chosen, p.high))

    return replaced(formula, again)


def within_slack(problem: Problem, formula: Formula) -> Formula:
    """The formula with rounder cuts yet, one after the other, as far as the slack allows."""
    cuts = problem.cuts
    if cuts.rule is not CutRule.ROUNDED or not cuts.slack:
        return formula
    errors, one = problem.errors_in_rows(formula)
    most = errors + cuts.slack * one
    for proposition in dict.fromkeys(formula.propositions()):
        if proposition.relation in _CUT:
            formula = _rounder(problem, formula, proposition, most)
    return formula


def before(problem: Problem, found: Formula, rounded: Formula) -> dict[str, Any] | None:
    """What a result says of the formula whose cuts were rounded, where that cost errors."""
    if found == rounded:
        return None
    return {"formula": str(found), "errors": problem.errors(found)}


# ---------------------------------------------------------------------------------------- gaps


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that part the fitted rows alike: all between two values, and the kept one of them."""

    kept: float
    other: float

    def holds(self, number: float) -> bool:
        low, high = sorted((self.kept, self.other))
        return low < number < high or number == self.kept


def _gap_below(values: NDArray[Any], cut: float) -> Gap | None:
    """Where `value >= cut` may be cut as well; None beyond the last value."""
    at = int(np.searchsorted(values, cut, side="left"))
    return Gap(float(values[at]), float(values[at - 1])) if 0 < at < len(values) else None


def _gap_above(values: NDArray[Any], cut: float) -> Gap | None:
    """Where `value <= cut` may be cut as well."""
    at = int(np.searchsorted(values, cut, side="right"))
    return Gap(float(values[at - 1]), float(values[at])) if 0 < at < len(values) else None


def _number(gap: Gap | None, chosen: Chosen, cut: float) -> float:
    """Beyond the last value there is no gap, and the cut stays where it is observed."""
    if gap is None:
        return cut
    number = chosen(gap.kept, gap.other)
    return number if gap.holds(number) else gap.kept


def middle(kept: float, other: float) -> float:
    """The exact middle, as the two are written: 4.69 between 4.68 and 4.70."""
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
    """500, 100, 50, 10, 5, 1, 0.5, ...: from a power of ten on to the last digit of a float."""
    for power in range(top, top - 20, -1):
        yield Decimal((0, (5,), power))
        yield Decimal((0, (1,), power))


def _multiples(step: Decimal, low: float, high: float) -> Iterator[Decimal]:
    """Those nearest to the ends and the middle of a range, which has few of the largest step."""
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
    """With the roundest ends of one proposition that keep the errors within the most allowed."""
    lows = _with_ends(lambda number: p.moved(low=number), p.low)
    formula, moved = _first_within(problem, formula, p, lows, most)
    if p.relation is Relation.WITHIN:
        highs = _with_ends(lambda number: moved.moved(high=number), p.high)
        formula, _ = _first_within(problem, formula, moved, highs, most)
    return formula


def _with_ends(changed: Callable[[float], Proposition], cut: float) -> Iterator[Proposition]:
    tried = map(changed, _by_roundness(cut))
    return (q for q in tried if q.relation is not Relation.WITHIN or q.low <= q.high)


def _first_within(
    problem: Problem, formula: Formula, old: Proposition, new: Iterator[Proposition], most: int
) -> tuple[Formula, Proposition]:
    """The formula with the first of the new propositions that is good enough, else as it was."""
    for other in new:
        tried = replaced(formula, {old: other}.get)
        if problem.errors_in_rows(tried)[0] <= most and problem.meets_constraints(tried):
            return tried, other
    return formula, old


def _by_roundness(cut: float) -> Iterator[float]:
    """Multiples of ever smaller steps, those next to the cut, up to the cut itself."""
    exact = Decimal(repr(cut))
    for step in _steps(exact.adjusted()):
        times = (exact / step).to_integral_value(ROUND_FLOOR)
        around = (step * times, step * (times + 1))
        for number in sorted(around, key=lambda n: abs(n - exact)):
            is_finite = math.isfinite(float(number))  # above 1.7e308 there is no number
            if is_finite and (number != 0 or cut == 0):  # 0 is a multiple of everything
                yield float(number)
        if exact in around:
            return
