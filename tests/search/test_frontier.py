"""The frontier: an interrupted size goes on where it was, where that is the same search."""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.frontier import Frontier, Leader, UnitRange, with_checksum
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.native import Native, engine_choice, search, work
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.kernels.ranking import STOPPED
from fsm_hpc.search.solvers.native.spread import Order
from fsm_hpc.system import serialization
from tests.support.random_tables import FORMULA_METHODS, random_problem

LENGTH = 7
by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)
SOME = Frontier(
    "digest",
    5,
    Leader(parse("a or b >= 2.5"), 12),
    None,
    (UnitRange(3, 9), UnitRange(20, 21, ((0, 4, 7, 7), (5, 6, 7, 7)))),
    Leader(parse("a and not c"), 14, 2),
    0.25,
    30.0,
)


class Interrupter:
    """Lets kernels come back after a moment, and stops the solver after so many of those."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search, "QUICK_SIZE", 0)
        monkeypatch.setattr(search, "BUDGET", 500)
        self._real = search.Run._search_piece
        self.passed = 0
        self._moments: float = math.inf
        self._stop = threading.Event()
        monkeypatch.setattr(search.Run, "_search_piece", lambda *found: self._search_piece(*found))

    def after(self, moments: float) -> Control:
        self.passed, self._moments, self._stop = 0, moments, threading.Event()
        return Control(stop=self._stop)

    def _search_piece(self, run: search.Run, *arguments: Any) -> int:
        self.passed += 1
        if self.passed > self._moments:
            self._stop.set()
            run.flag[0] = 1
            return STOPPED
        return self._real(run, *arguments)


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Interrupter:
    return Interrupter(monkeypatch)


def start_of(outcome: Outcome, frontier: Frontier | None) -> Incumbent:
    return Incumbent(outcome.formula, outcome.errors, outcome.proved_length, 0, frontier)


def saved(frontier: Frontier) -> dict[str, Any]:
    """As it stands in a file."""
    return with_checksum(serialization.plain(frontier))


def through_json(frontier: Frontier | None) -> Frontier | None:
    """As it comes back from disk; None between two sizes."""
    return frontier and Frontier.verified(json.loads(json.dumps(saved(frontier))))


@pytest.mark.parametrize("set_cost", [math.inf, 0.0], ids=["boxes", "cells"])
@pytest.mark.parametrize("threads", [1, 2, 4])
@by_method
def test_a_size_that_is_stopped_again_and_again_has_the_answer_of_one_piece(
    method: Method,
    threads: int,
    set_cost: float,
    stop: Interrupter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", set_cost)
    rng = np.random.default_rng(5)
    stops = 0
    for _ in range(3):
        problem = random_problem(rng, method, 60, 4, 3, 8)
        expected = Native(1).solve(problem, LENGTH, Incumbent(), stop.after(math.inf))
        one_piece, spent = stop.passed, 0
        start, shares, most = Incumbent(), [(0, 0.0)], max(4, one_piece // 4)
        while True:
            outcome = Native(threads).solve(
                problem, LENGTH, start, stop.after(int(rng.integers(1, most)))
            )
            spent += stop.passed
            if outcome.proved:
                break
            stops += 1
            frontier = through_json(outcome.frontier)
            if frontier is not None:
                shares.append((frontier.size, frontier.share))
            start = start_of(outcome, frontier)
        assert outcome.formula == expected.formula
        assert shares == sorted(shares)
        if threads == 1:  # a stop costs the moment that it falls into, and a new beginning
            assert spent <= 1.2 * one_piece + 5 * len(shares)
    assert stops > 10


def stopped(problem: Problem, stop: Interrupter) -> Outcome:
    outcome = Native(1).solve(problem, LENGTH, Incumbent(), stop.after(200))
    assert outcome.end is End.STOPPED
    assert outcome.frontier is not None
    return outcome


def false_claim(problem: Problem, outcome: Outcome) -> Incumbent:
    """A frontier by which nothing would be left to search."""
    assert outcome.frontier is not None
    nothing_left = replace(outcome.frontier, left=(), leader=None, known=None)
    return start_of(outcome, nothing_left)


def test_a_frontier_of_other_code_is_not_taken(
    stop: Interrupter, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(np.random.default_rng(3), Method.PIVOT, 60, 4, 3, 20)
    expected = Native(1).solve(problem, LENGTH, Incumbent(), stop.after(math.inf))
    claim = false_claim(problem, stopped(problem, stop))
    monkeypatch.setattr(work, "code_digest", lambda: "another version")
    assert Native(1).solve(problem, LENGTH, claim, stop.after(math.inf)).formula == expected.formula


def test_a_frontier_of_another_problem_is_not_taken(stop: Interrupter) -> None:
    problem = random_problem(np.random.default_rng(3), Method.PIVOT, 60, 4, 3, 20)
    labels = problem.labels.copy()
    labels[0] = not labels[0]
    other = replace(problem, labels=labels)
    expected = Native(1).solve(other, LENGTH, Incumbent(), stop.after(math.inf))
    claim = replace(false_claim(problem, stopped(problem, stop)), formula=None, errors=None)
    assert Native(1).solve(other, LENGTH, claim, stop.after(math.inf)).formula == expected.formula


def test_the_code_is_part_of_the_numbering() -> None:
    work.code_digest.cache_clear()
    problem = random_problem(np.random.default_rng(3), Method.PIVOT, 20, 2, 2, 5)
    other = replace(problem, method=Method.INTERVAL)
    assert len(work.code_digest()) == 64
    assert len({work.numbering(problem), work.numbering(other)}) == 2


def test_a_frontier_comes_back_from_json_as_it_was() -> None:
    assert through_json(SOME) == SOME


def changes() -> list[tuple[str, Any]]:
    return [
        ("left", [[3, 8]]),
        ("left", "none"),
        ("left", [[3]]),
        ("size", 6),
        ("numbering", "other"),
        ("share", None),
        ("seconds", float("nan")),
        ("leader", ["a and", 14, 2]),
        ("leader", [1]),
        ("before", [5, 1, 1]),
        ("before", [None, 1, 1]),
        ("before", [["a"], 1, 1]),
        ("checksum", ""),
        ("known", 13),
    ]


@pytest.mark.parametrize(("key", "value"), changes())
def test_a_frontier_that_was_changed_is_none(key: str, value: Any) -> None:
    assert Frontier.verified(saved(SOME) | {key: value}) is None


@pytest.mark.parametrize("content", [None, [], "x", 3, {}])
def test_what_is_no_frontier_is_none(content: object) -> None:
    assert Frontier.verified(content) is None


def test_the_time_left_is_told_once_there_is_a_pace() -> None:
    assert SOME.left_s(SOME.size) == pytest.approx(90.0)
    assert SOME.left_s(SOME.size + 1) is None
    assert replace(SOME, share=0.0).left_s(SOME.size) is None
    assert (
        replace(SOME, share=5e-13).left_s(SOME.size) is None
    )  # no number that a file could not hold


def test_a_stop_does_not_wait_until_all_functions_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = threading.Event()
    real = BoxEngine.units_of_size
    monkeypatch.setattr(search, "QUICK_SIZE", 0)
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)
    monkeypatch.setattr(BoxEngine, "units_of_size", lambda *given: listed.wait(20) and real(*given))
    problem = random_problem(np.random.default_rng(3), Method.PIVOT, 60, 4, 3, 20)
    began = time.monotonic()
    start = Incumbent(frontier=replace(SOME, numbering="other"))
    outcome = Native(1).solve(problem, LENGTH, start, Control(deadline=began + 0.3))
    took_s = time.monotonic() - began
    listed.set()
    assert outcome.end is End.TIMEOUT
    assert took_s < 10


@pytest.mark.parametrize("threads", [1, 2])
def test_a_part_that_is_too_long_for_its_time_gets_on_all_the_same(
    threads: int, stop: Interrupter
) -> None:
    problem = random_problem(np.random.default_rng(3), Method.PIVOT, 60, 4, 3, 20)
    stop.after(math.inf)
    known = Native(threads).knowledge(problem)
    target = search.Target(5, Leader(parse("a"), 0))
    run = known.search.begin(target)
    run.pause()
    assert not run.wait()
    part = run.frontier()
    assert part is not None
    for _ in range(10_000):
        if not part.left:
            break
        found = Order(part, 0.0).search_with(known.search, threading.Event())
        assert found.left != part.left
        part = found
    whole = known.search.begin(target)
    assert whole.wait()
    assert part.leader == whole.leader


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_sets_bound_the_size_that_was_cut_short(seed: int, stop: Interrupter) -> None:
    """Size 4 has the sets of size 3, which are bounded for all functions of two literals."""
    problem = random_problem(np.random.default_rng(seed), Method.MEDIAN, 60, 5, 4, 9)
    solver = Native(1)
    solver.solve(problem, 3, Incumbent(), stop.after(math.inf))
    found = solver.solve(problem, 4, Incumbent(), stop.after(0))
    best = Native(1).solve(problem, 4, Incumbent(), stop.after(math.inf))
    assert not found.proved
    assert problem.fewest_errors < found.lower_bound <= best.errors


def test_nothing_is_known_of_sets_that_no_smaller_size_has(stop: Interrupter) -> None:
    problem = random_problem(np.random.default_rng(1), Method.MEDIAN, 60, 5, 4, 9)
    solver = Native(1)
    solver.solve(problem, 4, Incumbent(), stop.after(math.inf))
    found = solver.solve(problem, 5, Incumbent(), stop.after(0))
    assert found.lower_bound == problem.fewest_errors
