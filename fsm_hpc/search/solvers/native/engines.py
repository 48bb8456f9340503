"""What a kernel needs around it: units of work, arrays, and a way back to formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from fsm_hpc.formulas.language import Language
from fsm_hpc.search.frontier import Leader, Rest, UnitRange
from fsm_hpc.search.solvers.native.kernels.boxes import choose_families
from fsm_hpc.search.solvers.native.kernels.shapes import (
    BoxMemory,
    CellMemory,
    Families,
    PlanArrays,
    SharedBest,
    ThreadState,
)
from fsm_hpc.search.solvers.native.plans import Plan, plans
from fsm_hpc.search.solvers.native.table import MOST_BOXED, Array, KernelTable

_NO_DIRECTIONS = np.zeros(8, np.int64)  # where no constraint asks for them


class Blocks(NamedTuple):
    """How the candidates for the free literals fall into units, by choice of boxed variables."""

    number: int
    candidates: int  # of each


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that are searched alike, numbered from `first` on."""

    first: int
    units: int

    @property
    def end(self) -> int:
        return self.first + self.units


@dataclass(frozen=True, slots=True)
class PlanUnits(UnitGroup):
    """The units of one plan."""

    plan: Plan
    arrays: PlanArrays
    families: Families
    blocks: Blocks


@dataclass(slots=True)
class Worker:
    """The arrays of one thread; `memory` is its engine's own."""

    thread: ThreadState
    memory: BoxMemory | CellMemory | None = None


class Engine(Protocol):
    """Searches units, in its own terms: `group` is always one that it listed itself."""

    most_units: int  # that it can number
    table: Any  # its `rows` are those that differ

    def worker(self) -> Worker: ...

    def units_of_size(self, size: int) -> Sequence[UnitGroup]:
        """All units of a size, numbered in the order in which they are searched."""
        ...

    def search(self, worker: Worker, group: Any, shared: SharedBest, end: int, budget: int) -> int:
        """Search units of a group up to `end`; PAUSED after a budget of work, DONE, STOPPED."""
        ...

    def rest(self, worker: Worker, group: Any) -> Rest:
        """What is left of the unit that a paused worker has begun; nothing if it has not."""
        return ()

    def resume(self, worker: Worker, group: Any, rest: Rest) -> None:
        """Let the worker begin its next unit with what is left of it."""
        return

    def upper_bound(self, groups: Sequence[Any], left: Iterable[UnitRange]) -> int | None:
        """A score that no formula of these units exceeds; None where there is none at hand."""
        return None

    def decode(self, groups: Sequence[Any], thread: ThreadState) -> Leader:
        """The formula that a worker found best in one of these groups."""
        raise AssertionError("a search for all formulas has no best formula")

    def collected(self) -> Any:
        """The results beside the best formula, to send to another process."""
        return ()

    def collect(self, results: Any) -> None:
        """Add the results of another process."""
        return


def units_of_plans(
    table: KernelTable, size: int, blocks_of: Callable[[Plan], Blocks]
) -> Iterator[PlanUnits]:
    """All units of a size for boxes, numbered in canonical order."""
    families, first = table.families, 0
    is_directed = bool(table.bounds.is_any)
    for plan, arrays in _prepared(size, table.has_wide_pairs, table.language, is_directed):
        blocks = blocks_of(plan)
        units = plan.choices(len(families.column)) * blocks.number
        yield PlanUnits(first, units, plan, arrays, families, blocks)
        first += units


@cache
def _prepared(
    size: int, wide_pairs: bool, language: Language, is_directed: bool
) -> tuple[tuple[Plan, PlanArrays], ...]:
    return tuple((plan, _arrays(plan, is_directed)) for plan in plans(size, wide_pairs, language))


def _arrays(plan: Plan, is_directed: bool) -> PlanArrays:
    positive, negative = plan.relaxed()
    rises, falls = plan.directions() if is_directed else (_NO_DIRECTIONS, _NO_DIRECTIONS)
    return PlanArrays(
        positive,
        negative,
        np.array(plan.states, np.int8),
        np.array(plan.after, np.int32),
        np.array(plan.later, np.int32),
        np.array([plan.cross.get(f, -1) for f in range(8)], np.int32),
        rises,
        falls,
        plan.partner,
        plan.free,
    )


def chosen_families(units: PlanUnits, unit: int) -> Array:
    """The families that a unit chooses for its boxed variables."""
    chosen = np.zeros(MOST_BOXED, np.int32)
    choice = (unit - units.first) // units.blocks.number
    choose_families.py_func(choice, units.families, units.arrays, chosen)
    return chosen[: units.plan.boxed]
