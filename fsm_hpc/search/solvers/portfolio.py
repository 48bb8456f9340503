"""Run the native solver alone for a head start, then clingo-dl beside it."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import check_length
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.parts import Helpers

CHECK_S = 0.02  # interval between checks
log = logging.getLogger(__name__)


class Portfolio:
    """The first proof wins and stops the other solver; the outcome names its solver."""

    name = "portfolio"

    def __init__(
        self,
        threads: int = 1,
        head_start_s: float = 60.0,
        second: Callable[[int], Solver] | None = None,
        helpers: Helpers | None = None,
    ) -> None:
        self._threads = threads
        self._head_start_s = head_start_s
        self._native = Native(threads, helpers)
        self._make_second = second or _clingo_dl
        self._second: Solver | None = None

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest."""
        check_length(problem, length)  # here, so that no solver is reported as failed
        self._native.share(self._threads)
        race = _Race(problem, length, start, control)
        try:
            race.enter(self._native)
            race.wait(until=time.monotonic() + self._head_start_s)
            if not race.is_over:
                # from here on both solvers share the configured threads, at least one each
                mine = max(1, self._threads // 2)
                self._native.share(mine)
                race.enter(self._clingo(max(1, self._threads - mine)))
                race.wait(until=math.inf)
            return race.outcome()
        finally:
            race.stop()  # also after Ctrl-C

    def close(self) -> None:
        self._native.close()
        if self._second is not None:
            self._second.close()

    def _clingo(self, threads: int) -> Solver:
        if self._second is None:
            self._second = self._make_second(threads)
        return self._second


def _clingo_dl(threads: int) -> Solver:
    from fsm_hpc.search.solvers.clingo.solver import ClingoDl

    return ClingoDl(threads)


class _Race:
    """One call of `solve`: each solver in a thread, and the best incumbent of all."""

    def __init__(self, problem: Problem, length: int, start: Incumbent, control: Control) -> None:
        self._problem = problem
        self._length = length
        self._control = control
        self._best = start
        self._pool = ThreadPoolExecutor(2)
        self._runs: list[Future[Outcome]] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._end: End | None = None

    @property
    def is_over(self) -> bool:
        return self._end is not None or self._proof() is not None

    def enter(self, solver: Solver) -> None:
        """Start a solver with the current incumbent."""
        if self._control.stop.is_set():
            self._stop.set()
        self._runs.append(self._pool.submit(self._run, solver))

    def wait(self, until: float) -> None:
        """Wait for a proof, a reason to end, the end of all solvers, or a point in time."""
        while not self.is_over and not all(run.done() for run in self._runs):
            if time.monotonic() >= until:
                return
            self._end = self._control.reason_to_end()
            time.sleep(CHECK_S if self._end is None else 0)

    def stop(self) -> None:
        self._stop.set()
        self._pool.shutdown(wait=False)

    def outcome(self) -> Outcome:
        """The first proof, or else the best outcome of the solvers."""
        proof = self._proof()
        self.stop()
        failures = [run.exception() for run in self._runs]  # waits for all of them
        if proof is not None:
            return proof
        if failure := next(iter(failures), None) if all(failures) else None:
            raise failure
        outcomes = [run.result() for run in self._runs if run.exception() is None]
        best = min(outcomes, key=lambda o: (o.errors, o.formula.size))
        frontiers = (o.frontier for o in outcomes if o.frontier is not None)
        return replace(
            best,
            frontier=next(frontiers, self._best.frontier),
            lower_bound=max(o.lower_bound for o in outcomes),
            proved_length=max(o.proved_length for o in outcomes),
            end=self._end or outcomes[0].end,
        )

    def _proof(self) -> Outcome | None:
        ended = [run.result() for run in self._runs if run.done() and run.exception() is None]
        return next((outcome for outcome in ended if outcome.proved), None)

    def _run(self, solver: Solver) -> Outcome:
        control = replace(self._control, stop=self._stop, report=self._report)
        with self._lock:
            start = self._best
        try:
            return solver.solve(self._problem, self._length, start, control)
        except Exception as failure:
            log.warning("%s failed: %s", solver.name, failure)
            raise

    def _report(self, incumbent: Incumbent) -> None:
        """Report an improvement by any solver to the caller."""
        with self._lock:
            best = incumbent if _is_better(incumbent, self._best) else self._best
            best = replace(best, frontier=incumbent.frontier or self._best.frontier)
            if best != self._best:
                self._best = best
                self._control.report(best)


def _is_better(new: Incumbent, old: Incumbent) -> bool:
    if new.formula is None or old.formula is None:
        return new.formula is not None
    known = (old.errors, old.formula.size, -old.proved_length)
    return (new.errors, new.formula.size, -new.proved_length) < known
