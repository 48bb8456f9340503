"""Search the Rashomon set on several nodes; the set is that of one machine."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from fsm_hpc.search.frontier import Frontier, UnitRange
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.enumeration import (
    NOTHING_YET,
    OnProgress,
    Progress,
    Watch,
    enumerate_families,
    search_for,
)
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.sink import RawFamily, Sink
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.solvers.native.parts import PART_S, Desk, Helpers, Parts
from fsm_hpc.search.solvers.native.spread import Order
from fsm_hpc.search.solvers.native.work import Work, numbering

_last: dict[tuple[str, int, int], Space] = {}  # of a helper: the space of its last part


@dataclass(frozen=True, slots=True)
class FamilyPart:
    """The result of a part: its families and the units that remain."""

    families: tuple[RawFamily, ...]
    frontier: Frontier


@dataclass(frozen=True, slots=True)
class FamilyOrder:
    """A part of a near-optimal set for a helper."""

    errors: int
    slack: int
    order: Order

    def search(self, problem: Problem, desk: Desk) -> FamilyPart:
        ensure_compiled()
        space = _space_of(problem, self.order.part.size, self.slack)
        return self.search_in(space, desk.threads, threading.Event())

    def search_in(self, space: Space, threads: int, stop: threading.Event) -> FamilyPart:
        """The families of these units, until the time of the order is over or `stop` is set."""
        sink = Sink()
        search = search_for(space, self.errors, sink, threads, numbering(space.problem))
        left = self.order.search_with(search, stop)
        return FamilyPart(sink.in_order, left)


def _space_of(problem: Problem, bound: int, slack: int) -> Space:
    key = problem.fingerprint, bound, slack
    if key not in _last:
        _last.clear()
        _last[key] = Space(problem, bound, slack)
    return _last[key]


class FamilySpread(Parts[FamilyPart]):
    """The parts of a Rashomon set and their families so far."""

    def __init__(
        self,
        space: Space,
        errors: int,
        threads: int,
        start: Progress,
        helpers: Helpers,
        most: int | None = None,
    ) -> None:
        super().__init__(
            space.problem, Work(space.units.groups, start.left).untaken.ranges, helpers
        )
        self._space, self._errors, self._threads = space, errors, threads
        self._numbering = numbering(space.problem)
        self.sink = Sink(start.families, most)

    def progress(self, end: End | None = None) -> Progress:
        """The families so far and the units that remain; unfinished parts count as remaining."""
        return Progress.of(self.sink, self.left(), end)

    def _order(self, left: tuple[UnitRange, ...]) -> FamilyOrder:
        part = Frontier(self._numbering, self._space.bound, None, 0, left)
        return FamilyOrder(self._errors, self._space.slack, Order(part, PART_S))

    def _search_here(self, order: FamilyOrder) -> FamilyPart:
        return order.search_in(self._space, self._threads, self._stop)

    def _keep(self, found: FamilyPart) -> tuple[tuple[UnitRange, ...], float]:
        if found.frontier.numbering != self._numbering:
            raise RuntimeError("expected a part of this search, found another")
        self.sink.add(found.families)
        return found.frontier.left, found.frontier.seconds


def enumerate_spread(
    space: Space,
    errors: int,
    threads: int,
    control: Control,
    helpers: Helpers,
    start: Progress = NOTHING_YET,
    most: int | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> Progress:
    """The same as `enumerate_families`, on all nodes after a head start alone."""
    alone = start
    if helpers.head_start_s > 0:
        alone = enumerate_families(
            space, errors, threads, control, start, most, on_progress, helpers.head_start_s
        )
    if alone.is_complete or alone.is_full or control.reason_to_end() is not None:
        return alone
    spread = FamilySpread(space, errors, threads, alone, helpers, most)
    watch = Watch(control, on_progress)
    spread.wait(lambda: watch.is_over(spread.progress) or spread.sink.is_full)
    return spread.progress(watch.end)
