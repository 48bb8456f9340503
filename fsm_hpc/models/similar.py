"""The alternatives of a fitted classifier as tables."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from fsm_hpc.errors import UserError
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.good_set import (
    GoodSet,
    family_row,
    near_optimal,
    slack_errors,
)
from fsm_hpc.search.near_optimal.served import check_served
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.system import clock, machine

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("formula", "size", "errors", "count", "columns", "cuts")


class Alternatives:
    """What a fitted classifier knows of formulas that are about as good as its own."""

    _fitted: Problem | None  # the rows, which are not saved
    _good: GoodSet | None
    length_: int
    threads: int | None

    def alternatives(
        self, slack: float = 0.01, bound: int | None = None, time_limit_s: float | None = None
    ) -> pd.DataFrame:
        """All formulas within the slack of the optimum, one family of them a row.

        `slack` below 1 is a share of the fitted rows, else a number of errors; `bound` is the
        size (that of the rule's search when not given). `attrs` has `count` and `complete`;
        `members` lists the formulas of a family. It needs the fitted rows, which are not saved.
        """
        fitted = getattr(self, "_fitted", None)
        if fitted is None:
            raise UserError(
                "alternatives: expected a classifier of two classes that fit was called on, found "
                "one that was loaded, has more classes or is not fitted; of several classes, fit "
                "one against the rest: fit(X, y == CLASS)"
            )
        self._good = good_set(fitted, slack, bound or self.length_, self.threads, time_limit_s)
        return frame(self._good)

    def members(self, family: int, most: int = 100_000) -> pd.DataFrame:
        """The formulas of a row of `alternatives`, with their errors."""
        known = getattr(self, "_good", None)
        if known is None:
            raise UserError("members: expected a call of alternatives before, found none")
        return members(known, family, most)

    def __getstate__(self) -> dict[str, Any]:
        """A pickle has the rule, not the rows that it was fitted on."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[misc]
        return {k: v for k, v in state.items() if k not in ("_fitted", "_good")}


def good_set(
    problem: Problem, slack: float, bound: int, threads: int | None, time_limit_s: float | None
) -> GoodSet:
    """The good set of a fitted problem; its optimum is proved first."""
    check_served(problem)
    ensure_compiled()  # before the clock runs
    cores = threads or machine.available_cores()
    deadline = None if time_limit_s is None else clock.monotonic() + time_limit_s
    control = Control(deadline=deadline)
    with closing(make_solver(SolverName.NATIVE, cores)) as solver:
        outcome = solver.solve(problem, bound, Incumbent(), control)
    if not outcome.proved:
        raise UserError(f"alternatives: the optimum of bound {bound} was not proved in time")
    errors = slack_errors(slack, problem.rows)
    return near_optimal(problem, bound, outcome.errors, errors, cores, control)


def frame(good: GoodSet) -> pd.DataFrame:
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


def members(good: GoodSet, family: int, most: int) -> pd.DataFrame:
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
