"""A solved problem becomes a claim that the independent checker verifies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc import checker
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.claim import claim_of, write_claim
from fsm_hpc.search.cuts import CutRule
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native.solver import Native
from tests.support.random_tables import problems, problems_with_cuts

SOLVER = Native(threads=1)


def check_native(problem: Problem, bound: int) -> None:
    """The checker verifies the answer of the native solver, and refutes one error more or less."""
    outcome = SOLVER.solve(problem, bound, Incumbent(), Control())
    assert outcome.formula is not None
    claim = claim_of(problem, outcome.formula, bound)
    checker.check(json.loads(json.dumps(claim)))
    for errors in (outcome.errors - 1, outcome.errors + 1):
        with pytest.raises(checker.NotVerifiedError, match="refuted"):
            checker.check(claim | {"errors": errors})


@given(problems(), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_the_checker_verifies_answers_of_the_native_solver(problem: Problem, bound: int) -> None:
    check_native(problem, bound)


@given(st.data(), st.integers(1, 5), st.sampled_from([CutRule.OBSERVED, CutRule.QUANTILES]))
@settings(max_examples=60, deadline=None)
def test_and_so_it_does_with_missing_values_and_other_thresholds(
    data: st.DataObject, bound: int, rule: CutRule
) -> None:
    check_native(data.draw(problems_with_cuts(rule, keeps_missing=True)), bound)


@given(problems(language=Language.DNF))
@settings(max_examples=5, deadline=None)
def test_another_language_is_named_and_not_judged(problem: Problem) -> None:
    outcome = SOLVER.solve(problem, 2, Incumbent(), Control())
    assert outcome.formula is not None
    with pytest.raises(checker.NotVerifiedError, match="dnf"):
        checker.check(claim_of(problem, outcome.formula, 2))


def test_a_claim_file_is_what_the_checker_reads_and_its_bytes_depend_on_the_claim_alone(
    tmp_path: Path,
) -> None:
    column = Column("x", Kind.NUMERIC, np.array([1.0, 2.0, np.nan]))
    problem = Problem.build([column], np.array([False, True, False]), Method.PIVOT)
    claim = claim_of(problem, parse("x >= 2"), 1)
    for name in ("first", "second"):
        write_claim(tmp_path / name, claim)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    checker.check(json.loads(gzip.decompress((tmp_path / "first").read_bytes())))
