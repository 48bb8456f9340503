"""Search all formulas of one size with several threads on a shared leader."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Found
from fsm_hpc.search.solvers.native.engines import Engine, Job, Shared, Worker, jobs
from fsm_hpc.search.solvers.native.kernels.order import DONE, UNIT_BITS, UNITS

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
        improved: Callable[[Found], None] = lambda found: None,
    ) -> Found | None:
        """The first formula in canonical order of the highest score above `to_beat`, if any.

        `known`: a score that some formula of this size is known to have. `watch` is asked every
        few milliseconds whether to stop; after that the answer means nothing, but `improved` has
        been told of every leader so far.
        """
        start = (to_beat << UNIT_BITS) + UNITS
        if known is not None and known > to_beat:
            start = known << UNIT_BITS
        race = _Race(self, size, start, improved)
        if not race.wait(watch) or race.leader == start:
            return None
        return race.decode(int(np.argmax(race.shared.best)))


@dataclass(slots=True)
class Lane:
    """One thread's place in the work: its job, the chunk that is open, how many units to take."""

    worker: Worker
    job: int = 0
    end: int = -1  # of the open chunk; -1: none is open
    spent_s: float = 0.0  # on that chunk
    chunk: int = 1


class _Race:
    """One run: the threads, the work that is left, and their leaders."""

    def __init__(
        self, search: Search, size: int, start: int, improved: Callable[[Found], None]
    ) -> None:
        self._search = search
        self._size = size
        self._improved = improved
        self._lock = threading.Lock()  # of the work
        self._voice = threading.Lock()  # of what is told
        self._work: list[Job] | None = None
        self._failures: list[BaseException] = []
        self._lanes = [Lane(worker) for worker in search.workers(1)]
        self.shared = Shared(np.full(search.threads, start, np.int64), np.zeros(1, np.int32))

    @property
    def leader(self) -> int:
        return int(self.shared.best.max())

    @property
    def _is_quick(self) -> bool:
        """Whether a moment's work on it ends within a moment."""
        return self._size <= QUICK_SIZE and len(self._search.engine.table.rows) <= QUICK_ROWS

    def wait(self, watch: Callable[[], bool]) -> bool:
        """Run to the end, or until there is a wish to stop (False)."""
        if self._is_quick:
            before = self.leader
            if self._advance(0, time.perf_counter() + ALONE_S, QUICK_BUDGET):
                return True
            if self.leader != before:
                self._tell(0)
        self._lanes += map(Lane, self._search.workers(self._search.threads)[1:])
        slots = range(len(self._lanes))
        threads = [Thread(target=self._guarded, args=(s,), daemon=True) for s in slots]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and not self.shared.flag[0]:
                    thread.join(LOOK_S)
                    if watch():
                        self.shared.flag[0] = 1
        except BaseException:  # Ctrl-C, say: no thread goes on alone
            self.shared.flag[0] = 1
            raise
        finally:
            self._part([thread for thread in threads if thread.ident is not None])
        if self._failures:
            raise self._failures[0]
        return not self.shared.flag[0]

    def decode(self, slot: int) -> Found:
        record = self._lanes[slot].worker.record
        unit = record[0]
        job = next(job for job in self._jobs() if job.first <= unit < job.first + job.units)
        return self._search.engine.decode(job, record)

    def _part(self, threads: list[Thread]) -> None:
        """Leave no thread behind that could write into arrays of the next run, or be heard of."""
        until = time.monotonic() + PART_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            self._search.renew()
            with self._voice:
                self._improved = lambda found: None

    def _jobs(self) -> list[Job]:
        """The work of this size, listed by whoever asks first."""
        with self._lock:
            if self._work is None:
                self._work = list(jobs(self._search.engine, self._size))
            return self._work

    def _guarded(self, slot: int) -> None:
        try:
            work = self._jobs()
            if work and work[-1].first + work[-1].units > UNITS:
                self._despair()
            self._advance(slot, math.inf, BUDGET)
        except BaseException as failure:  # raised again by the thread that waits
            self._failures.append(failure)
            self.shared.flag[0] = 1

    def _despair(self) -> None:
        """More units than can be numbered, let alone searched: wait for the end of the time."""
        while not self.shared.flag[0]:
            time.sleep(LOOK_S)

    def _advance(self, slot: int, until: float, budget: int) -> bool:
        """Work until nothing is left to do in this lane (True), or until that time."""
        lane = self._lanes[slot]
        work = self._jobs()
        while not self.shared.flag[0]:
            if lane.end < 0 and not (slot < self._search.share and self._take(lane, work)):
                return True
            started = time.perf_counter()
            before = self.shared.best[slot]
            status = self._search.engine.search(
                lane.worker, work[lane.job], lane.end, self.shared, slot, budget
            )
            if self.shared.best[slot] != before and until == math.inf:
                self._tell(slot)
            now = time.perf_counter()
            lane.spent_s += now - started
            if status == DONE:
                lane.end = -1
                # as many units as fill some milliseconds, so that threads end together
                wanted = int(lane.chunk * CHUNK_S / max(lane.spent_s, 1e-6))
                lane.chunk = max(1, min(4 * lane.chunk, wanted))
            if now >= until:
                return False
        return True

    def _take(self, lane: Lane, work: list[Job]) -> bool:
        """Open the next chunk of units; False when there are none."""
        with self._lock:
            while lane.job < len(work) and work[lane.job].at == work[lane.job].units:
                lane.job += 1
                lane.chunk = 1
            if lane.job == len(work):
                return False
            job = work[lane.job]
            lane.worker.control[:3] = job.at, 0, 0
            lane.spent_s = 0.0
            job.at = lane.end = min(job.units, job.at + lane.chunk)
            return True

    def _tell(self, slot: int) -> None:
        found = self.decode(slot)
        with self._voice:
            if self.shared.best[slot] == self.leader:
                self._improved(found)
