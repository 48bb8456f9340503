"""Properties of a Rashomon set: ambiguous rows, the price of each column, free thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fsm_hpc.formulas.formula import Formula, Proposition, Relation, Truth
from fsm_hpc.formulas.truth_table import replaced
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, difference_weights
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Solver


@dataclass(frozen=True, slots=True)
class ColumnPrice:
    """How much the formulas of the set depend on a column."""

    column: str
    share: float  # of families with the column
    price: int | None  # additional errors of the best formula without it; None: not proved


@dataclass(frozen=True, slots=True)
class FreeRange:
    """The range of a threshold without more errors, the rest of the formula fixed."""

    column: str
    end: str  # "low" or "high", of an interval; else "cut"
    least: float
    greatest: float


def ambiguous(rashomon: RashomonSet, truth: Truth) -> Truth:
    """Rows where some member differs from this formula."""
    return np.asarray(np.where(truth, rashomon.yes < rashomon.count, rashomon.yes > 0))


def discrepancy(rashomon: RashomonSet, truth: Truth) -> tuple[int, Formula] | None:
    """The largest number of rows where a member differs from these answers, and that member."""
    best = rashomon.greatest(difference_weights(rashomon, truth))
    if best is None:
        return None
    formula, gained = best
    return int(np.count_nonzero(truth)) + gained, formula


def column_prices(rashomon: RashomonSet, solver: Solver, control: Control) -> Iterator[ColumnPrice]:
    """The columns of the families by descending price, then by share."""
    families = rashomon.families
    names = {column for family in families for column in family.columns}
    prices = []
    for name in sorted(names):
        users = sum(name in family.columns for family in families)
        others = [family.errors for family in families if name not in family.columns]
        price = _price(rashomon, name, min(others, default=None), solver, control)
        prices.append(ColumnPrice(name, users / len(families), price))
    return iter(sorted(prices, key=lambda c: (-(c.price or 0), -c.share, c.column)))


def _price(
    rashomon: RashomonSet, column: str, known: int | None, solver: Solver, control: Control
) -> int | None:
    """Errors above the optimum without the column: 0 if an optimum lacks it, else searched."""
    if known == rashomon.optimum:
        return 0
    left = tuple(c for c in rashomon.problem.columns if c.name != column)
    if not left:
        return None
    outcome = solver.solve(
        replace(rashomon.problem, columns=left), rashomon.bound, Incumbent(), control
    )
    return outcome.errors - rashomon.optimum if outcome.proved else None


def free_ranges(problem: Problem, formula: Formula) -> Iterator[FreeRange]:
    """For each threshold of a formula the range around it without more errors."""
    values = {n.column: n.thresholds for n in problem.numerics}
    most = problem.errors(formula)
    for p in dict.fromkeys(formula.propositions()):
        if p.column not in values or p.relation not in (Relation.AT_LEAST, Relation.WITHIN):
            continue
        for end in ("cut",) if p.relation is Relation.AT_LEAST else ("low", "high"):
            moved = [_with_end(p, end, float(value)) for value in values[p.column]]
            threshold = p.high if end == "high" else p.low
            first = last = int(np.searchsorted(values[p.column], threshold))
            is_free = [
                other is not None and problem.errors(replaced(formula, {p: other}.get)) <= most
                for other in moved
            ]
            while first > 0 and is_free[first - 1]:
                first -= 1
            while last + 1 < len(moved) and is_free[last + 1]:
                last += 1
            least, greatest = (float(values[p.column][at]) for at in (first, last))
            yield FreeRange(p.column, end, least, greatest)


def _with_end(p: Proposition, end: str, value: float) -> Proposition | None:
    """The proposition with another threshold; None where its interval would be empty."""
    if end == "high":
        return p.moved(high=value) if value >= p.low else None
    return p.moved(low=value) if end == "cut" or value <= p.high else None
