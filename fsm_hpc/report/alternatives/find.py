"""Search the Rashomon set of a rule, resuming an interrupted search."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from fsm_hpc.errors import UserError
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint, ResourceLimits, resume
from fsm_hpc.search.near_optimal.rashomon import RashomonSet, slack_errors
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Incumbent
from fsm_hpc.search.solvers.names import SolverName


class NotProvedError(UserError):
    """The optimum, from which the slack is counted, is not known."""


def optimum_of(rule: FittedRule, bound: int, limits: ResourceLimits) -> int:
    """The fewest errors within the bound, proved anew; it takes as long as that length did."""
    check_supported(rule.problem)
    control = limits.control
    with closing(make_solver(SolverName.NATIVE, limits.threads, limits.helpers)) as solver:
        outcome = solver.solve(rule.problem, bound, Incumbent(), control)
    if not outcome.proved:
        raise NotProvedError(
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
    of_class = "" if rule.label is None else f".{quote(rule.label, safe='')}"
    return rule.path.with_name(f".{rule.path.stem}{of_class}.alternatives.json")


def checkpoint_of(rule: FittedRule, say: Callable[[str], None] = lambda text: None) -> Checkpoint:
    """Beside the rule; where that folder is not ours, the search begins anew each time."""
    return Checkpoint(state_path(rule), say=say, is_vital=False)


def find(
    rule: FittedRule,
    slack: float | str,
    bound: int | None,
    limits: ResourceLimits,
    most: int | None,
    say: Callable[[str], None] = lambda text: None,
) -> RashomonSet:
    """All alternatives within the slack, or as many as time and number allow."""
    size = bound or rule.bound
    errors = slack_errors(slack, rule.problem.rows)
    optimum = optimum_of(rule, size, limits)
    return resume(checkpoint_of(rule, say), rule.problem, size, optimum, errors, limits, most)
