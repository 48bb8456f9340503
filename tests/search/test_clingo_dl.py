"""The clingo-dl solver: its process ends when it should, and is told apart when it should not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent
from fsm_hpc.search.solvers.clingo.facts import Instance
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.system.machine import resident_mb
from tests.support.random_tables import FORMULA_METHODS, random_problem


@pytest.fixture
def solver() -> Iterator[ClingoDl]:
    made = ClingoDl(threads=2)
    yield made
    made.close()


def problem_of(rows: int, method: Method = Method.PIVOT) -> Problem:
    """A table with nothing to learn, so that there is always something left to search."""
    rng = np.random.default_rng(3)
    problem = random_problem(rng, method, rows, booleans=20, numerics=4, values=30)
    return Problem.build(problem.columns, rng.integers(0, 2, rows) > 0, method)


def nearly_twelve(rows: int) -> tuple[Problem, Incumbent]:
    """A table that takes far more than seconds to ground, and a start that leads there at once."""
    problem = problem_of(rows)
    return problem, Incumbent(parse("b0"), problem.errors(parse("b0")), proved_length=11)


def worker(solver: ClingoDl) -> int:
    """The process of a solver, once it is there."""
    pid = None
    while pid is None:
        pid = solver.worker_pid
        time.sleep(0.01)
    return pid


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> None:
    while is_alive(pid):
        time.sleep(0.02)


# ------------------------------------------------------------------------------------ the process


def test_one_process_serves_many_lengths(solver: ClingoDl) -> None:
    problem = problem_of(30)
    pids = set()
    for length in (1, 2, 3):
        solver.solve(problem, length, Incumbent(), Control())
        pids.add(solver.worker_pid)
    assert len(pids) == 1


def test_files_in_the_folder_of_the_user_are_not_taken_for_ours(
    solver: ClingoDl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "input.lp").write_text("this is no program")
    (tmp_path / "clingo.py").write_text("raise ImportError('not the one')")
    monkeypatch.chdir(tmp_path)
    assert solver.solve(problem_of(30), 2, Incumbent(), Control()).end is End.PROVED


def test_closing_ends_the_process(solver: ClingoDl) -> None:
    solver.solve(problem_of(30), 1, Incumbent(), Control())
    pid = worker(solver)
    solver.close()
    assert not is_alive(pid)


def test_grounding_is_interrupted(solver: ClingoDl) -> None:
    problem, start = nearly_twelve(20_000)
    control = Control(deadline=time.monotonic() + 1.5)
    outcome = solver.solve(problem, 12, start, control)
    assert (outcome.end, outcome.formula) == (End.TIMEOUT, parse("b0"))
    assert outcome.proved_length == 11
    assert solver.worker_pid is None


def test_growth_beyond_the_memory_limit_ends_the_search(solver: ClingoDl) -> None:
    problem, start = nearly_twelve(20_000)
    control = Control(memory_mb=resident_mb() + 100)
    outcome = solver.solve(problem, 12, start, control)
    assert outcome.end is End.OUT_OF_MEMORY
    assert outcome.errors == problem.errors(outcome.formula)
    assert solver.worker_pid is None


@pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)
def test_a_search_is_interrupted_and_the_solver_goes_on(solver: ClingoDl, method: Method) -> None:
    problem = problem_of(400, method)
    control = Control()
    reports: list[Incumbent] = []

    def report(incumbent: Incumbent) -> None:
        reports.append(incumbent)
        control.stop.set()

    control = Control(stop=control.stop, report=report)
    outcome = solver.solve(problem, 20, Incumbent(), control)
    assert outcome.end is End.STOPPED
    assert (outcome.formula, outcome.errors) == (reports[-1].formula, reports[-1].errors)
    assert solver.solve(problem, 1, Incumbent(), Control()).end is End.PROVED


def test_a_killed_process_counts_as_out_of_memory(solver: ClingoDl) -> None:
    killer = threading.Thread(target=lambda: os.kill(worker(solver), signal.SIGKILL))
    killer.start()
    outcome = solver.solve(problem_of(400), 20, Incumbent(), Control())
    killer.join()
    assert outcome.end is End.OUT_OF_MEMORY
    assert solver.solve(problem_of(30), 1, Incumbent(), Control()).end is End.PROVED


def test_a_crashed_process_is_an_error_that_says_so(solver: ClingoDl) -> None:
    killer = threading.Thread(target=lambda: os.kill(worker(solver), signal.SIGSEGV))
    killer.start()
    with pytest.raises(RuntimeError, match="clingo-dl process ended with an error: exit code -11"):
        solver.solve(problem_of(400), 20, Incumbent(), Control())
    killer.join()


def test_the_process_ends_when_its_parent_is_killed() -> None:
    script = """
import threading, time
from fsm_hpc.search.solvers.base import Control, Incumbent
from tests.search.test_clingo_dl import ClingoDl, problem_of, worker
solver = ClingoDl()
tell = lambda: print(worker(solver), flush=True)
threading.Thread(target=tell).start()
solver.solve(problem_of(400), 20, Incumbent(), Control())
"""
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=root)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until_gone(pid)


@pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda method: method.value)
@pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.value)
def test_every_encoding_has_its_rules_for_every_method(encoding: Encoding, method: Method) -> None:
    solver = ClingoDl(encoding=encoding)
    job = solver.job(solver.instance(tiny(method)), 3, None)
    assert Path(job.entry).is_file()


# -------------------------------------------------------------------------------------- the facts


def tiny(method: Method = Method.PIVOT) -> Problem:
    columns = [
        Column("b", Kind.BOOLEAN, np.array([True, True, True, False, False])),
        Column("x", Kind.NUMERIC, np.array([0.5, 0.5, 0.5, 2.0, 9.0])),
    ]
    return Problem.build(columns, np.array([1, 1, 0, 0, 1], dtype=bool), method)


def test_rows_that_agree_are_one_row_with_the_weight_of_their_surplus() -> None:
    facts = Instance(tiny()).facts.splitlines()
    assert facts[:3] == [
        "row(0). label(0,1). weight(0,1).",
        "row(1). label(1,0). weight(1,1).",
        "row(2). label(2,1). weight(2,1).",
    ]
    assert Instance(tiny()).offset == 1


def test_the_plain_facts_keep_every_row() -> None:
    instance = Instance(tiny(), merged=False)
    assert sum(line.startswith("row(") for line in instance.facts.splitlines()) == 5
    assert instance.offset == 0


def test_solvers_see_ranks_and_formulas_show_values() -> None:
    assert "rd(2,1,2)." in Instance(tiny()).facts
    sequence: list[str | int] = [1, "neg", 0, "or"]
    formula = Instance(tiny()).formula(sequence, {1: (1, 1)})
    assert str(formula) == "not x >= 2 or b"
    formula = Instance(tiny(Method.INTERVAL)).formula(sequence, {1: (1, 2)})
    assert str(formula) == "not 2 <= x <= 9 or b"
