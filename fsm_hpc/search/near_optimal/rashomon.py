"""The Rashomon set of a problem: its families, their number, and whether the set is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.search.near_optimal.distributed import FamilyQuery
from fsm_hpc.search.near_optimal.enumeration import (
    NOTHING_YET,
    Progress,
    enumerate_families,
)
from fsm_hpc.search.near_optimal.families import Family, Space
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.table import Array


class NotProvedError(UserError):
    """The optimum, from which the slack is counted, is not known."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What a search may use: threads, the deadline of its control, and other nodes."""

    threads: int
    control: Control = field(default_factory=Control)
    helpers: Helpers | None = None


def slack_errors(slack: float | str, rows: int) -> int:
    """The slack in errors: a value below 1 is a share of the rows, rounded down."""
    try:
        value = Fraction(str(slack))
    except ValueError:
        value = Fraction(-1)
    if value < 0 or (value >= 1 and value.denominator != 1):
        raise UserError(
            f"slack: expected a share of the rows below 1, such as 0.01, or a number of errors, "
            f"found {slack}"
        )
    return int(value * rows) if value < 1 else int(value)


@dataclass(frozen=True)
class RashomonSet:
    """All formulas within a bound that make at most optimum + slack errors, in families."""

    space: Space
    optimum: int
    slack: int
    progress: Progress

    @property
    def bound(self) -> int:
        return self.space.bound

    @property
    def problem(self) -> Problem:
        return self.space.problem

    @property
    def is_complete(self) -> bool:
        return self.progress.is_complete

    @cached_property
    def count(self) -> int:
        return self.progress.count

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Fewest errors first, then the smallest, then in the order of their text."""
        families = map(self.space.family, self.progress.families)
        return tuple(sorted(families, key=lambda f: (f.errors, f.size, str(f.formula))))

    @property
    def first_families(self) -> tuple[Family, ...]:
        """The families in front of which no other one can come, while the search goes on."""
        slack = self.space.searched_slack(self.progress.left)
        most = -1 if slack is None else self.optimum + slack
        return tuple(family for family in self.families if family.errors <= most)

    @cached_property
    def yes(self) -> Array:
        """The number of members that hold on each row of the problem."""
        return np.asarray(self.votes[self.space.table.group])

    @cached_property
    def votes(self) -> Array:
        """The number of members that hold on each distinct row."""
        return self.space.votes(self.progress.families, self._goal)

    def members(self, family: Family, most: int = 100_000) -> Iterator[tuple[Formula, int]]:
        """The formulas of a family with their errors, in the order of their thresholds."""
        table = self.space.table
        search = self.space.family_search(self._goal)
        listed, scores = search.members(family.raw, min(most, family.count))
        for thresholds, score in zip(listed, scores, strict=True):
            yield self.space.formula(family.raw, thresholds), table.positives - int(score)

    def greatest(self, weights: Array) -> tuple[Formula, int] | None:
        """The member with the highest sum of weights over its rows; None in an empty set.

        `weights` are those of the distinct rows (`space.table.rows`).
        """
        search = self.space.family_search(self._goal)
        best: tuple[int, RawFamily, Array] | None = None
        for raw in self.progress.families:
            total, thresholds = search.second_best(raw, weights)
            if best is None or total > best[0]:
                best = (total, raw, thresholds)
        return None if best is None else (self.space.formula(best[1], best[2]), best[0])

    @property
    def _goal(self) -> int:
        return self.space.table.positives - self.optimum - self.slack

    def to_dict(self) -> dict[str, Any]:
        """The content of `alternatives --json`."""
        return {
            "complete": self.is_complete,
            "bound": self.bound,
            "optimum": self.optimum,
            "slack": self.slack,
            "count": self.count,
            "families": [family_row(family) for family in self.families],
        }


def family_row(family: Family) -> dict[str, Any]:
    """A family for files and DataFrames."""
    return {
        "formula": str(family.formula),
        "size": family.size,
        "errors": family.errors,
        "count": family.count,
        "columns": list(family.columns),
        "cuts": {
            column: list(ends[0]) if len(ends) == 1 else [list(end) for end in ends]
            for column, ends in family.thresholds.items()
        },
    }


def agreement_weights(rashomon: RashomonSet) -> Array:
    """The agreement with all members that a member gains by holding on each distinct row."""
    return np.asarray(rashomon.space.table.times * (2 * rashomon.votes - rashomon.count))


def difference_weights(rashomon: RashomonSet, truth: Truth) -> Array:
    """The difference from given answers that a member gains by holding on each distinct row."""
    table = rashomon.space.table
    return np.asarray(np.where(truth[table.rows], -1, 1) * table.times)


def prove_optimum(
    problem: Problem,
    bound: int,
    limits: ResourceLimits,
    formula: Formula | None = None,
    proved_length: int = 0,
) -> int:
    """The fewest errors within the bound.

    `formula` is known, and proved to be the best up to `proved_length`: if that is the bound,
    nothing is searched.
    """
    check_supported(problem)
    start = Incumbent()
    if formula is not None and formula.size <= bound:
        start = Incumbent(formula, problem.errors(formula), min(proved_length, bound))
    with closing(make_solver(SolverName.NATIVE, limits.threads, limits.helpers)) as solver:
        outcome = solver.solve(problem, bound, start, limits.control)
    if not outcome.proved:
        raise NotProvedError(
            f"alternatives: the optimum of bound {bound} was not proved in time, and the slack is "
            "counted from it; allow more time or a smaller bound"
        )
    return outcome.errors


def near_optimal(
    problem: Problem,
    bound: int,
    optimum: int,
    slack: int,
    threads: int = 1,
    control: Control | None = None,
    start: Progress = NOTHING_YET,
    most: int | None = None,
    on_progress: Callable[[RashomonSet], None] = lambda rashomon: None,
    helpers: Helpers | None = None,
) -> RashomonSet:
    """All formulas of that size or less with at most `optimum + slack` errors.

    `optimum`: the fewest errors within the bound, as a solver proved it. A set that reached the
    time limit or `most` families is not complete; its `progress` resumes the search. `helpers` on
    other nodes take part after some seconds. `on_progress` receives the set as it grows.
    """
    check_supported(problem)
    space = Space(problem, bound, slack)
    errors, control = optimum + slack, control or Control()

    def report(progress: Progress) -> None:
        on_progress(RashomonSet(space, optimum, slack, progress))

    query = FamilyQuery(bound, errors, slack)
    progress = enumerate_families(
        space, errors, threads, control, start, most, report, helpers, query
    )
    return RashomonSet(space, optimum, slack, progress)
