"""Search units in parts, here and on helpers at once; a part that is lost is searched again."""

from __future__ import annotations

import logging
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from fsm_hpc.search.frontier import UnitRange, units_in
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.work import UnitQueue

PART_S = 2.0  # a part comes back after so long, with what is left of it
AIMED = 0.7  # of that time: most parts are done before it is over
GROWTH = 4  # of parts, from one to the next
POLL_S = 0.02  # between two checks whether to stop
log = logging.getLogger(__name__)
PartResult = TypeVar("PartResult")  # what comes back for a part


class SearchHost(Protocol):
    """Where an order is searched: a helper's process."""

    threads: int

    def search_of(self, problem: Problem) -> Search: ...


class PartOrder(Protocol):
    """A part for a helper; it travels there, and knows how it is searched."""

    def search(self, problem: Problem, host: SearchHost) -> Any: ...


class Helpers(Protocol):
    """Other machines, as a search sees them: they come and go."""

    head_start_s: float  # a size is searched alone for so long

    def ready(self) -> int:
        """How many of them can search now."""
        ...

    @property
    def lost(self) -> int:
        """How many of them were ready and are gone."""
        ...

    def give(self, problem: Problem, order: PartOrder) -> Future[Any]:
        """Have a part searched by one of them; it is cancelled where nobody is left to do so."""
        ...


class Parts(ABC, Generic[PartResult]):
    """Hands out parts from the front, so that units are searched about in their order.

    Out of order the same leader prunes less: a formula of the same score is no better in a later
    unit, but would be in an earlier one.
    """

    def __init__(self, problem: Problem, left: Iterable[UnitRange], helpers: Helpers) -> None:
        self._problem = problem
        self._helpers = helpers
        self._queue = UnitQueue(left)
        self._count = 1  # units of the next part
        self._out: dict[Future[PartResult], tuple[UnitRange, ...]] = {}
        self._here: Future[PartResult] | None = None  # the last part that was searched here
        self._stop = threading.Event()  # of the part that is searched here

    @abstractmethod
    def _order(self, left: tuple[UnitRange, ...]) -> PartOrder:
        """The order for a part of these units."""

    @abstractmethod
    def _search_here(self, order: Any) -> PartResult:
        """Search a part in this process, until `_stop`."""

    @abstractmethod
    def _keep(self, found: PartResult) -> tuple[Iterable[UnitRange], float]:
        """Keep what a part brought; what is left of it, and the seconds that it took."""

    def left(self) -> tuple[UnitRange, ...]:
        """All that is not searched: what is out counts whole until it comes back."""
        out = (one for part in self._out.values() for one in part)
        return tuple(sorted([*self._queue.ranges, *out], key=lambda one: one.start))

    def wait(self, watch: Callable[[], bool] = lambda: False) -> bool:
        """Run to the end, or until there is a wish to stop (False)."""
        with ThreadPoolExecutor(1) as here:
            try:
                while self._queue.ranges or self._out:
                    self._hand_out(here)
                    wait(self._out, POLL_S, FIRST_COMPLETED)
                    self._take_in(future for future in [*self._out] if future.done())
                    if watch():
                        return False
                return True
            finally:
                self._call_back()

    def _hand_out(self, here: ThreadPoolExecutor) -> None:
        """A part for this process and for each helper, where they have none."""
        ready = self._helpers.ready()
        idle = ready - sum(future is not self._here for future in self._out)
        if self._queue.ranges and self._here not in self._out:
            self._here = self._give(lambda order: here.submit(self._search_here, order), ready + 1)
        while self._queue.ranges and idle > 0:
            self._give(partial(self._helpers.give, self._problem), ready + 1)
            idle -= 1

    def _give(
        self, give: Callable[[PartOrder], Future[PartResult]], takers: int
    ) -> Future[PartResult]:
        """Give out the next units; so few that `takers` would all have some."""
        wanted = min(self._count, math.ceil(units_in(self._queue.ranges) / takers))
        part: list[UnitRange] = []
        while self._queue.ranges and (missing := wanted - units_in(part)) > 0:
            part.append(self._queue.take(missing))
        future = give(self._order(tuple(part)))
        self._out[future] = tuple(part)
        return future

    def _take_in(self, done: Iterable[Future[PartResult]]) -> None:
        for future in done:
            try:
                # first what it brought: units do not count as searched before that is kept
                left, seconds = self._keep(future.result())
            except CancelledError:
                log.warning("a part is given out again, as its helper is lost")
                self._queue.put_back(self._out.pop(future))
                continue
            left = tuple(left)
            searched = units_in(self._out.pop(future)) - units_in(left)
            wanted = int(searched * AIMED * PART_S / max(seconds, 1e-3))
            self._count = max(1, min(GROWTH * self._count, wanted))
            self._queue.put_back(left)

    def _call_back(self) -> None:
        """Have what is searched here; what helpers have counts as not searched."""
        self._stop.set()
        running = [future for future in self._out if not future.cancel()]
        wait(running)
        self._take_in(running)
