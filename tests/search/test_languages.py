"""Languages: each is searched completely, and no formula of another one is ever an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.functions import build, functions
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.checking import WrongOutcomeError, checked
from fsm_hpc.search.cuts import CutRule
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, scan
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native, engine_choice
from fsm_hpc.search.stop_reason import StopReason
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import problems, problems_with_cuts

OTHERS = [language for language in Language if language is not Language.PAPER]
every_language = pytest.mark.parametrize("language", OTHERS, ids=lambda one: one.value)
every_encoding = pytest.mark.parametrize("encoding", Encoding, ids=lambda one: one.value)
by_engine = pytest.mark.parametrize("set_cost", [math.inf, 0.0], ids=["boxes", "cells"])
lengths = st.integers(1, 7)
LONG = [pytest.param(150, marks=pytest.mark.slow)]  # with both engines 300


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


@pytest.fixture
def clingo(encoding: Encoding) -> Iterator[Solver]:
    made = ClingoDl(encoding=encoding)
    yield made
    made.close()


def answer(made: Solver, problem: Problem, length: int) -> Outcome:
    return checked(problem, length, made.solve(problem, length, Incumbent(), Control()))


def assert_optimal(made: Solver, problem: Problem, length: int) -> None:
    """The fewest errors, the smallest size, and a formula of the language."""
    best = fewest_errors(problem, length)
    found = answer(made, problem, length)
    assert (found.errors, found.formula.size) == (best[-1], best.index(best[-1]) + 1)
    assert found.end is End.PROVED


# ------------------------------------------------------------------------------------- optimality


@every_language
@by_engine
@pytest.mark.parametrize("count", [40, *LONG])
def test_native_equals_brute_force(
    language: Language, set_cost: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", set_cost)
    columns = 3 if language is Language.AT_LEAST and count < 100 else 4

    @examples(count)
    @given(problem=problems(max_columns=columns, language=language), length=lengths)
    def check(problem: Problem, length: int) -> None:
        assert_optimal(Native(), problem, length)

    check()


@every_language
@every_encoding
@pytest.mark.parametrize("count", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_clingo_dl_equals_native_and_brute_force(
    language: Language, clingo: Solver, count: int
) -> None:
    columns = 3 if count < 10 else 4

    @examples(count)
    @given(problem=problems(max_rows=7, max_columns=columns, language=language), length=lengths)
    def check(problem: Problem, length: int) -> None:
        assert_optimal(clingo, problem, length)
        assert_optimal(Native(), problem, length)

    check()


@every_language
@by_engine
@pytest.mark.parametrize("count", [8, *LONG])
def test_every_language_goes_with_every_kind_of_cut_and_with_missing_values(
    language: Language, set_cost: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", set_cost)

    @examples(count)
    @given(data=st.data(), rule=st.sampled_from(CutRule), keeps=st.booleans(), length=lengths)
    def check(data: st.DataObject, rule: CutRule, keeps: bool, length: int) -> None:
        problem = data.draw(problems_with_cuts(rule, keeps))
        assert_optimal(Native(), replace(problem, language=language), length)

    check()


@every_language
def test_every_length_goes_on_from_the_one_before(language: Language) -> None:
    problem = noisy(language)
    one, start = Native(), Incumbent()
    for length in range(1, 7):
        found = one.solve(problem, length, start, Control())
        fresh = Native(threads=2).solve(problem, length, Incumbent(), Control())
        assert (found.errors, found.formula) == (fresh.errors, fresh.formula)
        start = Incumbent(found.formula, found.errors, length)


def test_an_exclusive_or_of_two_cuts_has_size_3_where_the_papers_language_needs_8() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 20, (2, 120)).astype(float)
    columns = [Column("x", Kind.NUMERIC, x), Column("y", Kind.NUMERIC, y)]
    paper = Problem.build(columns, (x >= 7) != (y >= 12), Method.PIVOT)
    found = answer(Native(), replace(paper, language=Language.XOR), 3)
    assert (str(found.formula), found.errors) == ("x >= 7 xor y >= 12", 0)
    assert answer(Native(), paper, 7).errors > 0
    assert answer(Native(), paper, 9).errors == 0


@every_language
@pytest.mark.parametrize("label", [False, True])
def test_constants_cost_what_the_language_asks_for_them(language: Language, label: bool) -> None:
    columns = [Column("b", Kind.BOOLEAN, np.array([True, False, True]))]
    problem = Problem.build(columns, np.full(3, label), Method.PIVOT, language=language)
    assert_optimal(Native(), problem, 5)


def test_a_literal_listed_twice_counts_twice() -> None:
    bits = np.array([[row >> i & 1 for i in range(3)] for row in range(8)], dtype=bool).T
    columns = [Column(name, Kind.BOOLEAN, b) for name, b in zip("abc", bits, strict=True)]
    labels = bits[0] & (bits[1] | bits[2])
    problem = Problem.build(columns, labels, Method.PIVOT, language=Language.AT_LEAST)
    assert answer(Native(), problem, 4).errors > 0
    assert str(answer(Native(), problem, 5).formula) == "at least 3 of (a, a, b, c)"


# ------------------------------------------------------------------------------ functions by size


@every_language
def test_the_functions_of_a_size_are_those_of_formulas_of_that_size(language: Language) -> None:
    """Over three propositions that take all values: brute force lists truths by size."""
    bits = np.array([[row >> i & 1 for i in range(3)] for row in range(8)], dtype=bool).T
    table = dict(zip("abc", bits, strict=True))
    atoms = {name: parse(name) for name in table}
    for size in range(1, 7):
        for f in functions(size, language):
            if f.variables <= 3:
                made = build(f.tree, list(atoms.values()).__getitem__)
                assert language.has(made)
                assert made.size == size
                expected = [f.table >> (row & ((1 << f.variables) - 1)) & 1 for row in range(8)]
                assert made.evaluate(table).astype(int).tolist() == expected


@pytest.mark.parametrize("size", range(1, 16))
def test_conjunctions_and_disjunctions_mirror_each_other(size: int) -> None:
    both = [functions(size, one) for one in (Language.CONJUNCTION, Language.DISJUNCTION)]
    assert [len(some) for some in both] == [len(both[0])] * 2


# -------------------------------------------------------------------------------------- the scan


@pytest.mark.parametrize("language", [Language.CONJUNCTION, Language.DISJUNCTION])
def test_a_scan_in_a_poor_language_ends_where_nothing_new_can_be_said(language: Language) -> None:
    problem = noisy(language, columns=2)
    rule = StoppingRule(patience=99, max_length=None, plateau=None)
    limits = Limits(rule=rule)
    *_, last = scan([Split(problem, problem)], Native(), ScanState(), limits)
    assert last.stop_reason is StopReason.EXHAUSTED
    assert last.lengths[-1].length == problem.largest_size == 5
    everything = fewest_errors(problem, 8)
    assert everything[4:] == [everything[4]] * 4
    assert everything[-1] > problem.fewest_errors


def test_an_answer_in_another_language_is_refused() -> None:
    problem = noisy(Language.CONJUNCTION)
    formula: Formula = parse("c0 or c1")
    errors = problem.errors(formula)
    claim = Outcome(formula, errors, 0, 0, End.TIMEOUT, "somebody")
    with pytest.raises(WrongOutcomeError, match="is none of the language conjunction"):
        checked(problem, 3, claim)


def test_the_language_is_part_of_the_problem_unless_it_is_the_papers() -> None:
    marks = {replace(noisy(Language.PAPER), language=one).fingerprint for one in Language}
    assert len(marks) == len(Language)
    part = noisy(Language.XOR).on(np.array([0, 1, 2]))
    assert (part.language, part.rows) == (Language.XOR, 3)


def noisy(language: Language, columns: int = 4) -> Problem:
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2, (columns, 30)) > 0
    made = [Column(f"c{i}", Kind.BOOLEAN, b) for i, b in enumerate(bits)]
    labels = (bits[0] ^ bits[1]) | (rng.random(30) < 0.2)
    return Problem.build(made, labels, Method.PIVOT, language=language)
