"""Several nodes: parts go out, come back or are lost, and the answer is that of one machine."""

from __future__ import annotations

import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from distributed import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.errors import UserError
from fsm_hpc.search.frontier import Frontier, Leader, UnitRange, units_in, with_checksum
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Outcome
from fsm_hpc.search.solvers.native import Native, solver, spread
from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from fsm_hpc.search.solvers.native.parts import Helpers, PartOrder, Parts, SearchHost
from fsm_hpc.search.solvers.native.search import Run, Target
from fsm_hpc.search.solvers.native.spread import Order, Spread
from fsm_hpc.search.solvers.nodes import contact, helper
from fsm_hpc.search.solvers.nodes.contact import Contact, new_certificate, security_of
from fsm_hpc.search.solvers.nodes.team import Team, helpers_here
from fsm_hpc.system import serialization
from fsm_hpc.system.children import child_environment
from tests.support.random_tables import FORMULA_METHODS, problems, random_problem
from tests.support.teams import Threads, Together

LENGTH = 7
LONG = 8  # a second of work for the first problem of intervals
by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    ensure_compiled()


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parts of a short search."""
    monkeypatch.setattr(spread, "PART_S", 0.02)


def some_problem(method: Method, seed: int = 2) -> Problem:
    """Some tenths of a second's work for intervals, less for others."""
    return random_problem(np.random.default_rng(seed), method, 150, 5, 6, 30)


def solve(problem: Problem, helpers: Helpers | None = None, length: int = LENGTH) -> Outcome:
    return Native(1, helpers).solve(problem, length, Incumbent(), Control())


# ----------------------------------------------------------------------------------------- parts


def covered(left: Iterable[UnitRange]) -> list[int]:
    return sorted(unit for one in left for unit in range(one.start, one.end))


class Numbers(Parts[tuple[UnitRange, ...]]):
    """Parts whose search is to note their units; some units of a part may be left."""

    def __init__(self, left: list[UnitRange], helpers: Helpers, leaves: list[int]) -> None:
        super().__init__(some_problem(Method.PIVOT), left, helpers)
        self._leaves = iter(leaves)
        self.searched: list[int] = []
        self.sizes: list[int] = []

    def _order(self, left: tuple[UnitRange, ...]) -> Units:
        self.sizes.append(units_in(left))
        return Units(left)

    def _search_here(self, order: Units) -> tuple[UnitRange, ...]:
        return order.left

    def _keep(self, found: tuple[UnitRange, ...]) -> tuple[list[UnitRange], float]:
        units = covered(found)
        done = len(units) - min(next(self._leaves, 0), len(units) - 1)
        self.searched += units[:done]
        return [UnitRange(unit, unit + 1) for unit in units[done:]], 0.01


@dataclass(frozen=True, slots=True)
class Units:
    """A part that brings back its own units."""

    left: tuple[UnitRange, ...]

    def search(self, problem: Problem, host: SearchHost) -> tuple[UnitRange, ...]:
        return self.left


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 9), max_size=20), st.sets(st.integers(1, 12)), st.integers(0, 3))
def test_parts_lose_no_unit_and_search_none_twice(
    leaves: list[int], lost: set[int], count: int
) -> None:
    helpers = Threads(count, lost.__contains__) if count else Threads(1, lambda number: True)
    parts = Numbers([UnitRange(20, 30), UnitRange(0, 9, ((1, 2),))], helpers, leaves)
    everything = covered(parts.left())
    looked: list[list[int]] = []

    def look() -> bool:
        looked.append(sorted([*parts.searched, *covered(parts.left())]))
        return False

    assert parts.wait(look)
    assert all(units == everything for units in looked)
    assert sorted(parts.searched) == everything


def test_parts_grow_with_the_pace_and_are_shared_out_at_the_end() -> None:
    class Absent(Threads):
        """Counted among those that take parts, and always busy."""

        def give(self, problem: Problem, order: PartOrder) -> Future[Any]:
            return Future()

    parts = Numbers([UnitRange(0, 200)], Absent(2), [])
    parts.wait(lambda: len(parts.sizes) > 7)
    assert parts.sizes[0] == 1
    assert parts.sizes[3:6] == [4, 16, 59]  # the last is a third of what is left
    assert min(parts.searched) == 0
    assert len(covered(parts.left())) + len(parts.searched) == 200


