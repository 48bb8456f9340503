"""Scan formula sizes upwards until more size stops paying, then fit the final formula."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.stop_reason import StopReason

_FORCED = {End.TIMEOUT: StopReason.TIMEOUT, End.OUT_OF_MEMORY: StopReason.OUT_OF_MEMORY}


@dataclass(frozen=True, slots=True)
class Length:
    """What the scan found for one length bound."""

    length: int
    formula: Formula
    errors: int
    train_accuracy: float
    validation_accuracy: float
    proved: bool
    seconds: float
    solver: str

    @property
    def size(self) -> int:
        return self.formula.size


@dataclass(frozen=True, slots=True)
class LengthAttempt:
    """A length under way: the best formula so far, and the seconds that went into it."""

    length: int
    best: Incumbent = field(default_factory=Incumbent)
    seconds: float = 0.0
    end: End | None = None  # None: not ended, to be taken up again
    solver: str = ""


@dataclass(frozen=True, slots=True)
class ScanState:
    """All that a fold knows at a moment; enough to go on from."""

    lengths: tuple[Length, ...] = ()
    under_way: LengthAttempt | None = None
    scan_s: float = 0.0
    stop_reason: StopReason | None = None
    final: LengthAttempt | None = None
    spare: tuple[Length, ...] = ()  # proved by a longer scan than the rule now asks for

    @property
    def best_validation(self) -> float:
        return max((entry.validation_accuracy for entry in self.lengths), default=0.0)

    @property
    def chosen_length(self) -> int:
        """The smallest length with the best validation accuracy; 1 when none is finished."""
        best = self.best_validation
        return next((e.length for e in self.lengths if e.validation_accuracy == best), 1)

    @property
    def is_finished(self) -> bool:
        return self.final is not None and self.final.end is not None

    def aged(self, seconds: float) -> ScanState:
        """The same state, when the step under way has taken that much longer."""
        if self.stop_reason is None and self.under_way is not None:
            attempt = replace(self.under_way, seconds=self.under_way.seconds + seconds)
            return replace(self, under_way=attempt, scan_s=self.scan_s + seconds)
        if self.final is not None:
            return replace(self, final=replace(self.final, seconds=self.final.seconds + seconds))
        return self


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """How long a scan goes on."""

    patience: int = 2
    max_length: int | None = None

    def reason_to_stop(self, lengths: tuple[Length, ...], fewest_errors: int) -> StopReason | None:
        if not lengths:
            return None
        best = max(entry.validation_accuracy for entry in lengths)
        last = lengths[-self.patience :]
        if len(last) == self.patience and all(e.validation_accuracy < best for e in last):
            return StopReason.EARLY_STOPPING
        if lengths[-1].errors == fewest_errors:
            return StopReason.PERFECT
        if self.max_length is not None and lengths[-1].length >= self.max_length:
            return StopReason.MAX_LENGTH
        return None


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, and whom to tell: `watch` gets the state whenever it changes in a length."""

    rule: StoppingRule = field(default_factory=StoppingRule)
    scan_budget_s: float | None = None
    final_budget_s: float | None = None
    control: Control = field(default_factory=Control)
    watch: Callable[[ScanState], None] = lambda state: None


def scan(
    problem: Problem, validation: Problem, solver: Solver, state: ScanState, limits: Limits
) -> Iterator[ScanState]:
    """The states of a scan, one after every length, from wherever `state` had come to.

    Ends with a `stop_reason`, or without one when it was asked to stop.
    """
    state = reopen(state, limits, problem.fewest_errors)
    if state.stop_reason is not None:
        yield state
    while state.stop_reason is None:
        state = _one_length(problem, validation, solver, state, limits)
        yield state
        if state.under_way is not None:  # interrupted: to be taken up again
            return


def finish(
    problem: Problem, solver: Solver, state: ScanState, limits: Limits, length: int | None = None
) -> Iterator[ScanState]:
    """The states of the final solve, on all rows that are not held out, for the chosen length."""
    length = length or state.chosen_length
    before = state.final
    if before is None or before.length != length:
        before = LengthAttempt(length, _seed(problem, state, length))
    elif not _may_go_on(before, limits.final_budget_s):
        return

    def keep(attempt: LengthAttempt) -> ScanState:
        return replace(state, final=attempt)

    after, outcome = _attempt(
        problem, solver, before, limits, limits.final_budget_s, lambda a: limits.watch(keep(a))
    )
    end = None if outcome.end is End.STOPPED else outcome.end
    yield keep(replace(after, end=end))


