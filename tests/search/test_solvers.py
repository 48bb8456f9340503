"""One contract for every solver: the fewest errors, the smallest size, and honest proofs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.connectives import Xor
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.names import Encoding, SolverName
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import (
    FORMULA_METHODS,
    problems,
    problems_of_numbers,
    random_problem,
)

# a further solver is one further line
FACTORIES: dict[str, Callable[[], Solver]] = {
    "clingo_dl": lambda: make_solver(SolverName.CLINGO_DL, threads=2),
    "clingo_dl-plain": lambda: make_solver(
        SolverName.CLINGO_DL, threads=1, encoding=Encoding.PLAIN
    ),
    "native": lambda: make_solver(SolverName.NATIVE, threads=2),
    "portfolio": lambda: make_solver(SolverName.PORTFOLIO, threads=2),
}

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
some = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
lengths = st.integers(1, 8)
by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)


@pytest.fixture(scope="module", params=FACTORIES)
def solver(request: pytest.FixtureRequest) -> Iterator[Solver]:
    made = FACTORIES[request.param]()
    yield made
    made.close()


def assert_optimal(outcome: Outcome, problem: Problem, length: int) -> None:
    assert outcome.end is End.PROVED
    optimum = optima(problem, length)
    assert outcome.errors == optimum[-1]
    assert outcome.formula.size == optimum.index(optimum[-1]) + 1
    assert outcome.errors == problem.errors(outcome.formula)
    assert (outcome.lower_bound, outcome.proved_length) == (outcome.errors, length)


def assert_honest(outcome: Outcome, problem: Problem, length: int) -> None:
    """What an interrupted solver may claim."""
    optimum = optima(problem, length)
    assert outcome.formula.size <= length
    assert outcome.errors == problem.errors(outcome.formula)
    assert outcome.lower_bound <= optimum[-1] <= outcome.errors
    assert 0 <= outcome.proved_length <= length
    if outcome.formula.size <= outcome.proved_length:
        assert outcome.errors == optimum[outcome.proved_length - 1]


# ------------------------------------------------------------------------------------- optimality


@many
@given(problem=problems(), length=lengths)
def test_errors_and_size_equal_brute_force(solver: Solver, problem: Problem, length: int) -> None:
    assert_optimal(solver.solve(problem, length, Incumbent(), Control()), problem, length)


@pytest.mark.parametrize("numerics", [3, 4])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), length=st.integers(3, 5))
def test_several_numeric_columns_equal_brute_force(
    solver: Solver, numerics: int, data: st.DataObject, length: int
) -> None:
    problem = data.draw(problems_of_numbers(numerics))
    assert_optimal(solver.solve(problem, length, Incumbent(), Control()), problem, length)


@by_method
@pytest.mark.parametrize("seed", range(6))
def test_larger_tables_equal_brute_force(solver: Solver, method: Method, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, method, rows=40, booleans=4, numerics=2, values=4)
    for length in (2, 4, 5):
        assert_optimal(solver.solve(problem, length, Incumbent(), Control()), problem, length)


@some
@given(problem=problems(max_rows=6, max_columns=2, max_values=3, max_numeric=1))
def test_a_long_bound_equals_brute_force(solver: Solver, problem: Problem) -> None:
    assert_optimal(solver.solve(problem, 10, Incumbent(), Control()), problem, 10)


@pytest.mark.parametrize("label", [False, True])
@by_method
def test_one_class_only_is_learnt_without_errors(
    solver: Solver, method: Method, label: bool
) -> None:
    columns = [Column("b", Kind.BOOLEAN, np.array([True, False, True]))]
    problem = Problem.build(columns, np.full(3, label), method)
    outcome = solver.solve(problem, 5, Incumbent(), Control())
    assert_optimal(outcome, problem, 5)
    assert (outcome.errors, outcome.formula.size) == (0, 4)  # b and not b, b or not b


@by_method
def test_rows_that_agree_but_for_their_label_stay_errors(solver: Solver, method: Method) -> None:
    columns = [Column("x", Kind.NUMERIC, np.array([1.0, 1.0, 1.0, 2.0, 2.0]))]
    problem = Problem.build(columns, np.array([1, 1, 0, 0, 1], dtype=bool), method)
    outcome = solver.solve(problem, 3, Incumbent(), Control())
    assert_optimal(outcome, problem, 3)
    assert outcome.errors == problem.fewest_errors == 2


@by_method
def test_a_constant_column_says_the_same_of_every_row(solver: Solver, method: Method) -> None:
    columns = [
        Column("x", Kind.NUMERIC, np.full(4, 7.5)),
        Column("b", Kind.BOOLEAN, np.ones(4) > 0),
    ]
    problem = Problem.build(columns, np.array([True, False, False, False]), method)
    outcome = solver.solve(problem, 4, Incumbent(), Control())
    assert_optimal(outcome, problem, 4)
    assert outcome.errors == 1


def test_a_column_has_one_pivot_even_where_two_would_do_better(solver: Solver) -> None:
    columns = [Column("x", Kind.NUMERIC, np.array([0.0, 1.0, 2.0, 3.0]))]
    problem = Problem.build(columns, np.array([False, True, True, False]), Method.PIVOT)
    two_pivots = And(Atom(pivot(problem, 1)), Not(Atom(pivot(problem, 3))))
    assert (problem.errors(two_pivots), two_pivots.size) == (0, 4)
    assert solver.solve(problem, 6, Incumbent(), Control()).errors == 1


def test_a_column_has_one_interval_even_where_two_would_do_better(solver: Solver) -> None:
    columns = [Column("x", Kind.NUMERIC, np.arange(5.0))]
    problem = Problem.build(columns, np.array([1, 0, 1, 0, 1], dtype=bool), Method.INTERVAL)
    feature = problem.numerics[0]
    parts = [Atom(feature.proposition(low, low)) for low in (0, 2, 4)]
    assert (problem.errors(Or(*parts)), Or(*parts).size) == (0, 5)
    assert solver.solve(problem, 6, Incumbent(), Control()).errors == 1  # not 3 <= x <= 3


def test_a_column_may_occur_twice_with_the_same_pivot(solver: Solver) -> None:
    """Exclusive or of two columns needs each of them twice: size 8."""
    x, y = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    columns = [Column("x", Kind.NUMERIC, x * 1.0), Column("y", Kind.BOOLEAN, y > 0)]
    problem = Problem.build(columns, (x > 0) != (y > 0), Method.PIVOT)
    outcome = solver.solve(problem, 8, Incumbent(), Control())
    assert_optimal(outcome, problem, 8)
    assert (outcome.errors, outcome.formula.size) == (0, 8)


# ----------------------------------------------------------------------------------------- resume


@some
@given(problem=problems())
def test_each_length_may_start_from_the_one_before(solver: Solver, problem: Problem) -> None:
    start = Incumbent()
    for length in range(1, 8):
        outcome = solver.solve(problem, length, start, Control())
        assert_optimal(outcome, problem, length)
        start = Incumbent(outcome.formula, outcome.errors, length)


@some
@given(problem=problems(), length=lengths)
def test_a_start_that_is_worse_than_the_optimum_is_beaten(
    solver: Solver, problem: Problem, length: int
) -> None:
    column = next(iter(first_literal(problem).propositions()))
    start = Incumbent(Atom(column), problem.errors(Atom(column)), 0)
    assert_optimal(solver.solve(problem, length, start, Control()), problem, length)


@some
@given(problem=problems(), length=st.integers(4, 8))
def test_a_start_that_is_optimal_but_too_long_is_shortened(
    solver: Solver, problem: Problem, length: int
) -> None:
    best = solver.solve(problem, length - 2, Incumbent(), Control()).formula
    padded = Not(Not(best))
    start = Incumbent(padded, problem.errors(padded), 0)
    assert_optimal(solver.solve(problem, length, start, Control()), problem, length)


@pytest.mark.parametrize("threshold", [1.25, 1e6])
@pytest.mark.parametrize("length", [2, 4])
def test_a_start_with_a_foreign_threshold_is_no_proof(
    solver: Solver, threshold: float, length: int
) -> None:
    problem = small_problem()
    column = problem.numerics[0].column
    foreign = Atom(Proposition.at_least(column, threshold))
    start = Incumbent(foreign, problem.errors(foreign), length, problem.errors(foreign))
    solver.close()
    assert_optimal(solver.solve(problem, length, start, Control()), problem, length)


def test_a_start_of_another_language_or_with_other_errors_is_no_proof(solver: Solver) -> None:
    problem = small_problem()
    two = Atom(Proposition("b0")), Atom(Proposition("b1"))
    for formula, more in ((Xor(*two), 0), (Or(*two), 1)):
        start = Incumbent(formula, problem.errors(formula) - more, 3, 0)
        solver.close()
        assert_optimal(solver.solve(problem, 3, start, Control()), problem, 3)


@some
@given(problem=problems(), length=st.integers(2, 6))
def test_what_is_proved_already_is_kept(solver: Solver, problem: Problem, length: int) -> None:
    before = solver.solve(problem, length, Incumbent(), Control())
    start = Incumbent(before.formula, before.errors, length, before.lower_bound)
    after = solver.solve(problem, length, start, Control())
    assert (after.formula, after.errors, after.end) == (before.formula, before.errors, End.PROVED)


@some
@given(problem=problems(), shorter=st.integers(1, 4))
def test_what_is_proved_of_a_long_bound_is_not_claimed_of_a_shorter_one(
    solver: Solver, problem: Problem, shorter: int
) -> None:
    long = solver.solve(problem, 6, Incumbent(), Control())
    start = Incumbent(long.formula, long.errors, 6, long.lower_bound)
    solver.close()
    assert_optimal(solver.solve(problem, shorter, start, Control()), problem, shorter)


@some
@given(problem=problems(), length=lengths)
def test_every_report_is_better_than_the_one_before(
    solver: Solver, problem: Problem, length: int
) -> None:
    seen: list[tuple[int, int]] = []

    def report(incumbent: Incumbent) -> None:
        assert incumbent.formula is not None
        assert incumbent.errors == problem.errors(incumbent.formula)
        assert incumbent.formula.size <= length
        seen.append((incumbent.errors, incumbent.formula.size))

    outcome = solver.solve(problem, length, Incumbent(), Control(report=report))
    seen = [*seen, (outcome.errors, outcome.formula.size)]
    assert seen == sorted(seen, reverse=True)


def test_a_closed_solver_may_be_used_again(solver: Solver) -> None:
    problem = small_problem()
    solver.solve(problem, 3, Incumbent(), Control())
    solver.close()
    assert_optimal(solver.solve(problem, 3, Incumbent(), Control()), problem, 3)


# ----------------------------------------------------------------------------------- interruption


def ends(
    memory_mb: float | None = None, is_late: bool = False, is_stopped: bool = False
) -> Control:
    stop = threading.Event()
    if is_stopped:
        stop.set()
    return Control(time.monotonic() - 1 if is_late else None, stop, memory_mb)


@pytest.mark.parametrize(
    ("control", "end"),
    [
        (ends(is_stopped=True), End.STOPPED),
        (ends(is_late=True), End.TIMEOUT),
        (ends(memory_mb=1.0), End.OUT_OF_MEMORY),
    ],
    ids=["stopped", "late", "no memory"],
)
@by_method
def test_a_solver_that_has_to_end_at_once_gives_a_formula(
    solver: Solver, method: Method, control: Control, end: End
) -> None:
    problem = small_problem(method)
    outcome = solver.solve(problem, 5, Incumbent(), control)
    assert outcome.end is end
    assert_honest(outcome, problem, 5)


def test_a_solver_that_has_to_end_at_once_keeps_what_it_was_given(solver: Solver) -> None:
    problem = small_problem()
    given_start = solver.solve(problem, 3, Incumbent(), Control())
    start = Incumbent(given_start.formula, given_start.errors, 3)
    outcome = solver.solve(problem, 5, start, ends(is_stopped=True))
    assert (outcome.formula, outcome.errors) == (given_start.formula, given_start.errors)
    assert_honest(outcome, problem, 5)


@pytest.mark.parametrize("reports", [1, 2, 3])
@by_method
def test_a_solver_stopped_at_an_improvement_is_honest_and_resumes(
    solver: Solver, method: Method, reports: int
) -> None:
    problem = small_problem(method)
    stop = threading.Event()
    heard: list[Incumbent] = []

    def report(incumbent: Incumbent) -> None:
        heard.append(incumbent)
        if len(heard) >= reports:
            stop.set()

    outcome = solver.solve(problem, 5, Incumbent(), Control(stop=stop, report=report))
    assert_honest(outcome, problem, 5)
    start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length, outcome.lower_bound)
    assert_optimal(solver.solve(problem, 5, start, Control()), problem, 5)


@pytest.mark.parametrize("seed", range(8))
@by_method
def test_a_solver_stopped_at_a_random_moment_is_honest_and_resumes(
    solver: Solver, method: Method, seed: int
) -> None:
    problem = small_problem(method)
    control = Control()
    timer = threading.Timer(np.random.default_rng(seed).uniform(0, 0.25), control.stop.set)
    timer.start()
    outcome = solver.solve(problem, 6, Incumbent(), control)
    timer.cancel()
    assert outcome.end in (End.STOPPED, End.PROVED)
    assert_honest(outcome, problem, 6)
    start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length, outcome.lower_bound)
    assert_optimal(solver.solve(problem, 6, start, Control()), problem, 6)


@by_method
def test_a_search_that_would_take_days_can_be_stopped(solver: Solver, method: Method) -> None:
    rng = np.random.default_rng(1)
    problem = random_problem(rng, method, rows=400, booleans=60, numerics=8, values=60)
    control = Control(deadline=time.monotonic() + 0.5)
    outcome = solver.solve(problem, 15, Incumbent(), control)
    assert outcome.end is End.TIMEOUT
    assert outcome.errors == problem.errors(outcome.formula) >= outcome.lower_bound
    assert outcome.formula.size <= 15


@pytest.mark.parametrize("name", SolverName, ids=lambda name: name.value)
def test_every_name_makes_the_solver_of_that_name(name: SolverName) -> None:
    made = make_solver(name, threads=1)
    assert made.name == name.value
    made.close()


# ---------------------------------------------------------------------------------------- helpers


_known: dict[tuple[str, int], list[int]] = {}


def optima(problem: Problem, length: int) -> list[int]:
    """The fewest errors for every bound by brute force, worked out once for each table."""
    key = (problem.fingerprint, length)
    if key not in _known:
        _known[key] = fewest_errors(problem, length)
    return _known[key]


def small_problem(method: Method = Method.PIVOT) -> Problem:
    return random_problem(
        np.random.default_rng(7), method, rows=60, booleans=5, numerics=2, values=4
    )


def pivot(problem: Problem, rank: int) -> Proposition:
    return problem.numerics[0].proposition(rank)


def first_literal(problem: Problem) -> Formula:
    propositions = [b.proposition for b in problem.booleans]
    return Atom([*propositions, *(n.proposition(0) for n in problem.numerics)][0])