# ----------------------------------------------------------------------- helpers in this process


@by_method
@pytest.mark.parametrize("seed", range(3))
def test_parts_that_are_lost_change_nothing(method: Method, seed: int) -> None:
    problem = some_problem(method, seed)
    rng = random.Random(seed)
    helpers = Threads(3, lambda number: rng.random() < 0.3)
    assert solve(problem, helpers) == solve(problem)


@settings(deadline=None, max_examples=25)
@given(problem=problems(), size=st.integers(1, 7), lost=st.integers(0, 3))
def test_small_sizes_spread_have_the_leader_of_one_run(
    problem: Problem, size: int, lost: int
) -> None:
    native = Native(1)
    known = native.knowledge(problem)
    for smaller in range(1, size):
        native.solve(problem, smaller, Incumbent(), Control())
    alone = known.search.begin(Target(size, known.optima[-1] if known.optima else None))
    whole = all_of(alone)
    assert alone.wait()
    expected = alone.leader  # read before the arrays of its search are used again
    helpers = Threads(2, lambda number: number % 4 < lost)
    told: list[Leader] = []
    together = Spread(problem, known.search, whole, told.append, helpers)
    assert together.wait()
    assert together.leader == expected
    assert together.frontier().left == ()
    assert [leader.order for leader in told] == sorted(leader.order for leader in told)


def all_of(run: Run) -> Frontier:
    """The frontier of a run that has not begun, once its work is listed."""
    run._all_work()
    frontier = run.frontier()
    assert frontier is not None
    return frontier


def test_all_parts_of_helpers_lost_leave_the_search_to_itself() -> None:
    helpers = Threads(2, lambda number: True)
    problem = some_problem(Method.INTERVAL)
    assert solve(problem, helpers).formula == solve(problem).formula
    assert helpers.given > 2


def test_units_of_another_search_are_refused() -> None:
    known = Native(1).knowledge(some_problem(Method.PIVOT))
    part = Frontier("another", 4, None, None, (UnitRange(0, 3),))
    with pytest.raises(RuntimeError, match="units of this code and problem"):
        Order(part, 1.0).search_with(known.search, threading.Event())


# ---------------------------------------------------------------------------------- real helpers


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Together]:
    with closing(Together(tmp_path_factory.mktemp("team"), 2)) as made:
        yield made.wait_for(2)


@by_method
@pytest.mark.parametrize("seed", range(4))
def test_helpers_give_the_answer_of_one_machine(
    together: Together, method: Method, seed: int
) -> None:
    problem = some_problem(method, seed)
    before = together.given
    assert solve(problem, together.team) == solve(problem)
    if method is Method.INTERVAL:
        assert together.given > before


class StopsAt:
    """A control that stops a solver once a size is searched so far."""

    def __init__(self, share: float) -> None:
        self._share = share
        self.control = Control(report=self._look)

    def _look(self, incumbent: Incumbent) -> None:
        at = incumbent.frontier
        if at is not None and at.size == LONG and at.share >= self._share:
            self.control.stop.set()


def test_a_search_goes_on_with_other_numbers_of_nodes(
    together: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver, "REPORT_EVERY_S", 0.01)
    problem = some_problem(Method.INTERVAL)
    start, shares = Incumbent(), [0.0]
    for helpers, share in ((together.team, 0.1), (None, 0.3), (together.team, 0.5)):
        found = Native(1, helpers).solve(problem, LONG, start, StopsAt(share).control)
        assert not found.proved
        assert found.frontier is not None
        frontier = Frontier.verified(with_checksum(serialization.plain(found.frontier)))
        shares.append(found.frontier.share)
        start = Incumbent(found.formula, found.errors, found.proved_length, 0, frontier)
    assert shares == sorted(shares)
    assert shares[-1] > 0.4
    last = Native(2).solve(problem, LONG, start, Control())
    assert (last.formula, last.proved) == (solve(problem, length=LONG).formula, True)