def reopen(state: ScanState, limits: Limits, fewest_errors: int) -> ScanState:
    """The state to go on from under these limits: a longer scan serves a shorter one, and one
    that a spent budget ended goes on when there is more."""
    is_final = state.final is not None and state.final.end is None
    if state.stop_reason is StopReason.OUT_OF_MEMORY and is_final:
        return state  # the fallback is decided and under way
    known = (*state.lengths, *state.spare)
    for count in range(1, len(known) + 1):
        reason = limits.rule.reason_to_stop(known[:count], fewest_errors)
        if reason is not None:
            view = replace(state, lengths=known[:count], spare=known[count:], stop_reason=reason)
            return replace(view, under_way=None, scan_s=_seconds(view.lengths))
    under_way = state.under_way
    scan_s = _seconds(known) + (under_way.seconds if under_way else 0.0)
    is_spent = limits.scan_budget_s is not None and scan_s + 0.01 >= limits.scan_budget_s
    reason = StopReason.TIMEOUT if is_spent else None
    return replace(state, lengths=known, spare=(), scan_s=scan_s, stop_reason=reason)


def _seconds(lengths: tuple[Length, ...]) -> float:
    return sum(entry.seconds for entry in lengths)


def _seed(problem: Problem, state: ScanState, length: int) -> Incumbent:
    """A formula to beat: that of the scan, where its cuts are also cuts of these rows."""
    for entry in state.lengths:
        if entry.length == length and problem.admits(entry.formula):
            return Incumbent(entry.formula, problem.errors(entry.formula))
    return Incumbent()


def _one_length(
    problem: Problem, validation: Problem, solver: Solver, state: ScanState, limits: Limits
) -> ScanState:
    before = state.under_way or _next_attempt(state)
    used_s = state.scan_s - before.seconds

    def keep(attempt: LengthAttempt) -> ScanState:
        return replace(state, under_way=attempt, scan_s=used_s + attempt.seconds)

    budget_s = None if limits.scan_budget_s is None else limits.scan_budget_s - used_s
    after, outcome = _attempt(
        problem, solver, before, limits, budget_s, lambda a: limits.watch(keep(a))
    )
    if not outcome.proved:
        return replace(keep(after), stop_reason=_FORCED.get(outcome.end))
    entry = describe_length(problem, validation, after, outcome.formula, outcome.errors, True)
    lengths = (*state.lengths, entry)
    reason = limits.rule.reason_to_stop(lengths, problem.fewest_errors)
    return replace(keep(after), lengths=lengths, under_way=None, stop_reason=reason)


def describe_length(
    problem: Problem,
    validation: Problem,
    attempt: LengthAttempt,
    formula: Formula,
    errors: int,
    proved: bool,
) -> Length:
    """The record of a length with the accuracies of its formula."""
    return Length(
        length=attempt.length,
        formula=formula,
        errors=errors,
        train_accuracy=1.0 - errors / problem.rows,
        validation_accuracy=validation.accuracy(formula),
        proved=proved,
        seconds=attempt.seconds,
        solver=attempt.solver,
    )


def _next_attempt(state: ScanState) -> LengthAttempt:
    if not state.lengths:
        return LengthAttempt(1)
    last = state.lengths[-1]
    return LengthAttempt(last.length + 1, Incumbent(last.formula, last.errors, last.length))


def _attempt(
    problem: Problem,
    solver: Solver,
    before: LengthAttempt,
    limits: Limits,
    budget_s: float | None,
    watch: Callable[[LengthAttempt], None],
) -> tuple[LengthAttempt, Outcome]:
    """Solve one length, counting the seconds that earlier attempts at it took."""
    started = time.monotonic()

    def attempt(best: Incumbent) -> LengthAttempt:
        seconds = before.seconds + time.monotonic() - started
        return replace(before, best=best, seconds=seconds, end=None)

    deadline = None if budget_s is None else started + budget_s - before.seconds
    control = replace(limits.control, deadline=deadline, report=lambda best: watch(attempt(best)))
    watch(attempt(before.best))
    outcome = solver.solve(problem, before.length, before.best, control)
    best = Incumbent(outcome.formula, outcome.errors, outcome.proved_length, outcome.lower_bound)
    return replace(attempt(best), solver=outcome.solver), outcome


def _may_go_on(attempt: LengthAttempt, budget_s: float | None) -> bool:
    """Whether a final solve has something left to do, and the time for it."""
    if attempt.end is End.PROVED:
        return False
    if attempt.end is End.TIMEOUT:
        return budget_s is None or attempt.seconds < budget_s
    return True
