"""Search one size here and with helpers at once, to the answer that one machine would give."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from fsm_hpc.search.frontier import Frontier, Leader, UnitRange
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.parts import PART_S, Desk, Helpers, Parts
from fsm_hpc.search.solvers.native.search import Aim, Search
from fsm_hpc.search.solvers.native.work import Work


@dataclass(frozen=True, slots=True)
class Order:
    """A part of a size: what to search, and for how long."""

    part: Frontier
    seconds: float

    def search(self, problem: Problem, desk: Desk) -> Frontier:
        return self.search_with(desk.search_of(problem), threading.Event())

    def search_with(self, search: Search, stop: threading.Event) -> Frontier:
        """What is left of the part after at most so long, and the leader."""
        part = self.part
        if part.numbering != search.numbering:  # it would be another search, and a false proof
            raise RuntimeError("expected units of this code and problem, found others")
        run = search.begin(Aim(part.size, part.before, part.known), part)
        until = time.monotonic() + self.seconds

        def is_over() -> bool:
            if time.monotonic() >= until:
                run.pause()  # what takes longer than a part would never end if it were dropped
            return stop.is_set()

        is_done = run.wait(is_over)
        found = run.frontier() or part
        return replace(found, left=(), leader=run.leader) if is_done else found


class Spread(Parts[Frontier]):
    """One size: its parts, and the leader of all."""

    def __init__(
        self,
        problem: Problem,
        search: Search,
        frontier: Frontier,
        improved: Callable[[Leader], None],
        helpers: Helpers,
    ) -> None:
        super().__init__(problem, frontier.left, helpers)
        self._search = search
        self._before = frontier
        self._improved = improved
        self._work = Work(search.engine.units_of_size(frontier.size))
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

    def most(self) -> int | None:
        """The score that no formula of what is left exceeds, where that is known here."""
        return self._search.engine.most(self._work.groups, self.left())

    def _order(self, left: tuple[UnitRange, ...]) -> Order:
        return Order(replace(self._before, left=left, leader=self.leader, seconds=0.0), PART_S)

    def _search_here(self, order: Order) -> Frontier:
        return order.search_with(self._search, self._stop)

    def _keep(self, found: Frontier) -> tuple[tuple[UnitRange, ...], float]:
        if (found.numbering, found.size) != (self._before.numbering, self._before.size):
            raise RuntimeError("expected a part of this search, found another")
        leader = found.leader
        if leader is not None and (self.leader is None or leader.order > self.leader.order):
            self.leader = leader
            self._improved(leader)
        return found.left, found.seconds
