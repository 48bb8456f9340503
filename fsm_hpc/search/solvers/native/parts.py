"""Hand a work out in parts, here and to helpers, and take them back, whoever is lost meanwhile."""

from __future__ import annotations

import logging
import queue
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from fsm_hpc.search.frontier import Leader, UnitRange
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.ledger import Ledger
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.station import Station

LOOK_S = 0.02  # how often to look whether to stop
GRACE_S = 2.0  # for parts to come back once they are told to
log = logging.getLogger(__name__)
Found = TypeVar("Found")  # what comes back for a part


class HelperLostError(Exception):
    """Whoever had a part is gone with it."""


class Desk(Protocol):
    """What an order finds where it is searched: a helper's process."""

    threads: int
    station: Station

    def problem(self, fingerprint: str) -> Problem: ...

    def search_of(self, fingerprint: str) -> Search:
        """What there is to know for a search of sizes of that problem."""
        ...

    def tell(self, spread: str, leader: Leader) -> None:
        """Let the one who spreads that search know of it."""
        ...


class PartOrder(Protocol):
    """A part for a helper; it travels there, and knows how it is searched."""

    @property
    def spread(self) -> str:
        """The name of the work that it is a part of."""
        ...

    def search(self, desk: Desk) -> Any: ...


class Helpers(Protocol):
    """Other machines, as a search sees them: they come and go."""

    head_start_s: float  # a size is searched alone for so long

    def meet(self, problem: Problem, tell: Callable[[str, Leader], None]) -> None:
        """Let all know the problem; `tell` is called with what they find, and in which search."""
        ...

    def ready(self) -> int:
        """How many of them can search now."""
        ...

    @property
    def lost(self) -> int:
        """How many of them were ready and are gone."""
        ...

    def give(self, order: PartOrder) -> Future[Any]:
        """Have a part searched by one of them; HelperLostError where that one is lost."""
        ...

    def hear(self, spread: str, leader: Leader) -> None: ...

    def stop(self, spread: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Given(Generic[Found]):
    """A part that is out."""

    number: int
    future: Future[Found]
    is_here: bool


class Parts(ABC, Generic[Found]):
    """The ledger of a work, who has which part of it, and what has come back."""

    def __init__(self, problem: Problem, left: Iterable[UnitRange], helpers: Helpers) -> None:
        self._name = secrets.token_hex(8)
        self._problem = problem
        self._helpers = helpers
        self._ledger = Ledger(left)
        self._station = Station()
        self._given: dict[int, _Given[Found]] = {}
        self._back: queue.SimpleQueue[int] = queue.SimpleQueue()

    @abstractmethod
    def _order(self, left: tuple[UnitRange, ...]) -> PartOrder:
        """The order for a part of these units."""

    @abstractmethod
    def _search_here(self, order: Any) -> Found:
        """Search a part in this process."""

    @abstractmethod
    def _keep(self, found: Found) -> tuple[Iterable[UnitRange], float]:
        """Keep what a part brought; what is left of it, and the seconds that it took."""

    @abstractmethod
    def _hear_of(self, spread: str, leader: Leader) -> None:
        """A helper found something; from any thread."""

    def _listen(self) -> None:
        """Whatever is to be done each time that parts were taken in."""

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

    def _give(self, give: Callable[[PartOrder], Future[Found]], takers: int, is_here: bool) -> None:
        number, left = self._ledger.take(takers)
        future = give(self._order(left))
        self._given[number] = _Given(number, future, is_here)
        future.add_done_callback(lambda _: self._back.put(number))

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
        self._listen()

    def _settle(self, given: _Given[Found]) -> None:
        try:
            found = given.future.result()
        except HelperLostError as loss:
            log.warning("part %d is given out again: %s", given.number, loss)
            self._ledger.give_up(given.number)
            return
        # first what it brought: units are not told to be searched before that is kept
        left, seconds = self._keep(found)
        self._ledger.bring_back(given.number, left, seconds)

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
