"""Search one size here and with helpers at once, to the answer that one machine would give."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from fsm_hpc.search.frontier import Frontier, Leader, UnitRange
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.ledger import PART_S
from fsm_hpc.search.solvers.native.parts import Desk, Helpers, Parts
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.work import Work


@dataclass(frozen=True, slots=True)
class Order:
    """A part of a size for a helper: its search, its problem, what to search and for how long."""

    spread: str
    problem: str  # its fingerprint
    part: Frontier
    seconds: float

    def search(self, desk: Desk) -> Frontier:
        return desk.station.search(
            self.spread,
            desk.search_of(self.problem),
            self.part,
            self.seconds,
            lambda leader: desk.tell(self.spread, leader),
        )


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
        self._leader = frontier.leader
        self._improved = improved
        self._work = Work(search.engine.units_of_size(frontier.size))
        self._told: queue.SimpleQueue[Leader] = queue.SimpleQueue()
        self._started = time.monotonic()

    @property
    def leader(self) -> Leader | None:
        """The first formula in canonical order of the highest score, once it has run to the end."""
        return self._leader

    def frontier(self) -> Frontier:
        """What is left, and the leader of the rest."""
        left = self._ledger.left()
        return replace(
            self._before,
            left=left,
            leader=self._leader,
            share=max(self._before.share, self._work.share(left)),
            seconds=self._before.seconds + time.monotonic() - self._started,
        )

    def _order(self, left: tuple[UnitRange, ...]) -> Order:
        part = replace(self._before, left=left, leader=self._leader, seconds=0.0)
        return Order(self._name, self._problem.fingerprint, part, PART_S)

    def _search_here(self, order: Order) -> Frontier:
        return self._station.search(
            order.spread, self._search, order.part, order.seconds, self._told.put
        )

    def _keep(self, found: Frontier) -> tuple[tuple[UnitRange, ...], float]:
        if (found.numbering, found.size) != (self._before.numbering, self._before.size):
            raise RuntimeError("expected a part of this search, found another")
        if found.leader is not None:
            self._follow(found.leader)
        return found.left, found.seconds

    def _listen(self) -> None:
        while not self._told.empty():
            self._follow(self._told.get())

    def _hear_of(self, spread: str, leader: Leader) -> None:
        if spread == self._name:
            self._told.put(leader)

    def _follow(self, leader: Leader) -> None:
        """Lead with it, and let everybody know, where it comes before what leads now."""
        if self._leader is not None and self._leader.order >= leader.order:
            return
        self._leader = leader
        self._station.hear(self._name, leader)
        self._helpers.hear(self._name, leader)
        self._improved(leader)
