"""Objectives and weights of rows: the lowest weight of errors, exactly, by every solver."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.dataset import load
from fsm_hpc.errors import UserError
from fsm_hpc.models import model as model_file
from fsm_hpc.models.model import Model
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers import make_solver
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Solver
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.search.weights import MOST, weigh
from tests.support.brute_force import fewest_errors
from tests.support.command_line import run_command
from tests.support.random_tables import problems
from tests.support.tables import spec_of

QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
some = settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
few = settings(max_examples=8, deadline=None, suppress_health_check=QUIET)
many = settings(max_examples=300, deadline=None, suppress_health_check=QUIET)
lengths = st.integers(1, 7)
BALANCED = Objective(ObjectiveName.BALANCED)


def costs(false_positive: float, false_negative: float) -> Objective:
    return Objective(ObjectiveName.COSTS, false_positive, false_negative)


numbers = st.sampled_from([0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 1000.0])
objectives = st.one_of(
    st.just(ACCURACY), st.just(BALANCED), st.builds(costs, numbers, numbers), st.just(costs(1, 5))
)


@st.composite
def weighted(draw: st.DrawFn) -> Problem:
    """A small random table with an objective, and perhaps with weights of its rows."""
    plain = draw(problems())
    rows = plain.rows
    weights = st.lists(numbers, min_size=rows, max_size=rows).map(np.array)
    given = draw(st.one_of(st.none(), weights))
    objective = draw(objectives)
    return Problem.build(
        plain.columns, plain.labels, plain.method, objective=objective, given=given
    )


@pytest.fixture(scope="module")
def native() -> Iterator[Solver]:
    solver = make_solver(SolverName.NATIVE, threads=1)
    yield solver
    solver.close()


def assert_best(solver: Solver, problem: Problem, length: int) -> None:
    outcome = solver.solve(problem, length, Incumbent(), Control())
    optimum = fewest_errors(problem, length)
    assert outcome.end is End.PROVED
    assert outcome.errors == problem.errors(outcome.formula) == optimum[-1]
    assert outcome.formula.size == optimum.index(optimum[-1]) + 1


@some
@given(problem=weighted(), length=lengths)
def test_native_finds_the_least_weight_of_errors(
    native: Solver, problem: Problem, length: int
) -> None:
    assert_best(native, problem, length)


@pytest.mark.slow
@many
@given(problem=weighted(), length=lengths)
def test_native_equals_brute_force_on_many_tables(
    native: Solver, problem: Problem, length: int
) -> None:
    assert_best(native, problem, length)


@pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.value)
@few
@given(problem=weighted(), length=st.integers(1, 5))
def test_clingo_dl_finds_the_least_weight_of_errors(
    encoding: Encoding, problem: Problem, length: int
) -> None:
    solver = make_solver(SolverName.CLINGO_DL, threads=1, encoding=encoding)
    try:
        assert_best(solver, problem, length)
    finally:
        solver.close()


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
@given(problem=weighted(), length=lengths)
def test_clingo_dl_and_native_agree(native: Solver, problem: Problem, length: int) -> None:
    clingo = make_solver(SolverName.CLINGO_DL, threads=1)
    try:
        theirs = clingo.solve(problem, length, Incumbent(), Control())
    finally:
        clingo.close()
    ours = native.solve(problem, length, Incumbent(), Control())
    assert (ours.errors, ours.formula.size) == (theirs.errors, theirs.formula.size)


# ---------------------------------------------------------------------------------- whole weights


LABELS = np.array([True, False, False, False])


def test_balanced_classes_weigh_the_same_together() -> None:
    weights = weigh(BALANCED, LABELS).weights
    assert weights is not None
    assert weights.tolist() == [3, 1, 1, 1]


def test_balanced_errors_are_balanced_accuracy() -> None:
    from sklearn.metrics import balanced_accuracy_score

    problem = Problem.build([], LABELS, Method.PIVOT, objective=BALANCED)
    wrong = np.array([False, True, False, False])
    assert problem.weights is not None
    share = 1 - problem.weights[wrong].sum() / problem.weight
    assert share == pytest.approx(balanced_accuracy_score(LABELS, LABELS ^ wrong))


def test_one_class_alone_is_balanced_as_it_is() -> None:
    assert weigh(BALANCED, np.ones(3, bool)).weights is not None
    assert weigh(BALANCED, np.ones(3, bool)).weights.tolist() == [1, 1, 1]  # type: ignore[union-attr]


def test_decimal_weights_become_whole_numbers_in_the_same_ratios() -> None:
    made = weigh(ACCURACY, LABELS, np.array([0.1, 0.2, 0.3, 1.5]))
    assert made.weights is not None
    assert (made.weights.tolist(), made.error) == ([1, 2, 3, 15], 0.0)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30), objectives)
def test_what_cannot_be_exact_is_off_by_the_error_that_is_told(
    values: list[float], objective: Objective
) -> None:
    labels = np.arange(len(values)) % 2 == 0
    made = weigh(objective, labels, np.array(values))
    assert made.weights is not None
    assert made.weights.min() > 0
    assert max(made.weights[labels].sum(), made.weights[~labels].sum()) <= MOST
    factors = [1.0, 1.0]
    if objective.name is ObjectiveName.COSTS:
        factors = [objective.false_positive or 0.0, objective.false_negative or 0.0]
    if objective.name is ObjectiveName.BALANCED:
        factors = [np.sum(np.array(values)[labels]), np.sum(np.array(values)[~labels])]
    wanted = np.array(values) * np.where(labels, factors[1], factors[0])
    # the share of all weight by which some set of rows may be off
    moved = np.abs(made.weights / made.weights.sum() - wanted / wanted.sum()).sum() / 2
    assert moved <= made.error + 1e-9


def test_weights_that_differ_too_much_are_refused() -> None:
    rows = 400_000  # each below the smallest whole number that the range leaves to a row
    values = np.append(np.linspace(0.9, 1.0, rows), rows)
    with pytest.raises(UserError, match="found weights of which rounding moves"):
        weigh(
            ACCURACY, np.zeros(rows + 1, bool), np.append(np.geomspace(1e-6, 1, rows), values[-1])
        )


def test_a_fraction_is_read_as_it_is_written() -> None:
    from fsm_hpc.search.weights import as_fraction

    assert as_fraction(0.1) == Fraction(1, 10)


def test_the_range_of_weights_is_that_of_scores() -> None:
    from fsm_hpc.search.solvers.native.kernels.ranking import MAX_SCORE

    assert MAX_SCORE == MOST + 1


def test_weights_are_in_the_fingerprint_only_where_they_are_given() -> None:
    plain, same, other = (
        Problem.build([], LABELS, Method.PIVOT, objective=objective)
        for objective in (ACCURACY, costs(2, 2), costs(1, 2))
    )
    assert plain.weights is None
    assert len({plain.fingerprint, same.fingerprint, other.fingerprint}) == 3


# ------------------------------------------------------------------ proofs only for exact weights

OUT_OF_RANGE = {
    "beyond 24 bits": [5e9, 60, 1, 5e9],
    "a huge ratio": [1e300, 1, 1, 1e300],
    "a product of floats": [0.1 * 3, 0.3, 0.7, 0.2],
    "an irrational number": [2**0.5, 1, 1, 2],
}
IN_RANGE = {"whole": [3, 1, 2, 1], "decimal": [0.1, 0.3, 0.2, 0.1], "zero": [3, 0, 2, 1]}


def four_rows(weights: list[float], **wanted: Any) -> FormulaClassifier:
    table = pd.DataFrame({"a": [True, False, False, False], "b": [True, True, True, False]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FormulaClassifier(**wanted).fit(table, [1, 1, 0, 0], sample_weight=weights)


@pytest.mark.parametrize("solver", ["native", "clingo_dl", "portfolio"])
@pytest.mark.parametrize("weights", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_nothing_is_proved_for_weights_that_had_to_be_rounded(
    weights: list[float], solver: str
) -> None:
    made = four_rows(weights, solver=solver, length=3)
    assert not made.proved_
    assert any("not proved to be the best for the given" in str(note) for note in made.model_.notes)


@pytest.mark.parametrize("weights", IN_RANGE.values(), ids=IN_RANGE)
def test_exact_weights_are_proved_as_before(weights: list[float]) -> None:
    made = four_rows(weights, length=3)
    assert (made.proved_, made.model_.notes) == (True, ())


def test_rounded_weights_leave_no_length_of_a_scan_proved() -> None:
    table = pd.DataFrame({"a": [True, False, False, False] * 5, "b": [True, True, True, False] * 5})
    with pytest.warns(ConvergenceWarning, match="were rounded"):
        made = FormulaClassifier(cv=2).fit(table, [1, 1, 0, 0] * 5, [5e9, 60, 1, 5e9] * 5)
    assert not made.scan_results_.proved.any()


def test_a_literal_that_is_better_by_the_given_weights_wins_over_a_tie_of_rounded_ones() -> None:
    assert str(four_rows([5e9, 60, 1, 5e9], length=1).formula_) == "b"


@pytest.mark.parametrize(
    ("objective", "given"),
    [(ACCURACY, [5e9, 60, 1, 5e9]), (BALANCED, [5e9, 60, 1, 5e9]), (costs(1e308, 1e-308), None)],
)
def test_weights_that_are_not_exact_have_an_error(objective: Objective, given: Any) -> None:
    labels = np.array([True, True, False, False])
    assert weigh(objective, labels, given and np.array(given)).error > 0.0


def test_balanced_classes_whose_sizes_have_a_large_product_are_not_exact() -> None:
    labels = np.arange(10_001) < 5_000
    assert weigh(BALANCED, labels).error > 0.0


# ---------------------------------------------------------------------------- the documentation

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "rare-class.md"


def _fitted_by(words: list[str]) -> tuple[int, int]:
    """What the command makes: false positives and false negatives on the fitted rows."""
    out = next(word.removeprefix("out=") for word in words if word.startswith("out="))
    assert run_command("fit", *words) == 0
    model = model_file.load(Path(out) / "model.json")
    assert isinstance(model, Model)
    dataset = load(spec_of("hepatitis"), None)
    holds = model.formula.evaluate({column.name: column.values for column in dataset.columns})
    return int((holds & ~dataset.labels).sum()), int((~holds & dataset.labels).sum())


def test_the_documented_costs_make_the_error_rarer_that_costs_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = PAGE.read_text().splitlines()
    command = next(line for line in lines if "objective=costs" in line and "out=careful" in line)
    words = shlex.split(command.partition(" fit ")[2])
    plain = [word for word in words if not word.startswith(("objective", "out="))]
    careful, equal = _fitted_by(words), _fitted_by([*plain, "out=equal"])
    assert careful[0] < equal[0]
    sentence = r"makes it for (\d+) of them\. At equal costs it makes the error for (\d+)"
    documented = re.search(sentence, " ".join(lines))
    assert documented is not None
    assert (int(documented[1]), int(documented[2])) == (careful[0], equal[0])
