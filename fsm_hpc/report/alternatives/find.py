"""The good set of a rule: its optimum proved, its families found, going on where it was left."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

from fsm_hpc.errors import UserError
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.search.near_optimal import kept
from fsm_hpc.search.near_optimal.enumeration import Progress
from fsm_hpc.search.near_optimal.good_set import GoodSet, near_optimal, slack_errors
from fsm_hpc.search.near_optimal.served import check_served
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.names import SolverName


def optimum_of(rule: FittedRule, bound: int, threads: int, control: Control) -> int:
    """The fewest errors within the bound, proved anew; it takes as long as that length did."""
    check_served(rule.problem)
    with closing(make_solver(SolverName.NATIVE, threads)) as solver:
        outcome = solver.solve(rule.problem, bound, Incumbent(), control)
    if not outcome.proved:
        raise UserError(
            f"the optimum of bound {bound} was not proved in time, and without it no slack is "
            "known; give more time, or a smaller bound=NUMBER"
        )
    if bound == rule.bound and rule.proved and rule.errors != outcome.errors:
        raise UserError(
            f"{rule.path} makes {rule.errors} errors, the optimum of bound {bound} makes "
            f"{outcome.errors}: it was fitted for something else than fewest errors, which "
            "alternatives are not counted for"
        )
    return outcome.errors


def state_path(rule: FittedRule) -> Path:
    """Where an interrupted search is kept: beside the rule."""
    return rule.path.with_name(f".{rule.path.stem}.alternatives.json")


def find(
    rule: FittedRule,
    slack: float | str,
    bound: int | None,
    threads: int,
    control: Control,
    most: int | None,
) -> GoodSet:
    """All alternatives within the slack, or as many as time and number allow."""
    size = bound or rule.bound
    errors = slack_errors(slack, rule.problem.rows)
    optimum = optimum_of(rule, size, threads, control)
    path = state_path(rule)
    asked = kept.question(rule.problem, size, optimum + errors)

    def keep(progress: Progress) -> None:
        with suppress(OSError, UserError):  # a folder that is not ours: it begins anew next time
            kept.save(path, asked, progress)

    start = kept.load(path, asked)
    good = near_optimal(rule.problem, size, optimum, errors, threads, control, start, most, keep)
    if good.is_complete:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    else:
        keep(good.progress)
    return good
