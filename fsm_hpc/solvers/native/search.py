"""Search all formulas of one size with several threads on a shared leader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from fsm_hpc.solvers.native import boxes
from fsm_hpc.solvers.native.engines import Engine, Job, Shared, Worker, jobs
from fsm_hpc.solvers.native.records import Found, Literal

CHUNK_S = 0.02  # a thread takes as many units as it did in this time before


class Search:
    """Finds the formulas of one size that score higher than all smaller ones."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self.engine = engine
        self.workers = [engine.worker() for _ in range(threads)]
        self.shared = Shared(np.zeros(threads, np.int64), np.zeros(1, np.int32))
        self._lock = threading.Lock()
        self._failures: list[BaseException] = []
        self.share = threads  # threads that may take new work; may be lowered while it runs

    def run(
        self,
        size: int,
        to_beat: int,
        known: int | None = None,
        literals: list[Literal] | None = None,
        watch: Callable[[], bool] = lambda: False,
        improved: Callable[[Found], None] = lambda found: None,
    ) -> Found | None:
        """The first formula in canonical order of the highest score above `to_beat`, if any.

        `known`: a score that some formula of this size is known to have. `literals`: box these
        only. `watch` is asked every few milliseconds whether to stop; see `stopped`.
        """
        start = (to_beat << boxes.UNIT_BITS) + boxes.UNITS
        if known is not None and known > to_beat:
            start = known << boxes.UNIT_BITS
        self.shared.best[:] = start
        self.shared.flag[:] = 0
        work = list(jobs(self.engine, size, literals))
        self._together(work, watch, improved)
        slot = int(np.argmax(self.shared.best))
        if self.shared.best[slot] == start:
            return None
        return self._decode(work, self.workers[slot])

    @property
    def stopped(self) -> bool:
        return bool(self.shared.flag[0])

    def _together(
        self, work: list[Job], watch: Callable[[], bool], improved: Callable[[Found], None]
    ) -> None:
        threads = [
            threading.Thread(target=self._guarded, args=(slot, work, improved), daemon=True)
            for slot in range(len(self.workers))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.005)
                if watch():
                    self.shared.flag[0] = 1
        if self._failures:
            raise self._failures.pop()

    def _guarded(self, slot: int, work: list[Job], improved: Callable[[Found], None]) -> None:
        try:
            self._work(slot, work, improved)
        except BaseException as failure:  # raised again by the thread that waits
            self._failures.append(failure)
            self.shared.flag[0] = 1

    def _work(self, slot: int, work: list[Job], improved: Callable[[Found], None]) -> None:
        worker = self.workers[slot]
        for job in work:
            chunk = 1
            while slot < self.share and (taken := self._take(job, chunk)) is not None:
                began = time.perf_counter()
                worker.control[:3] = taken[0], 0, 0
                status = boxes.PAUSED
                while status == boxes.PAUSED:
                    before = self.shared.best[slot]
                    status = self.engine.search(worker, job, taken[1], self.shared, slot)
                    if self.shared.best[slot] != before:
                        self._tell(work, slot, improved)
                if status == boxes.STOPPED:
                    return
                took = time.perf_counter() - began
                chunk = max(1, min(4 * chunk, int(chunk * CHUNK_S / max(took, 1e-6))))

    def _take(self, job: Job, chunk: int) -> tuple[int, int] | None:
        with self._lock:
            at = job.at
            job.at = min(job.units, at + chunk)
            return (at, job.at) if job.at > at else None

    def _tell(self, work: list[Job], slot: int, improved: Callable[[Found], None]) -> None:
        with self._lock:
            if self.shared.best[slot] == self.shared.best.max():
                improved(self._decode(work, self.workers[slot]))

    def _decode(self, work: list[Job], worker: Worker) -> Found:
        unit = worker.record[0]
        job = next(job for job in work if job.first <= unit < job.first + job.units)
        return self.engine.decode(job, worker.record)
