"""Constraints: the best formula that obeys, by every solver, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.functions import build
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.truth_table import influences
from fsm_hpc.search.checking import checked
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import NoFormulaError
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Solver
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native, engine_choice
from fsm_hpc.search.solvers.native.plans import plans
from tests.support.brute_constraints import fewest_errors
from tests.support.random_constraints import KINDS, Case, constrained

LONGEST = 7
SET_COSTS = [math.inf, 0.0]  # boxes are searched, or cells
COMBINED = (
    ("require", "min_support"),
    ("require", "max_columns"),
    ("increasing", "decreasing"),
    ("increasing", "max_columns", "min_support"),
    ("require", "decreasing"),
    KINDS,
)
CASES = [*((kind,) for kind in KINDS), *COMBINED]
by_case = pytest.mark.parametrize("kinds", CASES, ids="+".join)


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.filter_too_much,
        ],
    )


def assert_best(made: Solver, case: Case, longest: int) -> None:
    """For every bound the optimum, smallest and obeying, or that there is no formula."""
    bound = case.bound
    try:
        least = bound.shortest.size
    except NoFormulaError:
        least = longest + 1
    best = fewest_errors(case.free, longest, case.wished)
    for length in range(1, longest + 1):
        expected = best[length - 1]
        assert (expected is None) == (length < least), (length, least)
        if expected is None:
            with pytest.raises(NoFormulaError):
                made.solve(bound, length, Incumbent(), Control())
            continue
        outcome = made.solve(bound, length, Incumbent(), Control())
        assert outcome.end is End.PROVED
        assert checked(bound, length, outcome).errors == expected
        assert outcome.formula.size == best[:length].index(expected) + 1
        assert bound.admits(outcome.formula)


def native_equals_brute_force(kinds: tuple[str, ...], count: int) -> None:
    @examples(count)
    @given(case=st.booleans().flatmap(partial(constrained, kinds)), cost=st.sampled_from(SET_COSTS))
    def equal(case: Case, cost: float) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(engine_choice, "SET_COST", cost)
            assert_best(Native(), case, LONGEST)

    equal()


@by_case
def test_native_equals_brute_force(kinds: tuple[str, ...]) -> None:
    native_equals_brute_force(kinds, 6)


def in_language(case: Case, language: Language) -> Case:
    bound, free = (replace(one, language=language) for one in (case.bound, case.free))
    return Case(bound, free, case.wished)


cases = st.sampled_from(CASES).flatmap(lambda kinds: constrained(kinds, is_plain=False))
by_language = pytest.mark.parametrize("language", Language, ids=lambda one: one.value)
by_encoding = pytest.mark.parametrize("encoding", Encoding, ids=lambda one: one.value)


@by_language
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_native_equals_brute_force_in_every_language(language: Language, count: int) -> None:
    @examples(count)
    @given(case=cases)
    def equal(case: Case) -> None:
        assert_best(Native(), in_language(case, language), LONGEST)

    equal()


@by_language
@by_encoding
@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_clingo_dl_equals_brute_force_in_every_language(
    language: Language, encoding: Encoding, count: int
) -> None:
    made = ClingoDl(encoding=encoding)

    @examples(count)
    @given(case=cases)
    def equal(case: Case) -> None:
        assert_best(made, in_language(case, language), 5)

    equal()
    made.close()


@pytest.mark.slow
@by_case
def test_native_equals_brute_force_on_300_tables(kinds: tuple[str, ...]) -> None:
    native_equals_brute_force(kinds, 300)


def many_values(method: Method, rows: int, seed: int, **asked: Any) -> Case:
    """Two columns of about as many values as rows, beside a category."""
    rng = np.random.default_rng(seed)
    x, y = (rng.permutation(rows).astype(float) for _ in range(2))
    columns = [
        Column("x", Kind.NUMERIC, x),
        Column("y", Kind.NUMERIC, y),
        Column("b", Kind.BOOLEAN, rng.random(rows) < 0.4),
    ]
    labels = ((x >= rows / 3) & ~(y >= rows / 2)) ^ (rng.random(rows) < 0.3)
    wished = Constraints(**asked)
    free = Problem.build(columns, labels, method)
    return Case(Problem.build(columns, labels, method, constraints=wished), free, wished)


ASKED: list[dict[str, Any]] = [{"require": "y"}, {"min_support": 5}, {"require": ("x", "y")}]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize(("method", "rows"), [(Method.PIVOT, 30), (Method.INTERVAL, 9)])
def test_columns_of_many_values(asked: dict[str, Any], method: Method, rows: int) -> None:
    assert_best(Native(), many_values(method, rows, 1, **asked), 4)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [*ASKED, {"increasing": ("x", "y"), "min_support": 20}], ids=str)
def test_columns_that_are_swept(asked: dict[str, Any]) -> None:
    assert_best(Native(), many_values(Method.PIVOT, 200, 2, **asked), 4)


@pytest.mark.parametrize("language", Language, ids=lambda language: language.value)
def test_directions_of_functions_are_those_of_their_formulas(language: Language) -> None:
    for size in range(1, 8):
        for plan in plans(size, True, language):
            rises, falls = plan.directions()
            atoms = [Atom(Proposition(f"p{v}")) for v in range(plan.boxed + plan.free)]
            for f, tree in plan.trees.items():
                found = influences(build(tree, atoms.__getitem__))
                for place, atom in enumerate(atoms):
                    one = found[atom.proposition]
                    assert one.is_any
                    assert bool(rises[f] >> place & 1) == (not one.falls)
                    assert bool(falls[f] >> place & 1) == (not one.rises)


# ------------------------------------------------------------------------------------------ clingo


def clingo_equals_native(
    kinds: tuple[str, ...], encoding: Encoding, count: int, longest: int
) -> None:
    made = ClingoDl(1, encoding)

    @examples(count)
    @given(case=st.booleans().flatmap(partial(constrained, kinds)))
    def equal(case: Case) -> None:
        try:
            least = case.bound.shortest.size
        except NoFormulaError:
            return
        for length in range(least, longest + 1):
            ours = Native().solve(case.bound, length, Incumbent(), Control())
            theirs = checked(
                case.bound, length, made.solve(case.bound, length, Incumbent(), Control())
            )
            assert theirs.end is End.PROVED
            assert (theirs.errors, theirs.formula.size) == (ours.errors, ours.formula.size)

    try:
        equal()
    finally:
        made.close()


@pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.value)
def test_clingo_dl_equals_native_on_a_sample(encoding: Encoding) -> None:
    clingo_equals_native(("require", "decreasing"), encoding, 2, 4)


@pytest.mark.slow
@by_case
def test_clingo_dl_equals_native_on_30_tables(kinds: tuple[str, ...]) -> None:
    clingo_equals_native(kinds, Encoding.FAST, 30, 6)


@pytest.mark.slow
@by_case
def test_the_plain_encoding_equals_native(kinds: tuple[str, ...]) -> None:
    clingo_equals_native(kinds, Encoding.PLAIN, 10, 4)
