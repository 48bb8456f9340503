"""Random small problems of every kind, each held against brute force with the box engine forced."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from fsm_hpc.data.columns import Column, Kind, missing_indicator
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.checking import checked
from fsm_hpc.search.constraints import FREE, Constraints
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import written
from fsm_hpc.search.solvers.base import Control, End, Incumbent
from fsm_hpc.search.solvers.native import Native, engine_choice
from tests.support import brute_constraints, brute_force

METHODS = (Method.MEDIAN, Method.PIVOT, Method.PIVOT, Method.INTERVAL, Method.INTERVAL)
OBJECTIVES = (
    ACCURACY,
    ACCURACY,
    Objective(ObjectiveName.BALANCED),
    Objective(ObjectiveName.COSTS, 1.0, 2.5),
)
WEIGHTS = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [1 / 3, 1.0], [0.5, 60.0, 1e4])
FEW_CHOICES, MOST_CHOICES = 60, 400  # of all cuts together: the work of brute force
MOST_PROPOSITIONS = 5


@dataclass(frozen=True)
class Case:
    """A problem without and with its constraints, the length to solve, and how to solve it."""

    problem: Problem
    free: Problem
    wanted: Constraints
    length: int
    climbs: bool  # from length to length rather than at once

    def __str__(self) -> str:
        columns = {c.name: c.values.tolist() for c in self.problem.columns}
        return (
            f"{self.problem.method.value} {self.problem.language.value} {self.problem.cuts} "
            f"{self.problem.objective} {self.wanted.text or 'no constraint'} length {self.length} "
            f"climbs {self.climbs}\n{columns}\n"
            f"labels {self.problem.labels.tolist()} weights {_given(self.problem)}"
        )


def random_case(seed: int, number: int) -> Case:
    """The case of that number: the same for the same seed."""
    rng = np.random.default_rng([seed, number])
    while True:
        case = _drawn(rng)
        if case is not None:
            return case


def difference(case: Case) -> str:
    """What brute force says otherwise; empty where both agree."""
    expected = _expected(case)
    boxes = mock.patch.object(engine_choice, "SET_COST", math.inf)
    native, start, problem = Native(), Incumbent(), case.problem
    with boxes:
        for length in range(1 if case.climbs else case.length, case.length + 1):
            best = expected[length - 1]
            if best is None:
                continue
            outcome = native.solve(problem, length, start, Control())
            start = outcome.incumbent if case.climbs else start
            found = checked(problem, length, outcome)
            size = expected.index(best) + 1
            if (found.errors, found.formula.size, found.end) != (best, size, End.PROVED):
                return f"length {length}: expected {best} at size {size}, found {found}"
            if not problem.admits(found.formula):
                return f"length {length}: {found.formula} is none of the problem"
            if problem.errors(written(problem, found.formula)) != best:
                return f"length {length}: {found.formula} is written with other errors"
    return _inexact(case, outcome.formula) if expected[case.length - 1] is not None else ""


def _expected(case: Case) -> list[Any]:
    if case.problem.constraints.binds or case.wanted != FREE:
        return list(brute_constraints.fewest_errors(case.free, case.length, case.wanted))
    return brute_force.fewest_errors(case.problem, case.length)


def _inexact(case: Case, formula: Any) -> str:
    """What the given weights, as exact fractions, say against a proved formula."""
    problem = case.problem
    if problem.weights is None or problem.weight_error or case.wanted != FREE:
        return ""
    exact = exact_weights(problem)
    wrong = (formula.evaluate(problem.table) != problem.labels).tolist()
    errors = sum(weight for weight, is_wrong in zip(exact, wrong, strict=True) if is_wrong)
    best = brute_force.least_weight(problem, case.length, exact)[-1]
    return "" if errors == best else f"expected errors of exact weight {best}, found {errors}"


def exact_weights(problem: Problem) -> list[Fraction]:
    """What each row counts, without any float: 0.1 is one tenth, 1 / 3 a third."""
    given = [Fraction(repr(w)).limit_denominator(10**6) for w in _given(problem)]
    factors = [Fraction(1), Fraction(1)]
    labels = problem.labels.tolist()
    if problem.objective.name is ObjectiveName.COSTS:
        costs = problem.objective.false_positive, problem.objective.false_negative
        factors = [Fraction(repr(cost)) for cost in costs]
    elif problem.objective.name is ObjectiveName.BALANCED and len(set(labels)) == 2:
        pairs = list(zip(given, labels, strict=True))
        factors = [sum((w for w, y in pairs if y == side), Fraction(0)) for side in (True, False)]
    return [weight * factors[label] for weight, label in zip(given, labels, strict=True)]


def _given(problem: Problem) -> list[float]:
    return [1.0] * problem.rows if problem.given is None else problem.given.tolist()


# ----------------------------------------------------------------------------------- drawing one


def _drawn(rng: np.random.Generator) -> Case | None:
    rows = int(rng.integers(2, 13))
    rule = CutRule(rng.choice([one.value for one in CutRule]))
    keeps_missing = bool(rng.random() < 0.6)
    columns: list[Column] = []
    given: dict[str, list[float]] = {}
    for index in range(int(rng.integers(1, 4))):
        columns += _columns(rng, f"c{index}", rows, keeps_missing, given)
    labels = rng.random(rows) < rng.choice([0.1, 0.5, 0.9])
    method = METHODS[rng.integers(len(METHODS))]
    wanted = {
        "cuts": Cuts.of_lists(given)
        if rule is CutRule.GIVEN
        else Cuts(rule, int(rng.integers(1, 4))),
        "language": list(Language)[rng.integers(len(Language))],
        "objective": OBJECTIVES[rng.integers(len(OBJECTIVES))],
        "given": rng.choice(WEIGHTS[rng.integers(len(WEIGHTS))], rows)
        if rng.random() < 0.4
        else None,
    }
    constraints = _constraints(rng, columns, rows) if rng.random() < 0.25 else {}
    try:
        made = Constraints(**constraints)
        free = Problem.build(columns, labels, method, **wanted)  # type: ignore[arg-type]
        problem = Problem.build(columns, labels, method, **wanted, constraints=made)  # type: ignore[arg-type]
    except UserError:  # constraints that contradict each other, or the method
        return None
    choices = int(np.prod([len(list(brute_force.cuts_of(n))) for n in free.numerics] or [1]))
    if choices > MOST_CHOICES or not 0 < len(free.features) <= MOST_PROPOSITIONS:
        return None
    if not problem.features:
        return None
    is_large = choices > FEW_CHOICES or len(free.features) > 3
    length = int(rng.integers(1, 6 if is_large else 8))
    return Case(problem, free, made, length, bool(rng.random() < 0.5))


def _columns(
    rng: np.random.Generator,
    name: str,
    rows: int,
    keeps_missing: bool,
    given: dict[str, list[float]],
) -> list[Column]:
    kind = rng.choice(["boolean", "category", "numeric", "numeric", "numeric"])
    if kind == "numeric":
        values = rng.integers(0, rng.choice([2, 4, 12, 100]), rows) * 0.5 - 1
        columns = [Column(name, Kind.NUMERIC, values)]
        if rng.random() < 0.7:
            given[name] = (rng.integers(-3, 9, rng.integers(1, 4)) * 0.5).tolist()
    elif kind == "boolean":
        columns = [Column(name, Kind.BOOLEAN, rng.random(rows) < 0.5)]
    else:
        codes = rng.integers(0, 3, rows)
        columns = [
            Column(f"{name}_{code}", Kind.BOOLEAN, codes == code, source=name, category=str(code))
            for code in np.unique(codes)
        ]
    missing = rng.random(rows) < 0.3
    if not (keeps_missing and missing.any() and rng.random() < 0.7):
        return columns
    lost = [np.nan if c.kind is Kind.NUMERIC else False for c in columns]
    kept = [
        replace(c, values=np.where(missing, n, c.values))
        for c, n in zip(columns, lost, strict=True)
    ]
    return [*kept, missing_indicator(name, missing)]


def _constraints(rng: np.random.Generator, columns: list[Column], rows: int) -> dict[str, Any]:
    names = [c.name for c in columns if not c.is_missing_indicator]
    wanted: dict[str, Any] = {}
    for key in ("require", "forbid", "increasing", "decreasing"):
        if rng.random() < 0.3:
            wanted[key] = (str(rng.choice(names)),)
    if rng.random() < 0.3:
        wanted["min_support"] = int(rng.integers(1, max(2, rows // 3)))
    if rng.random() < 0.3:
        wanted["max_columns"] = int(rng.integers(1, 3))
    return wanted
