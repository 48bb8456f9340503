"""Search all formulas of one size with several threads on a shared leader."""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Thread

import numpy as np

from fsm_hpc.search.frontier import Frontier, Leader, UnitRange
from fsm_hpc.search.solvers.native.engines import Engine, Worker
from fsm_hpc.search.solvers.native.kernels.ranking import (
    AT,
    DONE,
    MAX_SCORE,
    PAUSED,
    UNIT_BITS,
    UNITS,
)
from fsm_hpc.search.solvers.native.kernels.shapes import SharedBest
from fsm_hpc.search.solvers.native.work import ThreadProgress, Work

CHUNK_S = 0.02  # a thread takes as many units as it did in this time before
POLL_S = 0.01  # between two checks whether to stop
ALONE_S = 0.02  # the caller's thread works alone for so long before others are started
BUDGET = 20_000_000  # steps of work between two looks at the clock, some 20 ms
QUICK_BUDGET = 2_000_000
QUICK_SIZE = 10  # up to here the functions of a size are listed within milliseconds
QUICK_ROWS = 10_000  # up to here a unit takes milliseconds
LOWEST = -MAX_SCORE  # below every score
JOIN_S = 0.05  # how long to wait for threads after the signal to stop
LAST_WAIT_S = 10.0  # the same at the end of the process


@dataclass(frozen=True, slots=True)
class Target:
    """What is looked for: formulas of one size that score higher than the best of smaller ones.

    `known`: a score that some formula of this size is known to have.
    """

    size: int
    before: Leader | None
    known: int | None = None

    @property
    def threshold(self) -> int:
        """The rank that a solution has to exceed."""
        to_beat = LOWEST if self.before is None else self.before.score
        if self.known is not None and self.known > to_beat:
            return self.known << UNIT_BITS
        return (to_beat << UNIT_BITS) + UNITS


class Search:
    """Finds the formulas of one size that score higher than all smaller ones."""

    def __init__(self, engine: Engine, threads: int, numbering: str = "") -> None:
        self.engine = engine
        self.threads = threads
        self.numbering = numbering
        self.share = threads  # threads that may take new work; may be lowered while it runs
        self._workers: list[Worker] = []

    def workers(self, count: int) -> list[Worker]:
        """The arrays of the first threads; most sizes are done before a second one is needed."""
        self._workers += (self.engine.worker() for _ in range(len(self._workers), count))
        return self._workers[:count]

    def renew(self) -> None:
        """Arrays that no thread of an earlier run knows."""
        self._workers = []

    def begin(
        self,
        target: Target,
        frontier: Frontier | None = None,
        improved: Callable[[Leader], None] = lambda leader: None,
    ) -> Run:
        """A run that goes on from the frontier where that is one of this very search."""
        if frontier is None or (frontier.numbering, frontier.size) != (self.numbering, target.size):
            return Run(self, target, None, improved)
        scores = [score for score in (target.known, frontier.known) if score is not None]
        target = Target(target.size, target.before, max(scores, default=None))
        return Run(self, target, frontier, improved)


