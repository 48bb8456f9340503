"""Solve one length: count its time, and give up where neither proof nor improvement is expected."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.checking import checked
from fsm_hpc.search.lengths import LengthAttempt
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import written
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.simple import SIMPLE_SIZE, best_simple, worth_of
from fsm_hpc.system import clock
from fsm_hpc.system.numbers import SPREAD

PACE_S = 1.0  # of search before an estimate is used
# of processor time without a better formula, after which none is expected: so much, and a share
SETTLED_S, SETTLED_SHARE = 4.0, 0.4


def attempt_length(
    problem: Problem,
    solver: Solver,
    before: LengthAttempt,
    control: Control,
    gives_up: bool,
    budget_s: float | None,
    watch: Callable[[LengthAttempt], None],
    cannot_end: Callable[[LengthAttempt, float], bool],
    needs_proof: bool = False,
) -> tuple[LengthAttempt, Outcome]:
    """Solve one length, counting the seconds that earlier attempts at it took.

    With `gives_up` a length that cannot end in time ends the attempt: at once where it needs the
    proof, else when no better formula is expected either.
    """
    started = clock.monotonic()
    began = improved_at = time.process_time()
    errors = before.best.errors

    def attempt(best: Incumbent) -> LengthAttempt:
        seconds = before.seconds + clock.monotonic() - started
        return replace(before, best=best, seconds=seconds, end=None)

    deadline = None if budget_s is None else started + budget_s - before.seconds
    give_up = threading.Event()

    def has_settled(best: Incumbent) -> bool:
        nonlocal errors, improved_at
        now = time.process_time()
        if best.errors != errors:
            errors, improved_at = best.errors, now
        return now - improved_at > max(SETTLED_S, SETTLED_SHARE * (now - began))

    def report(best: Incumbent) -> None:
        now, is_settled = attempt(best), has_settled(best)
        watch(now)
        if not gives_up or deadline is None or not cannot_end(now, deadline):
            return
        if needs_proof or is_settled:
            give_up.set()

    control = replace(control, deadline=deadline, report=report, give_up=give_up)
    watch(attempt(before.best))
    outcome = solver.solve(problem, before.length, before.best, control)
    outcome = replace(outcome, formula=written(problem, outcome.formula))
    outcome = checked(problem, before.length, outcome)
    return replace(attempt(outcome.incumbent), solver=outcome.solver), outcome


def is_hopeless(attempt: LengthAttempt, deadline: float, behind: int = 0) -> bool:
    """Whether the estimate excludes that the length is finished before the deadline.

    `behind` other splits need the same length, before it counts.
    """
    left_s, frontier = attempt.left_s, attempt.best.frontier
    if left_s is None or frontier is None or frontier.seconds < PACE_S:
        return False
    needed_s = left_s + behind * (frontier.seconds + left_s)
    return needed_s / SPREAD > deadline - clock.monotonic()


def may_go_on(attempt: LengthAttempt, budget_s: float | None) -> bool:
    """Whether a final solve has something left to do, and the time for it."""
    if attempt.end is End.TIMEOUT:
        return budget_s is None or attempt.seconds < budget_s
    return attempt.end is not End.PROVED


def at_least_simple(problem: Problem, final: LengthAttempt) -> LengthAttempt:
    """The same, or the best literal or constant where the best formula so far is worse.

    What a solver proves is at least as good, unless weights were rounded for it.
    """
    best = final.best
    is_best = best.proved_length >= min(final.length, SIMPLE_SIZE) and problem.has_exact_weights
    if best.formula is None or is_best:
        return final
    worth = worth_of(problem)
    simple = best_simple(problem, final.length, worth)
    if simple is None or _sum(problem, simple, worth) <= _sum(problem, best.formula, worth):
        return final
    made = written(problem, simple)
    better = replace(best, formula=made, errors=problem.errors(made), proved_length=0)
    return replace(final, best=better)


def _sum(problem: Problem, formula: Formula, worth: NDArray[Any]) -> float:
    return float(worth[formula.evaluate(problem.table)].sum())
