"""The Rashomon set of a problem: its families, their number, and whether the set is complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula, Truth
from fsm_hpc.search.near_optimal.distributed import enumerate_spread
from fsm_hpc.search.near_optimal.enumeration import (
    NOTHING_YET,
    OnProgress,
    Progress,
    enumerate_families,
)
from fsm_hpc.search.near_optimal.families import Family, Space
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.table import Array


def slack_errors(slack: float | str, rows: int) -> int:
    """A slack as errors: below 1 that share of the rows, rounded down, else a whole number."""
    try:
        value = Fraction(str(slack))
    except ValueError:
        value = Fraction(-1)
    if value < 0 or (value >= 1 and value.denominator != 1):
        raise UserError(
            f"slack has to be a share of the rows below 1, as 0.01, or a whole number of errors, "
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

    @cached_property
    def yes(self) -> Array:
        """The number of members that hold on each row of the problem."""
        return np.asarray(self.votes[self.space.table.kind_of_row])

    @cached_property
    def votes(self) -> Array:
        """The same for every distinct row."""
        return self.space.units.votes(self.progress.families, self._goal)

    def members(self, family: Family, most: int = 100_000) -> Iterator[tuple[Formula, int]]:
        """The formulas of a family with their errors, in the order of their cuts."""
        table = self.space.table
        search = self.space.units.family_search(self._goal)
        cuts, scores = search.members(family.found, min(most, family.count))
        for chosen, score in zip(cuts, scores, strict=True):
            yield self.space.formula(family.found, chosen), table.positives - int(score)

    def greatest(self, weights: Array) -> tuple[Formula, int] | None:
        """The member under which rows of these weights sum to most; None in an empty set.

        `weights` has one for each distinct row (`space.table.rows`).
        """
        search = self.space.units.family_search(self._goal)
        best: tuple[int, RawFamily, Array] | None = None
        for found in self.progress.families:
            total, cuts = search.second_best(found, weights)
            if best is None or total > best[0]:
                best = (total, found, cuts)
        return None if best is None else (self.space.formula(best[1], best[2]), best[0])

    @property
    def _goal(self) -> int:
        return self.space.table.positives - self.optimum - self.slack

    def to_dict(self) -> dict[str, Any]:
        """What `alternatives --json` prints."""
        return {
            "complete": self.is_complete,
            "bound": self.bound,
            "optimum": self.optimum,
            "slack": self.slack,
            "count": self.count,
            "families": [family_row(family) for family in self.families],
        }


def family_row(family: Family) -> dict[str, Any]:
    """One family, as files and DataFrames have it."""
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
    """Of every distinct row: what a member gains in agreement with all members by saying yes."""
    return np.asarray(rashomon.space.table.times * (2 * rashomon.votes - rashomon.count))


def difference_weights(rashomon: RashomonSet, truth: Truth) -> Array:
    """Of every distinct row: what a member gains in difference from an answer by saying yes."""
    table = rashomon.space.table
    return np.asarray(np.where(truth[table.rows], -1, 1) * table.times)


def near_optimal(
    problem: Problem,
    bound: int,
    optimum: int,
    slack: int,
    threads: int = 1,
    control: Control | None = None,
    start: Progress = NOTHING_YET,
    most: int | None = None,
    on_progress: OnProgress = lambda progress: None,
    helpers: Helpers | None = None,
) -> RashomonSet:
    """All formulas of that size or less with at most `optimum + slack` errors.

    `optimum`: the fewest errors within the bound, as a solver proved it. A set that reached the
    time limit or `most` families is not complete; its `progress` resumes the search. `helpers` on
    other nodes take part after some seconds.
    """
    check_supported(problem)
    space = Space(problem, bound, slack)
    errors, control = optimum + slack, control or Control()
    if helpers is None:
        progress = enumerate_families(space, errors, threads, control, start, most, on_progress)
    else:
        progress = enumerate_spread(
            space, errors, threads, control, helpers, start, most, on_progress
        )
    return RashomonSet(space, optimum, slack, progress)
