"""What a solver sees: propositions, ranks, merged rows, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.features import ALONE
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import problems

AGES = np.array([30.5, 20.0, 20.0, 40.0])
COLUMNS = [
    Column("age", Kind.NUMERIC, AGES),
    Column("sex", Kind.BOOLEAN, np.array([True, False, True, False])),
    Column("job_a", Kind.BOOLEAN, np.array([True, True, False, False]), "job", "a"),
    Column("job_b", Kind.BOOLEAN, np.array([False, False, True, True]), "job", "b"),
]
LABELS = np.array([True, False, True, True])


def test_cuts_are_the_values_observed_in_the_rows_that_are_fitted() -> None:
    problem = Problem.build(COLUMNS, LABELS, Method.PIVOT, np.array([0, 1, 2]))
    (age,) = problem.numerics
    assert age.thresholds.tolist() == [20.0, 30.5]
    assert age.ranks.tolist() == [1, 0, 0]
    assert str(age.proposition(1)) == "age >= 30.5"


def test_an_interval_runs_from_value_to_value() -> None:
    (age,) = Problem.build(COLUMNS, LABELS, Method.INTERVAL).numerics
    assert str(age.proposition(0, 1)) == "20 <= age <= 30.5"


def test_the_median_is_that_of_the_rows_that_are_fitted() -> None:
    problem = Problem.build(COLUMNS, LABELS, Method.MEDIAN, np.array([0, 1, 3]))
    assert problem.numerics == ()
    assert str(problem.booleans[0].proposition) == "age > 30.5"
    assert problem.booleans[0].holds.tolist() == [False, False, True]


def test_categories_of_one_column_share_a_group() -> None:
    groups = [b.group for b in Problem.build(COLUMNS, LABELS, Method.PIVOT).booleans]
    assert groups == [ALONE, 0, 0]


def test_errors_are_counted_on_the_rows_of_the_problem() -> None:
    problem = Problem.build(COLUMNS, LABELS, Method.PIVOT)
    assert problem.errors(parse("sex or age >= 40")) == 0
    assert problem.errors(parse("job_a")) == 3
    assert problem.accuracy(parse("job_a")) == 0.25


@pytest.mark.parametrize(
    ("method", "text", "is_admitted"),
    [
        (Method.PIVOT, "sex or age >= 30.5", True),
        (Method.PIVOT, "age >= 31", False),
        (Method.PIVOT, "age >= 20 and not age >= 40", False),
        (Method.PIVOT, "age >= 20 and not age >= 20", True),
        (Method.INTERVAL, "20 <= age <= 40", True),
        (Method.INTERVAL, "20 <= age <= 0", False),
        (Method.MEDIAN, "age > 25.25", True),
        (Method.MEDIAN, "age > 30.5", False),
        (Method.PIVOT, "size", False),
    ],
)
def test_a_formula_is_admitted_when_its_cuts_are_those_of_the_rows(
    method: Method, text: str, is_admitted: bool
) -> None:
    assert Problem.build(COLUMNS, LABELS, method).admits(parse(text)) is is_admitted


@given(problems())
def test_merged_rows_keep_every_label(problem: Problem) -> None:
    merged = problem.distinct_rows
    assert merged.positives.sum() == problem.labels.sum()
    assert merged.negatives.sum() == (~problem.labels).sum()


@given(problems(max_rows=6, max_columns=3))
def test_no_formula_goes_below_the_fewest_errors(problem: Problem) -> None:
    assert problem.fewest_errors <= fewest_errors(problem, 7)[-1]


def test_the_fingerprint_changes_with_what_decides_the_answer_and_with_nothing_else() -> None:
    def fingerprint(ages: np.ndarray[tuple[int], np.dtype[np.float64]], method: Method) -> str:
        columns = [Column("age", Kind.NUMERIC, ages), *COLUMNS[1:]]
        return Problem.build(columns, LABELS, method).fingerprint

    same = fingerprint(AGES.copy(), Method.PIVOT)
    assert same == fingerprint(AGES, Method.PIVOT)
    assert same != fingerprint(AGES, Method.INTERVAL)
    assert same != fingerprint(AGES + 1, Method.PIVOT)
