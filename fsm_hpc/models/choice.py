"""A rule chosen openly among all that are about as good, with what spoke for it."""

from __future__ import annotations

from dataclasses import replace

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.combine import ClassRule
from fsm_hpc.models.learn import figures_of
from fsm_hpc.models.notes import Note, NoteKind
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint, resume
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.rashomon import (
    RashomonSet,
    ResourceLimits,
    agreement_weights,
    slack_errors,
)
from fsm_hpc.search.near_optimal.rule_choice import RuleChoice
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.study.config import FitSettings
from fsm_hpc.system.numbers import counted, percent


def check(fitted: Problem, wanted: FitSettings) -> None:
    """Before anything is searched: whether such a choice can be made of this problem."""
    if wanted.choose is not RuleChoice.OPTIMUM:
        slack_errors(wanted.slack, fitted.rows)
        check_supported(fitted)
        ensure_compiled()
    if wanted.choose is RuleChoice.GIVEN:
        _parsed(fitted, wanted)


def applied(
    fitted: ClassRule, wanted: FitSettings, means: ResourceLimits, mark: Checkpoint
) -> ClassRule:
    """The rule with the formula that was chosen; its notes tell among how many, and why."""
    if wanted.choose is RuleChoice.OPTIMUM:
        return fitted
    rule, problem = fitted.rule, fitted.problem
    if not rule.proved:
        return _kept(fitted, "the optimum is not proved, so the slack is undefined")
    slack = slack_errors(wanted.slack, problem.rows)
    good = resume(mark, problem, rule.length, rule.errors, slack, means)
    mark.remove(good)
    if not good.is_complete:
        return _kept(fitted, "the time limit was reached before all alternatives were found")
    chosen = _chosen(good, wanted)
    if chosen is None:
        return _kept(fitted, "only constants are within the slack")
    formula, reason = chosen
    return _with_formula(fitted, formula, _reason_in_words(good, formula, wanted, reason))


def _chosen(good: RashomonSet, wanted: FitSettings) -> tuple[Formula, str] | None:
    if not good.families:
        return None
    if wanted.choose is RuleChoice.CONSENSUS:
        return _consensus(good)
    if wanted.choose is RuleChoice.SIMPLEST:
        best = min(good.families, key=lambda f: (f.size, f.errors, str(f.formula)))
        return best.formula, "it is the smallest of them, of those the one with fewest errors"
    return _given(good, wanted), "it was named in fit.given"


def _consensus(good: RashomonSet) -> tuple[Formula, str] | None:
    found = good.greatest(agreement_weights(good))
    if found is None:
        return None
    formula, gained = found
    rows = good.problem.rows
    # agreement where it says no anyway, and what each yes of its own adds to that
    agreed = rows * good.count - int(good.yes.sum()) + gained
    share = agreed / (rows * good.count)
    return formula, f"it agrees most with all of them, on {percent(share)} of their answers"


def _parsed(problem: Problem, wanted: FitSettings) -> Formula:
    """The formula that was given, where it is one of this table."""
    try:
        formula = parse(wanted.given or "")
    except ValueError as error:
        raise UserError(f"fit.given: expected a formula, found {wanted.given!r}: {error}") from None
    if not problem.admits(formula):
        raise UserError(
            f"fit.given: expected a formula over this table, with thresholds among its values, "
            f"found {formula}"
        )
    return formula


def _given(good: RashomonSet, wanted: FitSettings) -> Formula:
    problem = good.problem
    formula = _parsed(problem, wanted)
    if formula.size > good.bound:
        raise UserError(
            f"fit.given: expected a formula of size {good.bound} or less, which is the length that "
            f"the search chose, found size {formula.size} of {formula}"
        )
    errors, most = problem.errors(formula), good.optimum + good.slack
    if errors > most:
        raise UserError(
            f"fit.given: expected at most {most} errors (optimum {good.optimum}, slack "
            f"{good.slack}), found {errors} of {formula}; a larger fit.slack allows it"
        )
    return formula


def _reason_in_words(good: RashomonSet, formula: Formula, wanted: FitSettings, reason: str) -> str:
    more = good.problem.errors(formula) - good.optimum
    families = counted(len(good.families), "family", "families")
    return (
        f"chosen ({wanted.choose.value}) among {counted(good.count, 'formula')} in {families} "
        f"within {counted(good.slack, 'error')} of the optimum: {reason}; it makes "
        f"{counted(more, 'error')} more than the optimum; the reported accuracy is that of optima"
    )


def _kept(fitted: ClassRule, reason: str) -> ClassRule:
    note = Note.of(NoteKind.NOT_CHOSEN, text=reason)
    return replace(fitted, notes=(*fitted.notes, note))


def _with_formula(fitted: ClassRule, formula: Formula, text: str) -> ClassRule:
    rule, problem = fitted.rule, fitted.problem
    figures = figures_of(problem, formula)
    is_best = figures["errors"] == rule.errors
    chosen = replace(rule, formula=formula, proved=is_best, **figures)
    return ClassRule(chosen, problem, (*fitted.notes, Note.of(NoteKind.CHOSEN, text=text)))
