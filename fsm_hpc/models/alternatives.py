"""The Rashomon set of a fitted problem as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError
from fsm_hpc.models.model import Rule
from fsm_hpc.models.parameters import threads_of
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.rashomon import (
    RashomonSet,
    ResourceLimits,
    family_row,
    near_optimal,
    prove_optimum,
    slack_errors,
)
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.system import clock

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("formula", "size", "errors", "count", "columns", "cuts")


def rashomon_set(
    rule: Rule,
    problem: Problem,
    slack: float,
    bound: int,
    n_jobs: int | None,
    time_limit_s: float | None,
    most: int | None,
) -> RashomonSet:
    """The Rashomon set of a rule; its optimum is searched first where the rule is not proved."""
    check_supported(problem)
    ensure_compiled()  # before the clock runs
    deadline = None if time_limit_s is None else clock.monotonic() + time_limit_s
    limits = ResourceLimits(threads_of(n_jobs), Control(deadline=deadline))
    errors = slack_errors(slack, problem.rows)
    proved_length = rule.length if rule.proved else 0
    optimum = prove_optimum(problem, bound, limits, rule.formula, proved_length)
    return near_optimal(problem, bound, optimum, errors, limits.threads, limits.control, most=most)


def frame(good: RashomonSet) -> pd.DataFrame:
    """One family a row, the fewest errors first."""
    import pandas as pd

    made: pd.DataFrame = pd.DataFrame(
        [family_row(family) for family in good.families], columns=list(NAMES)
    )
    made.attrs.update(
        count=good.count,
        complete=good.is_complete,
        bound=good.bound,
        optimum=good.optimum,
        slack=good.slack,
    )
    return made


def members(good: RashomonSet, family: int, most: int) -> pd.DataFrame:
    """The formulas of one family, with their errors."""
    import pandas as pd

    if not 0 <= family < len(good.families):
        raise UserError(
            f"members: expected a row of alternatives, 0 to {len(good.families) - 1}, "
            f"found {family}"
        )
    listed = good.members(good.families[family], most)
    rows = [(str(formula), errors) for formula, errors in listed]
    made: pd.DataFrame = pd.DataFrame(rows, columns=["formula", "errors"])
    return made
