"""Portfolio: native first, clingo-dl after the head start, the first proof wins."""

from __future__ import annotations

import threading
import time

import numpy as np

from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.portfolio import Portfolio
from tests.support.random_tables import random_problem


class Recorder:
    """A second solver that proves at once what native told it, and notes how it was called."""

    name = "second"

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.starts: list[Incumbent] = []
        self.closed = False

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        self.starts.append(start)
        inner = Native(1).solve(problem, length, start, control)
        return Outcome(inner.formula, inner.errors, inner.errors, length, End.PROVED, self.name)

    def close(self) -> None:
        self.closed = True


class Sleeper(Recorder):
    """A second solver that never finds anything, and comes back when it is told to stop."""

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        self.starts.append(start)
        while (end := control.reason_to_end()) is None:
            time.sleep(0.001)
        assert start.formula is not None
        return Outcome(start.formula, problem.errors(start.formula), 0, 0, end, self.name)


class Failing(Recorder):
    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        raise RuntimeError("no such program")


class Slow(Native):
    """Native that waits for a sign before it starts on a size, as on a problem too hard for it."""

    def __init__(self, threads: int, go: threading.Event) -> None:
        super().__init__(threads)
        self._go = go

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        first = super().solve(problem, 1, start, control)
        while not self._go.is_set():
            if (end := control.reason_to_end()) is not None:
                return Outcome(first.formula, first.errors, 0, 1, end, self.name)
            time.sleep(0.001)
        return super().solve(problem, length, start, control)


def a_problem() -> Problem:
    return random_problem(np.random.default_rng(5), Method.PIVOT, 60, 3, 3, 8)


def portfolio(second: Recorder, head_start_s: float, threads: int = 2) -> Portfolio:
    def make(threads: int) -> Solver:
        second.threads = threads
        return second

    return Portfolio(threads, head_start_s, make)


def with_slow_native(made: Portfolio, go: threading.Event) -> Portfolio:
    made._native = Slow(2, go)
    return made


def test_a_proof_within_the_head_start_needs_no_second_solver() -> None:
    second = Recorder(0)
    outcome = portfolio(second, 60).solve(a_problem(), 5, Incumbent(), Control())
    assert (outcome.end, outcome.solver) == (End.PROVED, "native")
    assert second.starts == []


def test_the_second_solver_wins_when_it_proves_first() -> None:
    made = with_slow_native(portfolio(Recorder(0), 0.0), threading.Event())
    outcome = made.solve(a_problem(), 4, Incumbent(), Control())
    alone = Native(1).solve(a_problem(), 4, Incumbent(), Control())
    assert (outcome.end, outcome.solver) == (End.PROVED, "second")
    assert (outcome.errors, outcome.formula.size) == (alone.errors, alone.formula.size)


def test_native_wins_when_the_second_solver_is_slower() -> None:
    go = threading.Event()
    second = Sleeper(0)
    made = with_slow_native(portfolio(second, 0.05), go)
    waker = threading.Timer(0.5, go.set)
    waker.start()
    outcome = made.solve(a_problem(), 4, Incumbent(), Control())
    assert (outcome.end, outcome.solver) == (End.PROVED, "native")
    assert second.starts, "the second solver was to be started after the head start"


def test_the_second_solver_starts_from_the_incumbent() -> None:
    second = Recorder(0)
    made = with_slow_native(portfolio(second, 0.2), threading.Event())
    made.solve(a_problem(), 4, Incumbent(), Control())
    assert second.starts[0].proved_length == 1
    assert second.starts[0].formula is not None


def test_the_threads_are_shared() -> None:
    second = Recorder(0)
    made = with_slow_native(portfolio(second, 0.0, threads=5), threading.Event())
    made.solve(a_problem(), 3, Incumbent(), Control())
    assert (second.threads, made._native._share) == (3, 2)


def test_a_second_solver_that_fails_leaves_the_work_to_native() -> None:
    go = threading.Event()
    made = with_slow_native(portfolio(Failing(0), 0.0), go)
    threading.Timer(0.2, go.set).start()
    outcome = made.solve(a_problem(), 3, Incumbent(), Control())
    assert (outcome.end, outcome.solver) == (End.PROVED, "native")


def test_stopping_it_stops_both_and_gives_the_best_formula() -> None:
    stop = threading.Event()
    made = with_slow_native(portfolio(Sleeper(0), 0.05), threading.Event())
    threading.Timer(0.3, stop.set).start()
    outcome = made.solve(a_problem(), 4, Incumbent(), Control(stop=stop))
    assert outcome.end is End.STOPPED
    assert outcome.errors == a_problem().errors(outcome.formula)


def test_clingo_dl_proves_what_native_leaves_open() -> None:
    made = with_slow_native(Portfolio(2, head_start_s=0.0), threading.Event())
    outcome = made.solve(a_problem(), 3, Incumbent(), Control())
    made.close()
    alone = Native(1).solve(a_problem(), 3, Incumbent(), Control())
    assert (outcome.end, outcome.solver) == (End.PROVED, "clingo_dl")
    assert (outcome.errors, outcome.formula.size) == (alone.errors, alone.formula.size)


def test_progress_of_either_reaches_the_caller_and_never_gets_worse() -> None:
    heard: list[Incumbent] = []
    Portfolio(2, 0.0).solve(a_problem(), 5, Incumbent(), Control(report=heard.append))
    errors = [incumbent.errors for incumbent in heard if incumbent.errors is not None]
    assert heard
    assert errors == sorted(errors, reverse=True)
