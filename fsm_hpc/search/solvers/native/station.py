"""Where parts of a size are searched, one after the other, in the process that it is in."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from fsm_hpc.search.frontier import Frontier, Leader
from fsm_hpc.search.solvers.native.search import Aim, Run, Search

MOST_WISHES = 16  # searches that are remembered to be over


class Station:
    """Searches parts, and listens meanwhile to what is found elsewhere."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[str, Run] | None = None  # with the name of its search
        self._heard: tuple[str, Leader] | None = None
        self._wishes: OrderedDict[str, threading.Event] = OrderedDict()  # to stop, by search

    def search(
        self,
        spread: str,
        search: Search,
        part: Frontier,
        seconds: float,
        tell: Callable[[Leader], None],
    ) -> Frontier:
        """What is left of the part after at most so long, and the leader."""
        if part.numbering != search.numbering:  # it would be another search, and a false proof
            raise RuntimeError("expected units of this code and problem, found others")
        run = search.begin(Aim(part.size, part.before, part.known), part, tell)
        with self._lock:
            self._running = spread, run
            if self._heard is not None and self._heard[0] == spread:
                run.hear(self._heard[1])
        until, wish = time.monotonic() + seconds, self.wish(spread)

        def is_over() -> bool:
            if time.monotonic() >= until:
                run.pause()  # what takes longer than a part would never end if it were dropped
            return wish.is_set()

        is_done = run.wait(is_over)
        found = run.frontier() or part
        return replace(found, left=(), leader=run.leader) if is_done else found

    def hear(self, spread: str, leader: Leader) -> None:
        """Something was found elsewhere in the search of that name, and says nothing of others."""
        with self._lock:
            self._heard = spread, leader
            if self._running is not None and self._running[0] == spread:
                self._running[1].hear(leader)

    def stop(self, spread: str) -> None:
        """Bring parts of that search back at once."""
        self.wish(spread).set()

    def wish(self, spread: str) -> threading.Event:
        """What is set once parts of that search are to come back."""
        with self._lock:
            while len(self._wishes) >= MOST_WISHES and spread not in self._wishes:
                self._wishes.popitem(last=False)
            return self._wishes.setdefault(spread, threading.Event())
