"""Search one size here and with helpers at once, to the answer that one machine would give."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fsm_hpc.search.frontier import Frontier, Leader, UnitRange
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.parts import PART_S, Helpers, Parts, SearchHost
from fsm_hpc.search.solvers.native.search import Run, Search, Target
from fsm_hpc.search.solvers.native.work import Work


class Query(Protocol):
    """A search for something else than the optimum; it travels to helpers."""

    def search_of(self, problem: Problem, host: SearchHost) -> Search: ...


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a part: the units that remain, the best formula, and the engine's results."""

    frontier: Frontier
    collected: Any = ()


@dataclass(frozen=True, slots=True)
class Order:
    """A part of a size: what to search, and for how long."""

    part: Frontier
    seconds: float
    query: Query | None = None  # None: the optimum

    def search(self, problem: Problem, host: SearchHost) -> Result:
        search = self.query.search_of(problem, host) if self.query else host.search_of(problem)
        frontier = self.search_with(search, threading.Event())
        return Result(frontier, search.engine.collected())

    def search_with(self, search: Search, stop: threading.Event) -> Frontier:
        """What is left of the part after at most so long, and the leader."""
        part = self.part
        if part.numbering != search.numbering:  # it would be another search, and a false proof
            raise RuntimeError("expected units of this code and problem, found others")
        run = search.begin(Target(part.size, part.before, part.known), part)
        until = time.monotonic() + self.seconds

        def is_over() -> bool:
            if time.monotonic() >= until:
                run.pause()  # what takes longer than a part would never end if it were dropped
            return stop.is_set()

        is_done = run.wait(is_over)
        found = run.frontier() or part
        return replace(found, left=(), leader=run.leader) if is_done else found


class Spread(Parts[Result]):
    """One size: its parts, and the leader of all."""

    def __init__(
        self,
        problem: Problem,
        search: Search,
        frontier: Frontier,
        improved: Callable[[Leader], None],
        helpers: Helpers,
        query: Query | None = None,
    ) -> None:
        self._work = Work(search.engine.units_of_size(frontier.size), frontier.left)
        super().__init__(problem, self._work.untaken.ranges, helpers)
        self._search = search
        self._before = frontier
        self._improved = improved
        self._query = query
        self._started = time.monotonic()
        self.leader = frontier.leader  # once it has run to the end, the first of the highest score

    def frontier(self) -> Frontier:
        """What is left, and the leader of the rest."""
        left = self.left()
        return replace(
            self._before,
            left=left,
            leader=self.leader,
            share=max(self._before.share, self._work.share(left)),
            seconds=self._before.seconds + time.monotonic() - self._started,
        )

    def upper_bound(self) -> int | None:
        """The score that no formula of what is left exceeds, where that is known here."""
        return self._search.engine.upper_bound(self._work.groups, self.left())

    def _order(self, left: tuple[UnitRange, ...]) -> Order:
        part = replace(self._before, left=left, leader=self.leader, seconds=0.0)
        return Order(part, PART_S, self._query)

    def _search_here(self, order: Order) -> Result:
        return Result(order.search_with(self._search, self._stop))

    def _keep(self, found: Result) -> tuple[tuple[UnitRange, ...], float]:
        frontier, leader = found.frontier, found.frontier.leader
        if (frontier.numbering, frontier.size) != (self._before.numbering, self._before.size):
            raise RuntimeError("expected a part of this search, found another")
        self._search.engine.collect(found.collected)
        if leader is not None and (self.leader is None or leader.order > self.leader.order):
            self.leader = leader
            self._improved(leader)
        return frontier.left, frontier.seconds


def search_with_helpers(
    problem: Problem,
    search: Search,
    target: Target,
    frontier: Frontier | None,
    helpers: Helpers | None,
    watch: Callable[[Run | Spread], bool],
    improved: Callable[[Leader], None] = lambda leader: None,
    query: Query | None = None,
) -> tuple[Run | Spread, bool]:
    """A run of the size, here and after a head start with helpers; whether it ended.

    `watch` is called every few milliseconds; True stops the run.
    """
    alone_s = helpers.head_start_s if helpers else math.inf
    alone_s -= frontier.seconds if frontier else 0.0
    if helpers is None or frontier is None or query is None or alone_s > 0:
        run = search.begin(target, frontier, improved)
        until = time.monotonic() + alone_s
        is_done = run.wait(lambda: watch(run) or (run.is_divisible and time.monotonic() >= until))
        frontier = run.frontier()
        if helpers is None or is_done or frontier is None or watch(run):
            return run, is_done
    spread = Spread(problem, search, frontier, improved, helpers, query)
    return spread, spread.wait(lambda: watch(spread))
