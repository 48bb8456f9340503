"""Search all formulas of one size with several threads on a shared leader."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Leader
from fsm_hpc.search.solvers.native.engines import Engine, PlanUnits, Worker, units_of_size
from fsm_hpc.search.solvers.native.kernels.order import DONE, UNIT, UNIT_BITS, UNITS
from fsm_hpc.search.solvers.native.kernels.shapes import Race, Span

CHUNK_S = 0.02  # a thread takes as many units as it did in this time before
LOOK_S = 0.01  # how often to look whether to stop
ALONE_S = 0.02  # the caller's thread works alone for so long before others are started
BUDGET = 20_000_000  # steps of work between two looks at the clock, some 20 ms
QUICK_BUDGET = 2_000_000
QUICK_SIZE = 10  # up to here the functions of a size are listed within milliseconds
QUICK_ROWS = 10_000  # up to here a unit takes milliseconds
PART_S = 0.05  # how long threads are waited for once they are told to stop


class Search:
    """Finds the formulas of one size that score higher than all smaller ones."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self.engine = engine
        self.threads = threads
        self.share = threads  # threads that may take new work; may be lowered while it runs
        self._workers: list[Worker] = []

    def workers(self, count: int) -> list[Worker]:
        """The arrays of the first threads; most sizes are done before a second one is needed."""
        self._workers += (self.engine.worker() for _ in range(len(self._workers), count))
        return self._workers[:count]

    def renew(self) -> None:
        """Arrays that no thread of an earlier run knows."""
        self._workers = []

    def run(
        self,
        size: int,
        to_beat: int,
        known: int | None = None,
        watch: Callable[[], bool] = lambda: False,
        improved: Callable[[Leader], None] = lambda leader: None,
    ) -> Leader | None:
        """The first formula in canonical order of the highest score above `to_beat`, if any.

        `known`: a score that some formula of this size is known to have. `watch` is asked every
        few milliseconds whether to stop; after that the answer means nothing, but `improved` has
        been told of every leader so far.
        """
        start = (to_beat << UNIT_BITS) + UNITS
        if known is not None and known > to_beat:
            start = known << UNIT_BITS
        run = _Run(self, size, start, improved)
        if not run.wait(watch) or run.top == start:
            return None
        return run.decode(int(np.argmax(run.best)))


@dataclass(slots=True)
class Place:
    """One thread's place in the work: its plan, the chunk that is open, how many units to take."""

    worker: Worker
    plan: int = 0
    end: int = -1  # of the open chunk; -1: none is open
    spent_s: float = 0.0  # on that chunk
    chunk: int = 1


class _Run:
    """One run: the threads, the work that is left, and their leaders."""

    def __init__(
        self, search: Search, size: int, start: int, improved: Callable[[Leader], None]
    ) -> None:
        self._search = search
        self._size = size
        self._improved = improved
        self._lock = threading.Lock()  # of the work
        self._voice = threading.Lock()  # of what is told
        self._work: list[PlanUnits] | None = None
        self._failures: list[BaseException] = []
        self._places = [Place(worker) for worker in search.workers(1)]
        self.best = np.full(search.threads, start, np.int64)
        self.flag = np.zeros(1, np.int32)

    @property
    def top(self) -> int:
        """The rank of the leader."""
        return int(self.best.max())

    @property
    def _is_quick(self) -> bool:
        """Whether a moment's work on it ends within a moment."""
        return self._size <= QUICK_SIZE and len(self._search.engine.table.rows) <= QUICK_ROWS

    def wait(self, watch: Callable[[], bool]) -> bool:
        """Run to the end, or until there is a wish to stop (False)."""
        if self._is_quick:
            before = self.top
            if self._advance(0, time.perf_counter() + ALONE_S, QUICK_BUDGET):
                return True
            if self.top != before:
                self._tell(0)
        self._places += map(Place, self._search.workers(self._search.threads)[1:])
        slots = range(len(self._places))
        threads = [Thread(target=self._guarded, args=(s,), daemon=True) for s in slots]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and not self.flag[0]:
                    thread.join(LOOK_S)
                    if watch():
                        self.flag[0] = 1
        except BaseException:  # Ctrl-C, say: no thread goes on alone
            self.flag[0] = 1
            raise
        finally:
            self._part([thread for thread in threads if thread.ident is not None])
        if self._failures:
            raise self._failures[0]
        return not self.flag[0]

    def decode(self, slot: int) -> Leader:
        lane = self._places[slot].worker.lane
        unit = lane.leader[UNIT]
        units = next(u for u in self._plans() if u.first <= unit < u.first + u.units)
        return self._search.engine.decode(units, lane)

    def _part(self, threads: list[Thread]) -> None:
        """Leave no thread behind that could write into arrays of the next run, or be heard of."""
        until = time.monotonic() + PART_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            self._search.renew()
            with self._voice:
                self._improved = lambda leader: None

    def _plans(self) -> list[PlanUnits]:
        """The work of this size, listed by whoever asks first."""
        with self._lock:
            if self._work is None:
                self._work = list(units_of_size(self._search.engine, self._size))
            return self._work

    def _guarded(self, slot: int) -> None:
        try:
            work = self._plans()
            if work and work[-1].first + work[-1].units > UNITS:
                self._despair()
            self._advance(slot, math.inf, BUDGET)
        except BaseException as failure:  # raised again by the thread that waits
            self._failures.append(failure)
            self.flag[0] = 1

    def _despair(self) -> None:
        """More units than can be numbered, let alone searched: wait for the end of the time."""
        while not self.flag[0]:
            time.sleep(LOOK_S)

    def _advance(self, slot: int, until: float, budget: int) -> bool:
        """Work until nothing is left to do in this lane (True), or until that time."""
        place = self._places[slot]
        work = self._plans()
        while not self.flag[0]:
            if place.end < 0 and not (slot < self._search.share and self._take(place, work)):
                return True
            started = time.perf_counter()
            before = self.best[slot]
            units = work[place.plan]
            status = self._search.engine.search(
                place.worker,
                units,
                Race(self.best, self.flag, slot),
                Span(units.first, place.end, budget),
            )
            if self.best[slot] != before and until == math.inf:
                self._tell(slot)
            now = time.perf_counter()
            place.spent_s += now - started
            if status == DONE:
                place.end = -1
                # as many units as fill some milliseconds, so that threads end together
                wanted = int(place.chunk * CHUNK_S / max(place.spent_s, 1e-6))
                place.chunk = max(1, min(4 * place.chunk, wanted))
            if now >= until:
                return False
        return True

    def _take(self, place: Place, work: list[PlanUnits]) -> bool:
        """Open the next chunk of units; False when there are none."""
        with self._lock:
            while place.plan < len(work) and work[place.plan].at == work[place.plan].units:
                place.plan += 1
                place.chunk = 1
            if place.plan == len(work):
                return False
            units = work[place.plan]
            place.worker.lane.control[:3] = units.at, 0, 0
            place.spent_s = 0.0
            units.at = place.end = min(units.units, units.at + place.chunk)
            return True

    def _tell(self, slot: int) -> None:
        leader = self.decode(slot)
        with self._voice:
            if self.best[slot] == self.top:
                self._improved(leader)
