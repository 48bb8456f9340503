"""Helpers for tests: threads of this process that may lose what they have, and real processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.parts import PartOrder
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.search.solvers.nodes.team import Team, helpers_here


class ThreadHost:
    """Where a thread searches its orders."""

    threads = 1

    def __init__(self) -> None:
        self._native = Native(1)

    def search_of(self, problem: Problem) -> Search:
        return self._native.knowledge(problem).search


class Threads:
    """Helpers that are threads; each part that `loses` names is lost after it was searched."""

    head_start_s = 0.0
    lost = 0

    def __init__(self, count: int, loses: Callable[[int], bool] = lambda number: False) -> None:
        self._count = count
        self._loses = loses
        self._free = [ThreadHost() for _ in range(count)]
        self._pool = ThreadPoolExecutor(count)
        self.given = 0

    def ready(self) -> int:
        return self._count

    def give(self, problem: Problem, order: PartOrder) -> Future[Any]:
        self.given += 1
        return self._pool.submit(self._search, problem, order, self.given)

    def _search(self, problem: Problem, order: PartOrder, number: int) -> Any:
        host = self._free.pop()
        try:
            found = order.search(problem, host)
        finally:
            self._free.append(host)
        if self._loses(number):
            raise CancelledError
        return found


class Together:
    """A team with helpers in processes of their own."""

    def __init__(self, folder: Path, count: int) -> None:
        self.file = folder / "contact.json"
        self._processes = helpers_here(count, self.file, 1, 4000.0, folder / "log.txt")
        self.processes = self._processes.__enter__()
        self.team = Team(self.file, contact.LOOPBACK, head_start_s=0.0)
        self.given = 0
        real = self.team.give

        def give(problem: Problem, order: PartOrder) -> Future[Any]:
            self.given += 1
            return real(problem, order)

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
