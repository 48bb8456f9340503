"""Helpers for tests: threads of this process that may lose what they have, and real processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fsm_hpc.search.frontier import Leader
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.parts import HelperLostError, PartOrder
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.station import Station
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.search.solvers.nodes.team import Team, helpers_here


class ThreadDesk:
    """Where a thread searches its orders."""

    threads = 1

    def __init__(self, owner: Threads) -> None:
        self.station = Station()
        self._owner = owner
        self._native = Native(1)

    def problem(self, fingerprint: str) -> Problem:
        assert fingerprint == self._owner.problem.fingerprint
        return self._owner.problem

    def search_of(self, fingerprint: str) -> Search:
        return self._native.knowledge(self.problem(fingerprint)).search

    def tell(self, spread: str, leader: Leader) -> None:
        self._owner.tell(spread, leader)


class Threads:
    """Helpers that are threads; each part that `loses` names is lost after it was searched."""

    head_start_s = 0.0
    lost = 0

    def __init__(self, count: int, loses: Callable[[int], bool] = lambda number: False) -> None:
        self._count = count
        self._loses = loses
        self._desks = [ThreadDesk(self) for _ in range(count)]
        self._free = list(self._desks)
        self._pool = ThreadPoolExecutor(count)
        self.given = 0

    def meet(self, problem: Problem, tell: Callable[[str, Leader], None]) -> None:
        self.problem, self.tell = problem, tell

    def ready(self) -> int:
        return self._count

    def give(self, order: PartOrder) -> Future[Any]:
        self.given += 1
        return self._pool.submit(self._search, order, self.given, self._free.pop())

    def _search(self, order: PartOrder, number: int, desk: ThreadDesk) -> Any:
        try:
            found = order.search(desk)
        finally:
            self._free.append(desk)
        if self._loses(number):
            raise HelperLostError("as the test wants")
        return found

    def hear(self, spread: str, leader: Leader) -> None:
        for desk in self._desks:
            desk.station.hear(spread, leader)

    def stop(self, spread: str) -> None:
        for desk in self._desks:
            desk.station.stop(spread)


class Together:
    """A team with helpers in processes of their own."""

    def __init__(self, folder: Path, count: int) -> None:
        self.file = folder / "contact.json"
        self._processes = helpers_here(count, self.file, 1, 4000.0, folder / "log.txt")
        self.processes = self._processes.__enter__()
        self.team = Team(self.file, contact.LOOPBACK, head_start_s=0.0)
        self.given = 0
        real = self.team.give

        def give(order: PartOrder) -> Future[Any]:
            self.given += 1
            return real(order)

        self.team.give = give  # type: ignore[method-assign]

    def wait_for(self, count: int) -> Together:
        deadline = time.monotonic() + 120
        while self.team.ready() != count:
            assert time.monotonic() < deadline, f"{self.team.ready()} helpers, not {count}"
            time.sleep(0.05)
        return self

    def close(self) -> None:
        self.team.close()
        self._processes.__exit__(None, None, None)
