"""Check the outcome of a solver against the problem before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import snapped
from fsm_hpc.search.solvers.base import Incumbent, Outcome


class WrongOutcomeError(RuntimeError):
    """A solver returned a wrong outcome: a defect of the program, never a result."""


def checked(problem: Problem, length: int, outcome: Outcome) -> Outcome:
    """The outcome, after its printed formula was parsed and every claim was checked."""
    wrong = "; ".join(_claims_that_fail(problem, length, outcome))
    if wrong:
        raise WrongOutcomeError(
            f"{outcome.solver} gave a wrong answer for length {length}: {wrong}; this is a "
            "defect of fsm_hpc; please report it with the table, and use another solver= until then"
        )
    return outcome


def _claims_that_fail(problem: Problem, length: int, outcome: Outcome) -> Iterator[str]:
    try:
        formula = parse(str(outcome.formula))
    except ValueError as error:
        yield f"its formula cannot be read back ({error})"
        return
    if formula.size > length:
        yield f"{formula} has size {formula.size}"
    if not problem.language.has(formula):
        yield f"{formula} is none of the language {problem.language.value}"
    if problem.constraints.binds:
        yield from (
            f"{formula} breaks a constraint: {what}" for what in problem.violations(formula)
        )
    errors = errors_of(problem, formula)
    if errors is not None and not problem.admits(snapped(problem, formula)):
        yield f"{formula} has a threshold or a column that is not to be chosen from"
    if errors != outcome.errors:
        yield f"{formula} makes {errors} errors, not {outcome.errors}"
    if outcome.lower_bound > outcome.errors:
        yield f"no formula makes fewer than {outcome.lower_bound} errors, but this one does"
    if outcome.proved and outcome.lower_bound != outcome.errors:
        yield f"{outcome.errors} errors are proved, but the bound is {outcome.lower_bound}"


def usable_start(problem: Problem, start: Incumbent) -> Incumbent:
    """The start without a formula that belongs to another problem.

    Rewritten thresholds are moved back to observed values.
    """
    if start.formula is None:
        return start
    if errors_of(problem, start.formula) == start.errors:
        formula = snapped(problem, start.formula)
        if problem.language.has(formula) and problem.admits(formula):
            return replace(start, formula=formula)
    return Incumbent(frontier=start.frontier)


def errors_of(problem: Problem, formula: Formula) -> int | None:
    """The errors of a formula; None if it has a column that the problem lacks."""
    if not all(p.is_known_in(problem.table) for p in formula.propositions()):
        return None
    return problem.errors(formula)