def test_a_helper_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    problem = some_problem(Method.INTERVAL)
    with closing(Together(tmp_path, 2)) as made:
        made.wait_for(2)
        killed = threading.Event()

        def kill(incumbent: Incumbent) -> None:
            at = incumbent.frontier
            if at is not None and at.size == LONG and not killed.is_set():
                killed.set()
                made.processes[0].send_signal(signal.SIGKILL)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(solver, "REPORT_EVERY_S", 0.01)
            found = Native(1, made.team).solve(problem, LONG, Incumbent(), Control(report=kill))
        assert killed.is_set()
        assert found == solve(problem, length=LONG)
        made.wait_for(1)
        made.processes[1].kill()
        made.wait_for(0)
        assert solve(problem, made.team, LONG) == found


def test_a_helper_that_joins_late_is_used(together: Together, tmp_path: Path) -> None:
    with helpers_here(1, together.file, 1, 4000.0, tmp_path / "log.txt") as (late,):
        together.wait_for(3)
        assert solve(some_problem(Method.PIVOT), together.team).proved
        late.kill()
        together.wait_for(2)


# ---------------------------------------------------------------------------------- who is let in


def test_nobody_without_the_certificate_is_let_in(together: Together) -> None:
    address = together.team.address
    assert address.startswith("tls://127.0.0.1:")
    for security in (None, security_of(*new_certificate())):
        with pytest.raises((OSError, TypeError, RuntimeError)):
            Client(address, security=security, timeout=2, set_as_default=False)
    with pytest.raises(ssl.SSLError):
        speak_to(address)
    assert solve(some_problem(Method.PIVOT), together.team).proved


def speak_to(address: str) -> bytes:
    """What an end without any certificate gets to hear."""
    place = urlsplit(address)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((place.hostname or "", place.port or 0), timeout=5) as plain,
        context.wrap_socket(plain) as stream,
    ):
        return stream.recv(1)


def test_only_loopback_is_listened_to_and_there_are_no_pages(together: Together) -> None:
    for pid, most in ((os.getpid(), 1), *((p.pid, 1) for p in together.processes)):
        listening = [c for c in psutil.Process(pid).net_connections() if c.status == "LISTEN"]
        assert {c.laddr.ip for c in listening} <= {"127.0.0.1"}
        assert len(listening) <= most


def test_the_contact_is_for_the_user_alone_and_goes_with_the_team(tmp_path: Path) -> None:
    file = tmp_path / "contact.json"
    team = Team(file, contact.LOOPBACK)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["contact.json"]
    team.close()
    assert list(tmp_path.iterdir()) == []


def test_a_helper_of_other_code_leaves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "contact.json"
    Contact("tls://127.0.0.1:1", "another version", *new_certificate()).write(file)
    helper.serve(file, 1, 4000.0)
    assert "other code" in caplog.text


def test_a_helper_leaves_when_the_search_is_over_before_it_came(tmp_path: Path) -> None:
    file = tmp_path / "contact.json"
    contact.over(file).touch()
    helper.serve(file, 1, 4000.0)


KILLED = """
import os, signal, sys
from pathlib import Path
from fsm_hpc.search.solvers.nodes.team import Team, helpers_here
folder = Path(sys.argv[1])
with helpers_here(1, folder / "contact.json", 1, 4000.0, folder / "log.txt") as (process,):
    team = Team(folder / "contact.json", "127.0.0.1")
    while team.ready() < 1:
        pass
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_helpers_leave_when_the_search_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        env=child_environment(),
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    process = int(done.stdout)
    deadline = time.monotonic() + 60
    while psutil.pid_exists(process) and psutil.Process(process).status() != "zombie":
        assert time.monotonic() < deadline, (tmp_path / "log.txt").read_text()
        time.sleep(0.1)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'fsm_hpc\[nodes\]', or cluster.nodes=1"):
        contact.ensure_installed()
