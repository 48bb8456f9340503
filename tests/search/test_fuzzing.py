"""Random problems of every kind with boxes forced: no crash, and what brute force says."""

from __future__ import annotations

import secrets

import numpy as np
import pytest

from benchmarks.fuzz import failures
from fsm_hpc.data.columns import Column, Kind, missing_indicator
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.checking import checked
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from tests.support.brute_force import fewest_errors

QUICK, FULL = 150, 3000
POOR = [Language.CONJUNCTION, Language.DISJUNCTION]


def test_some_random_problems_equal_brute_force() -> None:
    assert not failures(seed=21, numbers=range(QUICK))


@pytest.mark.slow
def test_thousands_of_fresh_random_problems_equal_brute_force() -> None:
    seed = secrets.randbits(32)
    print(f"python -m benchmarks.fuzz --seed {seed} --problems {FULL}")
    assert not failures(seed, range(FULL))


@pytest.mark.parametrize("language", POOR, ids=lambda one: one.value)
@pytest.mark.parametrize("method", [Method.PIVOT, Method.INTERVAL], ids=lambda one: one.value)
def test_a_language_without_both_constants_keeps_missing_values_in_columns_of_many_values(
    language: Language, method: Method
) -> None:
    """Two literals that hold nowhere are `true` in a conjunction, which no such formula says."""
    labels = np.array([1, 1, 1, 1, 1, 1, 1, 0, 1, 1], dtype=bool)
    labels = labels if language is Language.CONJUNCTION else ~labels
    problem = Problem.build(_numbers_with_missing_values(), labels, method, language=language)
    expected = fewest_errors(problem, 5)
    for length, best in enumerate(expected, 1):
        found = Native().solve(problem, length, Incumbent(), Control())
        assert checked(problem, length, found).errors == best


def _numbers_with_missing_values() -> list[Column]:
    nan = float("nan")
    values = {
        "a": [nan, 1, 2, nan, nan, 5, nan, nan, 8, 9],
        "b": [1, 2, 9, 4, 8, nan, 7, 3, 6, 0],
    }
    columns = []
    for name, numbers in values.items():
        array = np.array(numbers, dtype=float)
        columns += [Column(name, Kind.NUMERIC, array), missing_indicator(name, np.isnan(array))]
    return columns
