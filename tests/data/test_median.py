"""The median is the number that a person would compute, and parts the rows as that one does."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.median import median
from fsm_hpc.formulas.formula import Atom
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4.68, 4.70], 4.69),
        ([0.1, 0.2], 0.15),
        ([1.1, 2.2], 1.65),
        ([9.0, 4.70, 1.0, 4.68], 4.69),
        ([3.0, 1.0, 2.0], 2.0),
        ([1, 2], 1.5),
        ([5, 5, 5, 5], 5.0),
        ([7], 7.0),
        ([-4.70, -4.68], -4.69),
        ([1e308, 1.7e308], 1.35e308),
        ([-1.7e308, 1.7e308], 0.0),
        ([1e-300, 1e300], 5e299),
        ([2**62, 2**62 + 2**12], float(2**62 + 2**11)),
    ],
)
def test_the_median_is_the_one_computed_by_hand(values: list[float], expected: float) -> None:
    assert median(np.array(values)) == expected


def test_a_formula_prints_it_as_a_person_would() -> None:
    columns = [Column("albumin", Kind.NUMERIC, np.array([4.68, 4.70]))]
    problem = Problem.build(columns, np.array([True, False]), Method.MEDIAN)
    (feature,) = problem.booleans
    assert str(feature.proposition) == "albumin > 4.69"
    assert feature.holds.tolist() == [False, True]


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12),
    st.integers(0, 6),
)
def test_it_is_exact_to_one_digit_more_than_the_values_have(whole: list[int], digits: int) -> None:
    exact = [Fraction(number, 10**digits) for number in whole]
    low, high = sorted(exact)[(len(whole) - 1) // 2], sorted(exact)[len(whole) // 2]
    found = median(np.array([float(number) for number in exact]))
    assert Fraction(Decimal(repr(found))) == (low + high) / 2
    assert -int(Decimal(repr(found)).normalize().as_tuple().exponent) <= digits + 1


@given(st.lists(finite, min_size=1, max_size=9))
def test_it_lies_between_the_two_middle_values_and_is_finite(values: list[float]) -> None:
    found = median(np.array(values))
    low, high = sorted(values)[(len(values) - 1) // 2], sorted(values)[len(values) // 2]
    assert low <= found <= high
    assert math.isfinite(found)


def _neighbours(value: float) -> list[float]:
    return [value, math.nextafter(value, math.inf)]


@given(st.lists(finite, min_size=1, max_size=9) | finite.map(_neighbours))
def test_the_rows_above_it_are_those_above_the_exact_one(values: list[float]) -> None:
    if not all(map(math.isfinite, values)):
        return
    exact = sorted(Fraction(repr(value)) for value in values)
    middle = (exact[(len(values) - 1) // 2] + exact[len(values) // 2]) / 2
    above = np.array(values) > median(np.array(values))
    assert above.tolist() == [Fraction(repr(value)) > middle for value in values]


@given(st.lists(finite, min_size=1, max_size=9))
def test_its_proposition_reads_back_as_the_same(values: list[float]) -> None:
    columns = [Column("x", Kind.NUMERIC, np.array(values))]
    problem = Problem.build(columns, np.zeros(len(values), dtype=bool), Method.MEDIAN)
    proposition = problem.booleans[0].proposition
    assert parse(str(Atom(proposition))) == Atom(proposition)


@given(st.lists(st.integers(0, 1000).map(lambda cents: cents / 100), min_size=1, max_size=12))
def test_what_version_0_1_fitted_holds_on_the_same_rows(values: list[float]) -> None:
    array = np.array(values)
    assert (array > median(array)).tolist() == (array > np.median(array)).tolist()
