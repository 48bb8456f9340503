"""Search the Rashomon set of a rule, resuming an interrupted search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from fsm_hpc.errors import UserError
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.search.near_optimal.checkpoint import Checkpoint, resume
from fsm_hpc.search.near_optimal.rashomon import (
    RashomonSet,
    ResourceLimits,
    prove_optimum,
    slack_errors,
)


def optimum_of(rule: FittedRule, bound: int, limits: ResourceLimits) -> int:
    """The fewest errors within the bound; searched unless the rule is proved."""
    length = rule.bound if rule.proved and rule.problem.errors(rule.formula) == rule.errors else 0
    errors = prove_optimum(rule.problem, bound, limits, rule.formula, length)
    if bound == rule.bound and rule.proved and rule.errors != errors:
        raise UserError(
            f"{rule.path} makes {rule.errors} errors, the optimum of bound {bound} makes "
            f"{errors}: it was fitted for another objective; "
            "alternatives are defined for the number of errors only"
        )
    return errors


def state_path(rule: FittedRule) -> Path:
    """The file of an interrupted search, in the folder of the rule."""
    of_class = "" if rule.label is None else f".{quote(rule.label, safe='')}"
    return rule.path.with_name(f".{rule.path.stem}{of_class}.alternatives.json")


def checkpoint_of(rule: FittedRule, say: Callable[[str], None] = lambda text: None) -> Checkpoint:
    """The checkpoint in the folder of the rule; without write access a search starts again."""
    return Checkpoint(state_path(rule), say=say, is_vital=False)


def find(
    rule: FittedRule,
    slack: float | str,
    bound: int | None,
    limits: ResourceLimits,
    most: int | None,
    say: Callable[[str], None] = lambda text: None,
    on_progress: Callable[[RashomonSet], None] = lambda rashomon: None,
) -> RashomonSet:
    """All alternatives within the slack, or as many as time and number allow."""
    size = bound or rule.bound
    errors = slack_errors(slack, rule.problem.rows)
    optimum = optimum_of(rule, size, limits)
    checkpoint = checkpoint_of(rule, say)
    rashomon = resume(checkpoint, rule.problem, size, optimum, errors, limits, most, on_progress)
    _check_optimum(rule, rashomon)
    return rashomon


def _check_optimum(rule: FittedRule, rashomon: RashomonSet) -> None:
    """Reject a proof in the file of a rule that a better formula refutes."""
    for best in rashomon.families[:1]:
        if best.errors < rashomon.optimum:
            raise UserError(
                f"{rule.path} states that {rashomon.optimum} errors are optimal, but "
                f"{best.formula} makes {best.errors}; run `fit` again"
            )
