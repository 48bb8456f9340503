"""Native first and alone; what it has not proved after a head start, clingo-dl attacks as well."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import check_length
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.parts import Helpers

LOOK_S = 0.02  # how often to look who is done
log = logging.getLogger(__name__)


class Portfolio:
    """The first proof wins and stops the other; the outcome says whose it was."""

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
        check_length(problem, length)  # here, so that nobody is said to have given up
        self._native.share(self._threads)
        race = _Race(problem, length, start, control)
        try:
            race.enter(self._native)
            race.wait(until=time.monotonic() + self._head_start_s)
            if not race.is_over:
                # from here on the two have the configured threads between them, one each at least
                mine = max(1, self._threads // 2)
                self._native.share(mine)
                race.enter(self._clingo(max(1, self._threads - mine)))
                race.wait(until=None)
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


@dataclass(slots=True)
class _Runner:
    """A solver at work in a thread of its own."""

    solver: Solver
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    outcome: Outcome | None = None
    failure: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.outcome is not None or self.failure is not None


class _Race:
    """One call of `solve`: runners, the best that any of them told, and who was first."""

    def __init__(self, problem: Problem, length: int, start: Incumbent, control: Control) -> None:
        self._problem = problem
        self._length = length
        self._control = control
        self._best = start
        self._runners: list[_Runner] = []
        self._lock = threading.Lock()
        self._end: End | None = None

    @property
    def is_over(self) -> bool:
        return self._end is not None or self._proof() is not None

    def enter(self, solver: Solver) -> None:
        """Start a solver on what is known by now."""
        runner = _Runner(solver)
        if self._control.stop.is_set():
            runner.stop.set()
        control = replace(self._control, stop=runner.stop, report=self._hear)
        runner.thread = threading.Thread(target=self._run, args=(runner, control))
        self._runners.append(runner)
        runner.thread.start()

    def wait(self, until: float | None) -> None:
        """Until a proof, a reason to end, the end of all runners, or a point in time."""
        while not self.is_over and not all(runner.is_done for runner in self._runners):
            if until is not None and time.monotonic() >= until:
                return
            self._end = self._control.reason_to_end()
            time.sleep(LOOK_S if self._end is None else 0)

    def stop(self) -> None:
        for runner in self._runners:
            runner.stop.set()

    def outcome(self) -> Outcome:
        """The first proof, or else the best of what the runners came back with."""
        proof = self._proof()
        self.stop()
        for runner in self._runners:
            assert runner.thread is not None
            runner.thread.join()
        outcomes = [runner.outcome for runner in self._runners if runner.outcome is not None]
        if proof is not None:
            return proof
        if not outcomes:
            raise next(runner.failure for runner in self._runners if runner.failure is not None)
        best = min(outcomes, key=lambda o: (o.errors, o.formula.size))
        return replace(
            best,
            frontier=next(
                (o.frontier for o in outcomes if o.frontier is not None), self._best.frontier
            ),
            lower_bound=max(o.lower_bound for o in outcomes),
            proved_length=max(o.proved_length for o in outcomes),
            end=self._end or outcomes[0].end,
        )

    def _proof(self) -> Outcome | None:
        done = [r.outcome for r in self._runners if r.outcome is not None and r.outcome.proved]
        return done[0] if done else None

    def _run(self, runner: _Runner, control: Control) -> None:
        with self._lock:
            start = self._best
        try:
            runner.outcome = runner.solver.solve(self._problem, self._length, start, control)
        except Exception as failure:
            runner.failure = failure
            log.warning("%s gave up: %s", runner.solver.name, failure)

    def _hear(self, incumbent: Incumbent) -> None:
        """Tell the caller what is new, whoever found it."""
        with self._lock:
            best = incumbent if _is_news(incumbent, self._best) else self._best
            best = replace(best, frontier=incumbent.frontier or self._best.frontier)
            if best != self._best:
                self._best = best
                self._control.report(best)


def _is_news(new: Incumbent, old: Incumbent) -> bool:
    if new.formula is None or new.errors is None:
        return False
    if old.formula is None or old.errors is None:
        return True
    better = (old.errors, old.formula.size) > (new.errors, new.formula.size)
    same = (old.errors, old.formula.size) == (new.errors, new.formula.size)
    return better or (same and new.proved_length > old.proved_length)
