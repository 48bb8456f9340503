"""Where parts of a size are searched, one after the other, in the process that it is in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from fsm_hpc.search.frontier import Frontier, Leader
from fsm_hpc.search.solvers.native.search import Aim, Run, Search


class Station:
    """Searches parts, and listens meanwhile to what is found elsewhere."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[str, Run] | None = None  # with the name of its search
        self._heard: tuple[str, Leader] | None = None
        self._over = ""  # the search that was stopped last

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
        until = time.monotonic() + seconds

        def is_over() -> bool:
            if time.monotonic() >= until:
                run.pause()  # what takes longer than a part would never end if it were dropped
            return self._over == spread

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
        self._over = spread
