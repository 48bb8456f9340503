"""What a kernel needs around it: units of work, arrays, and a way back to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from fsm_hpc.formulas.language import Language
from fsm_hpc.search.frontier import Leader, Rest
from fsm_hpc.search.solvers.native.directions import directions
from fsm_hpc.search.solvers.native.kernels.shapes import (
    BitMemory,
    BoxMemory,
    Families,
    Lane,
    PlanArrays,
    Race,
    Scratch,
    Span,
)
from fsm_hpc.search.solvers.native.kernels.units import choose_families
from fsm_hpc.search.solvers.native.plans import Plan, plans
from fsm_hpc.search.solvers.native.table import Array, KernelTable

MOST_BOXED = 32  # variables
_NO_DIRECTIONS = np.zeros(8, np.int64)  # where no constraint asks for them


class Blocks(NamedTuple):
    """How the holes of each choice of the boxed variables fall into units."""

    number: int
    holes: int  # of each


@dataclass(frozen=True, slots=True)
class PlanUnits:
    """The units of one plan, numbered from `first` on."""

    plan: Plan
    arrays: PlanArrays
    families: Families
    blocks: Blocks
    first: int
    units: int

    @property
    def end(self) -> int:
        return self.first + self.units


@dataclass(frozen=True, slots=True)
class Worker:
    """The arrays of one thread."""

    memory: BoxMemory | BitMemory
    scratch: Scratch | None
    lane: Lane

    @staticmethod
    def of(memory: BoxMemory | BitMemory, scratch: Scratch | None = None) -> Worker:
        cuts = np.zeros((MOST_BOXED, 2), np.int64)
        return Worker(memory, scratch, Lane(np.zeros(5, np.int64), np.zeros(6, np.int64), cuts))


class Engine(Protocol):
    """Searches the units of a plan."""

    table: KernelTable

    def worker(self) -> Worker: ...

    @property
    def families(self) -> Families:
        """Choices for a boxed variable."""
        ...

    def blocks(self, plan: Plan) -> Blocks: ...

    def search(self, worker: Worker, units: PlanUnits, race: Race, span: Span) -> int:
        """Search up to the span's end; come back after its budget of work, PAUSED or DONE."""
        ...

    def rest(self, worker: Worker, units: PlanUnits) -> Rest:
        """What is left of the unit that a paused worker has begun; nothing if it has not."""
        ...

    def take_up(self, worker: Worker, units: PlanUnits, rest: Rest) -> None:
        """Let the worker begin its next unit with what is left of it."""
        ...

    def decode(self, units: PlanUnits, lane: Lane) -> Leader: ...


def units_of_size(engine: Engine, size: int) -> Iterator[PlanUnits]:
    """All units of a size, numbered in canonical order."""
    families = engine.families
    first = 0
    table = engine.table
    is_directed = bool(table.bounds.is_any)
    for plan, arrays in _prepared(size, table.has_wide_pairs, table.language, is_directed):
        blocks = engine.blocks(plan)
        units = len(families.column) ** plan.boxed * blocks.number
        yield PlanUnits(plan, arrays, families, blocks, first, units)
        first += units


@cache
def _prepared(
    size: int, wide_pairs: bool, language: Language, is_directed: bool
) -> tuple[tuple[Plan, PlanArrays], ...]:
    return tuple((plan, _arrays(plan, is_directed)) for plan in plans(size, wide_pairs, language))


def _arrays(plan: Plan, is_directed: bool) -> PlanArrays:
    positive, negative = plan.relaxed()
    rises, falls = directions(plan) if is_directed else (_NO_DIRECTIONS, _NO_DIRECTIONS)
    return PlanArrays(
        positive,
        negative,
        np.array(plan.states, np.int8),
        np.array(plan.after, np.int32),
        np.array([plan.cross.get(f, -1) for f in range(8)], np.int32),
        rises,
        falls,
        plan.partner,
        plan.hole,
    )


def chosen_families(units: PlanUnits, unit: int) -> Array:
    """The families that a unit chooses for its boxed variables."""
    chosen = np.zeros(MOST_BOXED, np.int32)
    choice = (unit - units.first) // units.blocks.number
    choose_families(choice, units.families, units.arrays, chosen)
    return chosen[: units.plan.boxed]
