"""Search one size here and with helpers at once, to the answer that one machine would give."""

from __future__ import annotations

import logging
import queue
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from fsm_hpc.search.frontier import Frontier, Leader
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.engines import units_of_size
from fsm_hpc.search.solvers.native.ledger import PART_S, Ledger
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.station import Station
from fsm_hpc.search.solvers.native.work import Work

LOOK_S = 0.02  # how often to look whether to stop
GRACE_S = 2.0  # for parts to come back once they are told to
log = logging.getLogger(__name__)


class HelperLostError(Exception):
    """Whoever had a part is gone with it."""


@dataclass(frozen=True, slots=True)
class Order:
    """A part for a helper: its search, its problem, what to search and for how long."""

    spread: str
    problem: str  # its fingerprint
    part: Frontier
    seconds: float


class Helpers(Protocol):
    """Other machines, as a search sees them: they come and go."""

    head_start_s: float  # a size is searched alone for so long

    def meet(self, problem: Problem, tell: Callable[[str, Leader], None]) -> None:
        """Let all know the problem; `tell` is called with what they find, and in which search."""
        ...

    def ready(self) -> int:
        """How many of them can search now."""
        ...

    def give(self, order: Order) -> Future[Frontier]:
        """Have a part searched by one of them; HelperLostError where that one is lost."""
        ...

    def hear(self, spread: str, leader: Leader) -> None: ...

    def stop(self, spread: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Given:
    """A part that is out."""

    number: int
    future: Future[Frontier]
    is_here: bool
    since: float


class Spread:
    """One size: the ledger of its parts, who has them, and the leader of all."""

    def __init__(
        self,
        problem: Problem,
        search: Search,
        frontier: Frontier,
        improved: Callable[[Leader], None],
        helpers: Helpers,
    ) -> None:
        self._name = secrets.token_hex(8)
        self._problem = problem
        self._search = search
        self._before = frontier
        self._leader = frontier.leader
        self._improved = improved
        self._helpers = helpers
        self._work = Work(list(units_of_size(search.engine, frontier.size)))
        self._ledger = Ledger(frontier.left)
        self._station = Station()
        self._given: dict[int, _Given] = {}
        self._told: queue.SimpleQueue[Leader] = queue.SimpleQueue()
        self._back: queue.SimpleQueue[int] = queue.SimpleQueue()
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

    def wait(self, watch: Callable[[], bool] = lambda: False) -> bool:
        """Run to the end, or until there is a wish to stop (False)."""
        self._helpers.meet(self._problem, self._hear_of)
        with ThreadPoolExecutor(1) as here:
            try:
                while not self._ledger.is_done:
                    self._hand_out(here)
                    self._take_in(LOOK_S)
                    if watch():
                        return False
                return True
            finally:
                self._call_back()

    # ----------------------------------------------------------------------------- parts go out

    def _hand_out(self, here: ThreadPoolExecutor) -> None:
        ready = self._helpers.ready()
        away = sum(not given.is_here for given in self._given.values())
        if self._ledger.has_more and away == len(self._given):
            self._give(lambda order: here.submit(self._search_here, order), ready + 1, True)
        for _ in range(ready - away):
            if self._ledger.has_more:
                self._give(self._helpers.give, ready + 1, False)

    def _give(self, give: Callable[[Order], Future[Frontier]], takers: int, is_here: bool) -> None:
        number, left = self._ledger.take(takers)
        part = replace(self._before, left=left, leader=self._leader, seconds=0.0)
        future = give(Order(self._name, self._problem.fingerprint, part, PART_S))
        self._given[number] = _Given(number, future, is_here, time.monotonic())
        future.add_done_callback(lambda _: self._back.put(number))

    def _search_here(self, order: Order) -> Frontier:
        return self._station.search(
            order.spread, self._search, order.part, order.seconds, self._told.put
        )

    # ----------------------------------------------------------------------------- and come back

    def _take_in(self, patience_s: float) -> None:
        """What has come back by now, or comes within that time; and what was told."""
        while True:
            try:
                number = self._back.get(timeout=patience_s)
            except queue.Empty:
                break
            self._settle(self._given.pop(number))
            patience_s = 0.0
        while not self._told.empty():
            self._follow(self._told.get())

    def _settle(self, given: _Given) -> None:
        try:
            found = given.future.result()
        except HelperLostError as loss:
            log.warning("part %d is given out again: %s", given.number, loss)
            self._ledger.give_up(given.number)
            return
        if (found.numbering, found.size) != (self._before.numbering, self._before.size):
            raise RuntimeError("expected a part of this search, found another")
        # the leader first: units are not told to be searched before what they brought is kept
        if found.leader is not None:
            self._follow(found.leader)
        self._ledger.bring_back(given.number, found.left, found.seconds)

    def _hear_of(self, spread: str, leader: Leader) -> None:
        """A helper found something; from any thread."""
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

    def _call_back(self) -> None:
        """Have all parts back, with what was found in them; those that stay away are left."""
        if not self._given:
            return
        self._station.stop(self._name)
        self._helpers.stop(self._name)
        until = time.monotonic() + GRACE_S
        while self._given and time.monotonic() < until:
            self._take_in(LOOK_S)
        for given in self._given.values():
            given.future.cancel()
