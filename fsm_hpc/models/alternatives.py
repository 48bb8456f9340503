"""The Rashomon set of a fitted problem as tables."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from fsm_hpc.errors import UserError
from fsm_hpc.models.parameters import threads_of
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.rashomon import (
    RashomonSet,
    family_row,
    near_optimal,
    slack_errors,
)
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import clock

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("formula", "size", "errors", "count", "columns", "cuts")


def rashomon_set(
    problem: Problem, slack: float, bound: int, n_jobs: int | None, time_limit_s: float | None
) -> RashomonSet:
    """The Rashomon set of a fitted problem; its optimum is proved first."""
    check_supported(problem)
    ensure_compiled()  # before the clock runs
    cores = threads_of(n_jobs)
    deadline = None if time_limit_s is None else clock.monotonic() + time_limit_s
    control = Control(deadline=deadline)
    with closing(make_solver(SolverName.NATIVE, cores)) as solver:
        outcome = solver.solve(problem, bound, Incumbent(), control)
    if not outcome.proved:
        raise UserError(f"alternatives: the optimum of bound {bound} was not proved in time")
    errors = slack_errors(slack, problem.rows)
    return near_optimal(problem, bound, outcome.errors, errors, cores, control)


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
