"""The near-optimal set on several nodes: that of one machine, whoever is lost on the way."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np
import pytest

from fsm_hpc.search.frontier import Frontier, UnitRange
from fsm_hpc.search.method import Method
from fsm_hpc.search.near_optimal import enumeration
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.distributed import FamilyQuery
from fsm_hpc.search.near_optimal.enumeration import (
    NOTHING_YET,
    Progress,
    enumerate_families,
    search_for,
)
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.sink import Sink
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent
from fsm_hpc.search.solvers.native import Native, spread
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.spread import Order, Spread
from tests.support.random_tables import FORMULA_METHODS, random_problem
from tests.support.teams import ThreadHost, Threads, Together

BOUND, SLACK = 5, 4
LONG = 7  # about a second of work on the longer problem
by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    ensure_compiled()


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parts of a short search."""
    monkeypatch.setattr(spread, "PART_S", 0.01)


def some_problem(method: Method, seed: int = 2) -> Problem:
    return random_problem(np.random.default_rng(seed), method, 70, 4, 4, 12)


def longer_problem() -> Problem:
    return random_problem(np.random.default_rng(1), Method.PIVOT, 150, 6, 6, 30)


class Asked:
    """A question with some tenths of a second's work, and the answer of one machine."""

    def __init__(self, problem: Problem, bound: int = BOUND) -> None:
        self.space = Space(problem, bound)
        outcome = Native(1).solve(problem, bound, Incumbent(), Control())
        self.errors = outcome.errors + SLACK
        self.alone = enumerate_families(self.space, self.errors, 1, Control())
        self.reported: list[Progress] = []
        assert self.alone.is_complete

    @property
    def query(self) -> FamilyQuery:
        return FamilyQuery(self.space.bound, self.errors, self.space.slack)

    def with_helpers(self, helpers: Helpers, most: int | None = None) -> Progress:
        """After the head start of the helpers."""
        return enumerate_families(
            self.space,
            self.errors,
            1,
            Control(),
            most=most,
            on_progress=self.reported.append,
            helpers=helpers,
            query=self.query,
        )

    def part(self, left: tuple[UnitRange, ...], numbering: str = "") -> Frontier:
        return Frontier(numbering, self.space.bound, None, 0, left)

    def spread(
        self,
        helpers: Helpers,
        start: Progress = NOTHING_YET,
        watch: Callable[[], bool] = lambda: False,
    ) -> Progress:
        """Without a head start, in which a short search would end."""
        sink = Sink(start.families)
        search = search_for(self.space, self.errors, sink, 1)
        part = self.part(start.left, search.numbering)
        parts = Spread(self.space.problem, search, part, lambda leader: None, helpers, self.query)
        is_done = parts.wait(watch)
        return Progress.of(sink, parts.left(), None if is_done else End.STOPPED)

    def assert_found(self, found: Progress) -> None:
        assert found.is_complete
        assert found.end is End.PROVED
        assert found.families == self.alone.families


@by_method
@pytest.mark.parametrize("seed", range(2))
def test_parts_that_are_lost_change_nothing(method: Method, seed: int) -> None:
    asked, rng = Asked(some_problem(method, seed)), random.Random(seed)
    helpers = Threads(3, lambda number: rng.random() < 0.3)
    asked.assert_found(asked.spread(helpers))
    assert helpers.given > 3


def test_a_set_is_begun_alone_and_told_while_it_is_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "REPORT_EVERY_S", 0.0)
    asked = Asked(longer_problem(), LONG)
    helpers = Threads(2)
    helpers.head_start_s = 0.01
    asked.assert_found(asked.with_helpers(helpers))
    assert helpers.given > 0
    last = asked.reported[-1]
    asked.assert_found(enumerate_families(asked.space, asked.errors, 1, Control(), last))


def test_a_set_cut_by_number_goes_on_alone_or_with_others() -> None:
    asked = Asked(some_problem(Method.PIVOT))
    found = asked.with_helpers(Threads(2), most=1)
    assert found.is_full
    assert not found.is_complete
    asked.assert_found(asked.spread(Threads(3), found))
    asked.assert_found(enumerate_families(asked.space, asked.errors, 1, Control(), found))


def test_a_wish_to_stop_brings_all_parts_back() -> None:
    asked = Asked(some_problem(Method.PIVOT))
    start = enumerate_families(asked.space, asked.errors, 1, Control(), most=1)
    looks = iter(range(10))
    found = asked.spread(Threads(2), start, lambda: next(looks) == 2)
    assert found.end is End.STOPPED
    asked.assert_found(asked.spread(Threads(1), found))


def test_parts_of_another_search_are_refused() -> None:
    asked = Asked(some_problem(Method.PIVOT), 2)
    order = Order(asked.part((), "another"), 1.0, asked.query)
    with pytest.raises(RuntimeError, match="units of this code and problem"):
        order.search(asked.space.problem, ThreadHost())


def test_a_set_that_takes_longer_than_a_part_is_searched_to_its_end() -> None:
    asked = Asked(longer_problem(), LONG)
    sink, left, parts = Sink(), NOTHING_YET.left, 0
    search = search_for(asked.space, asked.errors, sink, 1)
    while left:
        parts += 1
        part = asked.part(left, search.numbering)
        left = Order(part, 0.0).search_with(search, threading.Event()).left
    asked.assert_found(Progress.of(sink, left, None))
    assert parts > 1


# ---------------------------------------------------------------------------------- real helpers


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Together]:
    with closing(Together(tmp_path_factory.mktemp("team"), 2)) as made:
        yield made.wait_for(2)


@by_method
def test_processes_find_the_set_of_one_machine(together: Together, method: Method) -> None:
    asked, before = Asked(some_problem(method)), together.given
    asked.assert_found(asked.spread(together.team))
    assert together.given > before


def test_a_helper_killed_in_the_middle_changes_nothing(together: Together) -> None:
    asked = Asked(longer_problem(), LONG)
    start = enumerate_families(asked.space, asked.errors, 1, Control(), most=1)
    given = together.given

    def kill() -> bool:
        if together.given > given and together.processes[0].poll() is None:
            together.processes[0].send_signal(signal.SIGKILL)
        return False

    asked.assert_found(asked.spread(together.team, start, kill))
    assert together.processes[0].wait() == -signal.SIGKILL
    together.wait_for(1)
