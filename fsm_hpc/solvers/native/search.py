"""Search all formulas of one size with several threads on a shared leader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from fsm_hpc.solvers.native import boxes
from fsm_hpc.solvers.native.engines import Engine, Job, Shared, Worker, jobs
from fsm_hpc.solvers.native.records import Found

CHUNK_S = 0.02  # a thread takes as many units as it did in this time before
LOOK_S = 0.01  # how often to look whether to stop
PART_S = 0.05  # how long threads are waited for once they are told to stop


class Search:
    """Finds the formulas of one size that score higher than all smaller ones."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self.engine = engine
        self.workers = [engine.worker() for _ in range(threads)]
        self.share = threads  # threads that may take new work; may be lowered while it runs

    def renew(self) -> None:
        """Arrays that no thread of an earlier run knows."""
        self.workers = [self.engine.worker() for _ in self.workers]

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
        start = (to_beat << boxes.UNIT_BITS) + boxes.UNITS
        if known is not None and known > to_beat:
            start = known << boxes.UNIT_BITS
        race = _Race(self, size, start, improved)
        if not race.wait(watch) or race.leader == start:
            return None
        return race.decode(int(np.argmax(race.shared.best)))


class _Race:
    """One run: the threads, the work that is left, and their leaders."""

    def __init__(
        self, search: Search, size: int, start: int, improved: Callable[[Found], None]
    ) -> None:
        threads = len(search.workers)
        self.shared = Shared(np.full(threads, start, np.int64), np.zeros(1, np.int32))
        self._search = search
        self._workers = search.workers
        self._size = size
        self._improved = improved
        self._lock = threading.Lock()
        self._work: list[Job] | None = None
        self._failures: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._guarded, args=(slot,), daemon=True)
            for slot in range(threads)
        ]

    @property
    def leader(self) -> int:
        return int(self.shared.best.max())

    def wait(self, watch: Callable[[], bool]) -> bool:
        """Run to the end, or until there is a wish to stop (False)."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            while thread.is_alive() and not self.shared.flag[0]:
                thread.join(LOOK_S)
                if watch():
                    self.shared.flag[0] = 1
        self._part()
        if self._failures:
            raise self._failures[0]
        return not self.shared.flag[0]

    def _part(self) -> None:
        """Leave no thread behind that could write into arrays of the next run."""
        until = time.monotonic() + PART_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            self._search.renew()

    def decode(self, slot: int) -> Found:
        worker = self._workers[slot]
        unit = worker.record[0]
        job = next(job for job in self._jobs() if job.first <= unit < job.first + job.units)
        return self._search.engine.decode(job, worker.record)

    def _jobs(self) -> list[Job]:
        """The work of this size, listed by whoever asks first."""
        with self._lock:
            if self._work is None:
                self._work = list(jobs(self._search.engine, self._size))
            return self._work

    def _guarded(self, slot: int) -> None:
        try:
            work = self._jobs()
            if work and work[-1].first + work[-1].units > boxes.UNITS:
                self._despair()
            for job in work:
                self._run(slot, job)
        except BaseException as failure:  # raised again by the thread that waits
            self._failures.append(failure)
            self.shared.flag[0] = 1

    def _despair(self) -> None:
        """More units than can be numbered, let alone searched: wait for the end of the time."""
        while not self.shared.flag[0]:
            time.sleep(LOOK_S)

    def _run(self, slot: int, job: Job) -> None:
        """Take chunks of the job's units until none are left."""
        worker = self._workers[slot]
        chunk = 1
        while slot < self._search.share and not self.shared.flag[0]:
            begin, end = self._take(job, chunk)
            if begin == end:
                return
            started = time.perf_counter()
            worker.control[:3] = begin, 0, 0
            self._search_units(slot, worker, job, end)
            took = time.perf_counter() - started
            chunk = max(1, min(4 * chunk, int(chunk * CHUNK_S / max(took, 1e-6))))

    def _search_units(self, slot: int, worker: Worker, job: Job, end: int) -> None:
        status = boxes.PAUSED
        while status == boxes.PAUSED:
            before = self.shared.best[slot]
            status = self._search.engine.search(worker, job, end, self.shared, slot)
            if self.shared.best[slot] != before:
                self._tell(slot)

    def _take(self, job: Job, chunk: int) -> tuple[int, int]:
        with self._lock:
            begin = job.at
            job.at = min(job.units, begin + chunk)
            return begin, job.at

    def _tell(self, slot: int) -> None:
        found = self.decode(slot)
        with self._lock:
            if self.shared.best[slot] == self.leader:
                self._improved(found)
