"""What a kernel needs around it: units of work, arrays, and a way back to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Leader
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


@dataclass(slots=True)
class PlanUnits:
    """Units of one plan that are still to be handed out, numbered from `first` on."""

    plan: Plan
    arrays: PlanArrays
    families: Families
    first: int
    units: int
    at: int = 0


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

    def parts(self, plan: Plan) -> int:
        """Into how many units each choice of the boxed variables falls."""
        ...

    def search(self, worker: Worker, units: PlanUnits, race: Race, span: Span) -> int:
        """Search up to the span's end; come back after its budget of work, PAUSED or DONE."""
        ...

    def decode(self, units: PlanUnits, lane: Lane) -> Leader: ...


def units_of_size(engine: Engine, size: int) -> Iterator[PlanUnits]:
    """All units of a size, numbered in canonical order."""
    families = engine.families
    first = 0
    for plan, arrays in _prepared(size, bool(engine.table.wide.any())):
        units = len(families.column) ** plan.boxed * engine.parts(plan)
        yield PlanUnits(plan, arrays, families, first, units)
        first += units


@cache
def _prepared(size: int, wide_pairs: bool) -> tuple[tuple[Plan, PlanArrays], ...]:
    return tuple((plan, _arrays(plan)) for plan in plans(size, wide_pairs))


def _arrays(plan: Plan) -> PlanArrays:
    positive, negative = plan.relaxed()
    return PlanArrays(
        positive,
        negative,
        np.array(plan.states, np.int8),
        np.array(plan.after, np.int32),
        np.array([plan.cross.get(f, -1) for f in range(8)], np.int32),
        plan.partner,
        plan.hole,
    )


def chosen_families(units: PlanUnits, unit: int) -> Array:
    """The families that a unit chooses for its boxed variables."""
    chosen = np.zeros(MOST_BOXED, np.int32)
    choose_families(unit - units.first, units.families, units.arrays, chosen)
    return chosen[: units.plan.boxed]
