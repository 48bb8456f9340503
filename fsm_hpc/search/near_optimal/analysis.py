"""Properties of a Rashomon set: ambiguous rows, the price of each column, free thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition, Relation, Truth
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, difference_weights
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Solver


@dataclass(frozen=True, slots=True)
class ColumnPrice:
    """How much the formulas of the set depend on a column."""

    column: str
    share: float  # of the families that use it
    price: int | None  # errors that the best formula without it makes more; None: not proved


@dataclass(frozen=True, slots=True)
class FreeRange:
    """The range of a threshold without more errors, the rest of the formula fixed."""

    column: str
    end: str  # "low" or "high", of an interval; else "cut"
    least: float
    greatest: float


def ambiguous(rashomon: RashomonSet, truth: Truth) -> Truth:
    """Rows that some member answers otherwise than this formula does."""
    return np.asarray(np.where(truth, rashomon.yes < rashomon.count, rashomon.yes > 0))


def discrepancy(rashomon: RashomonSet, truth: Truth) -> tuple[int, Formula] | None:
    """The most rows on which one member differs from these answers, and that member."""
    found = rashomon.greatest(difference_weights(rashomon, truth))
    if found is None:
        return None
    formula, gained = found
    return int(np.count_nonzero(truth)) + gained, formula


def column_prices(rashomon: RashomonSet, solver: Solver, control: Control) -> Iterator[ColumnPrice]:
    """Columns that families use, the dearest first, then the most used."""
    families = rashomon.families
    names = {column for family in families for column in family.columns}
    found = []
    for name in sorted(names):
        users = sum(name in family.columns for family in families)
        others = [family.errors for family in families if name not in family.columns]
        price = _price(rashomon, name, min(others, default=None), solver, control)
        found.append(ColumnPrice(name, users / len(families), price))
    return iter(sorted(found, key=lambda c: (-(c.price or 0), -c.share, c.column)))


def _price(
    rashomon: RashomonSet, column: str, known: int | None, solver: Solver, control: Control
) -> int | None:
    """Errors above the optimum without the column: from the set where it tells, else searched."""
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
    """For every cut of a formula the range around it in which it makes no more errors."""
    values = {n.column: n.thresholds for n in problem.numerics}
    most = problem.errors(formula)
    for p in dict.fromkeys(formula.propositions()):
        if p.column not in values or p.relation not in (Relation.AT_LEAST, Relation.WITHIN):
            continue
        for end in ("cut",) if p.relation is Relation.AT_LEAST else ("low", "high"):
            cuts = values[p.column]
            at = int(np.searchsorted(cuts, p.high if end == "high" else p.low))
            is_fine = [
                _is_choice(p, end, cut)
                and problem.errors(substituted(formula, p, _moved(p, end, cut))) <= most
                for cut in map(float, cuts)
            ]
            first, last = at, at
            while first > 0 and is_fine[first - 1]:
                first -= 1
            while last + 1 < len(cuts) and is_fine[last + 1]:
                last += 1
            yield FreeRange(p.column, end, float(cuts[first]), float(cuts[last]))


def _is_choice(p: Proposition, end: str, cut: float) -> bool:
    return end == "cut" or (cut <= p.high if end == "low" else cut >= p.low)


def _moved(p: Proposition, end: str, cut: float) -> Proposition:
    return replace(p, high=cut) if end == "high" else replace(p, low=cut)


def substituted(formula: Formula, old: Proposition, new: Proposition) -> Formula:
    """The formula with another proposition in place of one."""
    if isinstance(formula, Atom):
        return Atom(new) if formula.proposition == old else formula
    parts = [substituted(part, old, new) for part in formula.parts]
    if isinstance(formula, Not):
        return Not(parts[0])
    return And(*parts) if isinstance(formula, And) else Or(*parts)
