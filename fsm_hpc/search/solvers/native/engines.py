"""What a kernel needs around it: units of work, arrays, and a way back to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Found
from fsm_hpc.search.solvers.native.kernels.units import choose_families
from fsm_hpc.search.solvers.native.plans import Plan, plans
from fsm_hpc.search.solvers.native.table import Array, Table


@dataclass(slots=True)
class Job:
    """Units of one plan that are still to be handed out, numbered from `first` on."""

    plan: Plan
    arrays: tuple[Any, ...]
    families: Array
    first: int
    units: int
    at: int = 0


@dataclass(slots=True)
class Worker:
    """The arrays of one thread."""

    memory: tuple[Array, ...]
    scratch: tuple[Array, ...]
    control: Array
    record: Array

    @staticmethod
    def of(memory: list[Array], scratch: list[Array]) -> Worker:
        return Worker(tuple(memory), tuple(scratch), np.zeros(5, np.int64), np.zeros(30, np.int64))


@dataclass(frozen=True, slots=True)
class Shared:
    """What the threads of a search see of each other: their leaders, and the wish to stop."""

    best: Array
    flag: Array


class Engine(Protocol):
    """Searches the units of a plan."""

    table: Table

    def worker(self) -> Worker: ...

    @property
    def families(self) -> Array:
        """Choices for a boxed variable, a row each."""
        ...

    def parts(self, plan: Plan) -> int:
        """Into how many units each choice of the boxed variables falls."""
        ...

    def search(
        self, worker: Worker, job: Job, end: int, shared: Shared, slot: int, budget: int
    ) -> int:
        """Search up to unit `end`; come back after `budget` steps of work, PAUSED or DONE."""
        ...

    def decode(self, job: Job, record: Array) -> Found: ...


def jobs(engine: Engine, size: int) -> Iterator[Job]:
    """All units of a size, numbered in canonical order."""
    families = engine.families
    first = 0
    for plan, arrays in _prepared(size, bool(engine.table.wide.any())):
        units = len(families) ** plan.boxed * engine.parts(plan)
        yield Job(plan, arrays, families, first, units)
        first += units


@cache
def _prepared(size: int, wide_pairs: bool) -> tuple[tuple[Plan, tuple[Any, ...]], ...]:
    return tuple((plan, _arrays(plan)) for plan in plans(size, wide_pairs))


def _arrays(plan: Plan) -> tuple[Any, ...]:
    positive, negative = plan.relaxed()
    cross = np.array([plan.cross.get(f, -1) for f in range(8)], np.int32)
    return positive, negative, np.array(plan.after, np.int32), cross, plan.partner, plan.hole


def chosen_families(job: Job, unit: int) -> Array:
    chosen = np.zeros(32, np.int32)
    choose_families(unit - job.first, job.families, job.arrays, chosen)
    return job.families[chosen[: job.plan.boxed]]
