"""The local search beside a proof: exact steps, honest answers, and no influence on the proof."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsm_hpc.formulas.language import Language
from fsm_hpc.search.cuts import CutRule
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import NoFormulaError
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.native import Native, local_search, solver
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.decoder import Literal, holds
from fsm_hpc.search.solvers.native.expressions import (
    Expression,
    expression_of,
    leaves,
    part_at,
    replaced,
    size_of,
    truth,
)
from fsm_hpc.search.solvers.native.local_search import LocalSearch
from fsm_hpc.search.solvers.native.table import KernelTable
from tests.support.random_constraints import KINDS, Case, constrained
from tests.support.random_tables import FORMULA_METHODS, problems_with_cuts, random_problem

LENGTH = 7
by_method = pytest.mark.parametrize("method", FORMULA_METHODS, ids=lambda m: m.value)
by_language = pytest.mark.parametrize("language", Language, ids=lambda one: one.value)


def examples(count: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks)


def steps(count: int) -> Callable[[], bool]:
    """Whether so many steps are done."""
    left = iter(range(count))
    return lambda: next(left, None) is None


def searched(problem: Problem, count: int = 400, length: int = LENGTH) -> LocalSearch:
    made = LocalSearch(problem, KernelTable(problem))
    made.run(length, steps(count))
    return made


def all_literals(table: KernelTable) -> list[Literal]:
    found: list[Literal] = []
    for number, column in enumerate(table.columns):
        points = ((rank, rank) for rank in range(1, column.card))
        ranks = points if column.numeric is None else column.literals
        found += [(number, low, high) for low, high in ranks]
    return found


@examples(150)
@given(
    data=st.data(), rule=st.sampled_from(CutRule), keeps=st.booleans(), seed=st.integers(0, 1000)
)
def test_a_literal_is_replaced_by_the_best_of_all(
    data: st.DataObject, rule: CutRule, keeps: bool, seed: int
) -> None:
    problem = data.draw(problems_with_cuts(rule, keeps))
    table = KernelTable(problem)
    literals = all_literals(table)
    rng = np.random.default_rng(seed)
    drawn = [literals[at] for at in rng.integers(0, len(literals), 3)]
    expression: Expression = ("or", ("and", drawn[0], ("not", drawn[1])), drawn[2])
    made = LocalSearch(problem, table)
    path = leaves(expression)[int(rng.integers(3))]
    others = [part_at(expression, place) for place in leaves(expression) if place != path]
    fixed = {other[0]: other for other in others if table.columns[other[0]].numeric}
    allowed = [one for one in literals if fixed.get(one[0], one) == one]
    if any(len(list(same)) > 1 for _, same in itertools.groupby(sorted(fixed.values()))):
        return
    best = max(made._score(replaced(expression, path, one)) for one in allowed)
    found = made._candidates(expression, path, 1)[0]
    assert found in allowed
    assert made._score(replaced(expression, path, found)) == best


@by_language
@by_method
def test_what_is_offered_is_a_formula_of_its_size_and_score(
    language: Language, method: Method
) -> None:
    plain = random_problem(np.random.default_rng(3), method, 60, 3, 3, 8)
    problem = replace(plain, language=language)
    made = searched(problem, 600)
    scores = []
    for size in range(1, LENGTH + 1):
        leader = made.best(size)
        assert leader is not None
        assert leader.formula.size <= size
        assert language.has(leader.formula)
        assert problem.admits(leader.formula)
        assert problem.positives - problem.errors(leader.formula) == leader.score
        scores.append(leader.score)
    assert scores == sorted(scores)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS], ids="+".join)
def test_what_violates_a_constraint_is_not_offered(kinds: tuple[str, ...]) -> None:
    @examples(25)
    @given(case=st.booleans().flatmap(partial(constrained, kinds)))
    def meets_constraints(case: Case) -> None:
        try:
            least = case.bound.shortest.size
        except NoFormulaError:
            return
        made = searched(case.bound, 100)
        is_empty = not len(KernelTable(case.bound).rows)  # all rows agree but for their label
        for size in range(1, LENGTH + 1):
            leader = made.best(size)
            assert leader is None or case.bound.admits(leader.formula)
            assert leader is not None or size < least or is_empty

    meets_constraints()


def test_the_same_steps_find_the_same_formulas() -> None:
    problem = random_problem(np.random.default_rng(1), Method.PIVOT, 80, 3, 3, 20)
    one, other = searched(problem, 2000), searched(problem, 2000)
    assert [one.best(size) for size in range(1, 8)] == [other.best(size) for size in range(1, 8)]


def test_a_longer_bound_goes_on_from_what_was_found() -> None:
    problem = random_problem(np.random.default_rng(1), Method.PIVOT, 80, 3, 3, 20)
    made = searched(problem, 1000, 4)
    short = made.best(4)
    made.run(9, steps(2000))
    long = made.best(9)
    assert short is not None
    assert long is not None
    assert long.score > short.score
    assert long.formula.size > 4


@by_method
def test_it_reaches_the_optimum_of_small_tables(method: Method) -> None:
    problem = random_problem(np.random.default_rng(8), method, 100, 4, 3, 9)
    optimum = Native().solve(problem, 6, Incumbent(), Control())
    found = searched(problem, 6000, 6).best(6)
    assert found is not None
    assert problem.positives - found.score == optimum.errors


@by_language
def test_a_formula_comes_back_as_the_expression_that_it_is(language: Language) -> None:
    plain = random_problem(np.random.default_rng(2), Method.INTERVAL, 40, 3, 3, 6)
    problem = replace(plain, language=language)
    table = KernelTable(problem)
    leader = searched(problem).best(LENGTH)
    assert leader is not None
    expression = expression_of(leader.formula, table)
    assert expression is not None
    assert size_of(expression) == leader.formula.size
    held = truth(expression, partial(holds, table))
    assert (held == leader.formula.evaluate(problem.table)[table.rows]).all()


# ------------------------------------------------------------------------------ beside a proof


def hard_problem() -> Problem:
    """One whose sizes from 6 or 7 on are not proved within seconds."""
    return random_problem(np.random.default_rng(5), Method.PIVOT, 1500, 0, 12, 1000)


@pytest.mark.parametrize("seed", range(4))
@by_method
def test_a_proof_has_the_same_answer_with_it_and_without(
    method: Method, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(np.random.default_rng(seed), method, 120, 3, 3, 30)
    monkeypatch.setattr(local_search, "PROOF_ALONE_S", 1e9)
    alone = Native().solve(problem, 6, Incumbent(), Control())
    helped = Native()
    helped.knowledge(problem).local.run(6, steps(3000))
    assert helped.solve(problem, 6, Incumbent(), Control()) == alone


def stopped_search(problem: Problem, length: int = 12) -> tuple[Outcome, int]:
    """What is known when a search ends early, and the errors that the local search came to."""
    made = Native()
    local = made.knowledge(problem).local
    local.run(length, steps(15_000))
    best = local.best(length)
    assert best is not None
    control = Control(deadline=time.monotonic() + 1.0)
    outcome = made.solve(problem, length, Incumbent(), control)
    return outcome, problem.positives - best.score


def test_a_long_search_is_good_before_it_is_proved() -> None:
    problem = hard_problem()
    outcome, errors = stopped_search(problem)
    proved = Native().solve(problem, 5, Incumbent(), Control())
    assert outcome.end is End.TIMEOUT
    assert outcome.errors <= errors < proved.errors
    assert outcome.formula.size > outcome.proved_length


def test_proofs_of_shorter_sizes_are_kept_with_a_longer_formula() -> None:
    problem = hard_problem()
    first, _ = stopped_search(problem)
    told: list[Incumbent] = []
    control = Control(deadline=time.monotonic() + 0.5, report=told.append)
    second = Native().solve(problem, 12, first.incumbent, control)
    assert first.formula.size > first.proved_length > 0
    assert second.proved_length >= first.proved_length
    assert all(incumbent.proved_length >= first.proved_length for incumbent in told)


def test_a_size_that_is_too_large_to_be_numbered_is_said_to_be_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(BoxEngine, "most_units", 100)
    monkeypatch.setattr(solver, "LOCAL_ONLY_S", 0.5)
    outcome = Native().solve(hard_problem(), 9, Incumbent(), Control())
    assert outcome.end is End.TOO_LARGE
    assert "more formulas than can be numbered" in caplog.text
    assert outcome.proved_length < 9
