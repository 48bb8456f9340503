"""What a solver claims is held against the problem: what fails is an error, never a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.formula import Atom, Or, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.checking import WrongOutcomeError, checked
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, finish, scan
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from tests.support.fakes import LadderSolver

VALUES = np.array([1.0, 2.0, 3.0, 4.0])
LABELS = np.array([False, False, True, True])
PROBLEM = Problem(Method.PIVOT, (Column("x", Kind.NUMERIC, VALUES),), LABELS)
RIGHT = Outcome(parse("x >= 3"), 0, 0, 1, End.PROVED, "some solver")


def test_an_outcome_that_holds_is_taken() -> None:
    assert checked(PROBLEM, 1, RIGHT) is RIGHT


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (replace(RIGHT, errors=1, lower_bound=1), "makes 0 errors, not 1"),
        (replace(RIGHT, formula=parse("x >= 2")), "makes 1 errors, not 0"),
        (replace(RIGHT, formula=parse("y >= 2")), "makes None errors, not 0"),
        (replace(RIGHT, formula=Or(*[parse("x >= 3")] * 2)), "has size 3"),
        (
            replace(RIGHT, formula=parse("x >= 2"), errors=1),
            "1 errors are proved, but the bound is 0",
        ),
        (replace(RIGHT, lower_bound=1), "no formula makes fewer than 1 errors"),
        (
            replace(RIGHT, formula=Atom(Proposition.at_least("x", float("inf")))),
            "cannot be read back",
        ),
    ],
    ids=str,
)
def test_a_claim_that_fails_is_an_error(wrong: Outcome, told: str) -> None:
    with pytest.raises(WrongOutcomeError, match="some solver gave a wrong answer") as error:
        checked(PROBLEM, 1, wrong)
    assert told in str(error.value)


@dataclass
class Liar(LadderSolver):
    """Changes what the right solver says."""

    lie: Callable[[Outcome], Outcome] = lambda outcome: outcome

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        return self.lie(super().solve(problem, length, start, control))


def test_neither_scan_nor_final_solve_takes_a_wrong_outcome() -> None:
    def one_fewer(outcome: Outcome) -> Outcome:
        return replace(outcome, errors=outcome.errors - 1, lower_bound=outcome.errors - 1)

    limits = Limits(StoppingRule(max_length=1))
    with pytest.raises(WrongOutcomeError):
        list(scan([Split(PROBLEM, PROBLEM)], Liar(lie=one_fewer), ScanState(), limits))
    with pytest.raises(WrongOutcomeError):
        list(finish(PROBLEM, Liar(lie=one_fewer), ScanState(), limits))