class Run:
    """One run: the threads, the work that is left, and their leaders."""

    def __init__(
        self,
        search: Search,
        target: Target,
        frontier: Frontier | None,
        improved: Callable[[Leader], None],
    ) -> None:
        self._search = search
        self._target = target
        self._before = frontier
        self._improved = improved
        self._listing = threading.Lock()  # of the list of all work, which may take long
        self._lock = threading.Lock()  # of the work
        self._work: Work | None = None
        self._failures: list[BaseException] = []
        self._progress = [ThreadProgress(worker) for worker in search.workers(1)]
        self._started = time.monotonic()
        self._received: Leader | None = None  # of an earlier run or another process
        self._is_enough = False
        # a rank for each thread, and one for an earlier run or another process
        self.best = np.full(search.threads + 1, target.threshold, np.int64)
        self.flag = np.zeros(1, np.int32)
        if frontier and frontier.leader and _rank(frontier.leader) >= target.threshold:
            self._received, self.best[-1] = frontier.leader, _rank(frontier.leader)
        self._reported = self._received

    def pause(self) -> None:
        """Stop every thread after the work that it has begun, so that none of it is lost."""
        self._is_enough = True

    @property
    def _is_quick(self) -> bool:
        """Whether a small budget of work ends within milliseconds."""
        rows = len(self._search.engine.table.rows)
        return self._target.size <= QUICK_SIZE and rows <= QUICK_ROWS

    def wait(self, watch: Callable[[], bool] = lambda: False) -> bool:
        """Run to the end (True), or until `watch` asks to stop (False).

        `watch` is called every few milliseconds, after `improved` for every leader so far.
        """
        if self._is_quick:
            self._all_work()
            if not self.is_too_large:
                if self._advance(0, time.perf_counter() + ALONE_S, QUICK_BUDGET):
                    return not self.flag[0]
                self._note_leader(0)
                self._report_leader()
        self._progress += map(ThreadProgress, self._search.workers(self._search.threads)[1:])
        slots = range(len(self._progress))
        threads = [Thread(target=self._guarded, args=(s,), daemon=True) for s in slots]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and not self.flag[0]:
                    thread.join(POLL_S)
                    self._report_leader()
                    if watch():
                        self.flag[0] = 1
        except BaseException:  # for example Ctrl-C: stop the threads, too
            self.flag[0] = 1
            raise
        finally:
            self._join([thread for thread in threads if thread.ident is not None])
        if self._failures:
            raise self._failures[0]
        return not self.flag[0] and not self._is_enough

    @property
    def leader(self) -> Leader | None:
        """The first formula in canonical order of the highest score, once it has run to the end."""
        if self.best.max() == self._target.threshold:
            return None
        top = np.flatnonzero(self.best == self.best.max()).tolist()
        return _first(
            self._received if n == len(self.best) - 1 else self._note_leader(n) for n in top
        )

    @property
    def is_divisible(self) -> bool:
        """Whether helpers can take parts of it; to list the functions of a size takes a while."""
        return self._work is not None and not self.is_too_large

    def frontier(self) -> Frontier | None:
        """What is left, and the leader of the rest; at any time, from any thread, at once."""
        work = self._work
        if work is None:
            return self._before
        with self._lock:
            # what is left is read before the leaders: a leader may be newer, never older
            held = [progress.left for progress in self._progress if progress.left is not None]
            left = sorted([*held, *work.untaken.ranges], key=lambda one: one.start)
        found = [progress.found for progress in self._progress] + [self._received]
        spent_s = self._before.seconds if self._before else 0.0
        return Frontier(
            self._search.numbering,
            self._target.size,
            self._target.before,
            self._target.known,
            tuple(left),
            _first(found),
            work.share(left),
            spent_s + time.monotonic() - self._started,
        )

    def upper_bound(self) -> int | None:
        """The score that no formula of what is left exceeds, where that is known."""
        frontier = self.frontier()
        if self._work is None or frontier is None or self.is_too_large:
            return None
        return self._search.engine.upper_bound(self._work.groups, frontier.left)

    # -------------------------------------------------------------------------------- threads

    def _join(self, threads: list[Thread]) -> None:
        """Leave no thread behind that could write into arrays of the next run."""
        until = time.monotonic() + JOIN_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        alive = [thread for thread in threads if thread.is_alive()]
        if alive:
            _unfinished.extend(alive)
            self._search.renew()

    def _all_work(self) -> Work:
        """The work of this size; the first thread lists it."""
        with self._listing:
            if self._work is None:
                groups = self._search.engine.units_of_size(self._target.size)
                self._work = Work(groups, self._before.left if self._before else None)
            return self._work

    def _guarded(self, slot: int) -> None:
        try:
            self._all_work()
            if self.is_too_large:
                self._wait_for_the_end()
            self._advance(slot, math.inf, BUDGET)
        except BaseException as failure:  # raised again by the thread that waits
            self._failures.append(failure)
            self.flag[0] = 1

    @property
    def is_too_large(self) -> bool:
        """Whether there are more units than can be numbered; false until they are listed."""
        return self._work is not None and self._work.units > self._search.engine.most_units

    def _wait_for_the_end(self) -> None:
        """Wait: nothing can be proved, and the caller searches locally until it stops the run."""
        while not self.flag[0]:
            time.sleep(POLL_S)

    def _advance(self, slot: int, until: float, budget: int) -> bool:
        """Work until this thread has nothing left to do (True), or until that time."""
        progress = self._progress[slot]
        work = self._all_work()
        while not self.flag[0]:
            if progress.piece is None and not (
                slot < self._search.share and self._take(progress, work)
            ):
                return True
            started = time.perf_counter()
            status = self._search_piece(progress, slot, budget)
            if until == math.inf:
                self._note_leader(slot)
            now = time.perf_counter()
            progress.spent_s += now - started
            self._note(progress, status)
            if self._is_enough:
                return True
            if now >= until:
                return False
        return True

    def _search_piece(self, progress: ThreadProgress, slot: int, budget: int) -> int:
        piece = progress.piece
        assert piece is not None
        units = piece.units
        shared, end = SharedBest(self.best, self.flag, slot), piece.left.end - units.first
        return self._search.engine.search(progress.worker, units, shared, end, budget)

    def _note(self, progress: ThreadProgress, status: int) -> None:
        """Keep what is left of the piece; after a stop the last state remains."""
        piece = progress.piece
        assert piece is not None
        if status == PAUSED:
            at = piece.units.first + int(progress.worker.thread.control[AT])
            rest = self._search.engine.rest(progress.worker, piece.units)
            progress.left = UnitRange(at, piece.left.end, rest) if at < piece.left.end else None
        elif status == DONE:
            progress.piece = progress.left = None
            # as many units as fill some milliseconds, so that threads end together
            wanted = int(progress.chunk * CHUNK_S / max(progress.spent_s, 1e-6))
            progress.chunk = max(1, min(4 * progress.chunk, wanted))

    def _take(self, progress: ThreadProgress, work: Work) -> bool:
        """Open the next piece of work; False when there is none."""
        with self._lock:
            group = work.next_group()
            if group is not progress.group:
                progress.group, progress.chunk = group, 1
            piece = work.take(progress.chunk)
            if piece is None:
                return False
            progress.piece, progress.left = piece, piece.left
        progress.spent_s = 0.0
        progress.worker.thread.control[:3] = piece.left.start - piece.units.first, 0, 0
        self._search.engine.resume(progress.worker, piece.units, piece.left.rest)
        return True

    def _note_leader(self, slot: int) -> Leader | None:
        """The best formula of a paused thread."""
        progress = self._progress[slot]
        if progress.has_new_leader:
            thread = progress.worker.thread
            progress.noted = thread.incumbent.tobytes()
            progress.found = self._search.engine.decode(self._all_work().groups, thread)
        return progress.found

    def _report_leader(self) -> None:
        """Pass on a leader that is new."""
        leader = _first([self._reported, *(progress.found for progress in self._progress)])
        if leader is not None and leader is not self._reported:
            self._reported = leader
            self._improved(leader)


_unfinished: list[Thread] = []  # threads that were still in a kernel when their run had ended


@atexit.register
def _join_unfinished() -> None:
    until = time.monotonic() + LAST_WAIT_S
    for thread in _unfinished:
        thread.join(max(0.0, until - time.monotonic()))


def _first(found: Iterable[Leader | None]) -> Leader | None:
    return max((f for f in found if f is not None), key=lambda f: f.order, default=None)


def _rank(leader: Leader) -> int:
    """The place of a formula in the order of solutions."""
    return (leader.score << UNIT_BITS) + max(1, UNITS - leader.unit)
