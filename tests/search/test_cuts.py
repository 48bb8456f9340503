"""Every rule for cuts, with missing values and without: what is proved, and what is written."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.checking import checked
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.features import BELOW
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import middle, roundest, snapped, within_slack, written
from fsm_hpc.search.scan import Limits, ScanState, finish
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Solver
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native, engine_choice
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import problems_with_cuts, with_holes

LONGEST = 7
CASES = [
    pytest.param(rule, missing, id=f"{rule.value}-{'keep' if missing else 'drop'}")
    for rule in CutRule
    for missing in (False, True)
]
by_case = pytest.mark.parametrize(("rule", "missing"), CASES)


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def assert_best(made: Solver, problem: Problem, longest: int) -> None:
    """Its answer for every bound is the optimum, smallest and admissible, as brute force says."""
    if not (problem.booleans or problem.numerics):
        return  # all values of its only column are missing
    best = fewest_errors(problem, longest)
    for length in range(1, longest + 1):
        outcome = made.solve(problem, length, Incumbent(), Control())
        assert outcome.end is End.PROVED
        assert checked(problem, length, outcome).errors == best[length - 1]
        assert outcome.formula.size == best[:length].index(best[length - 1]) + 1
        assert problem.admits(outcome.formula)


@by_case
def test_native_equals_brute_force(rule: CutRule, missing: bool) -> None:
    @examples(12)
    @given(problem=problems_with_cuts(rule, missing))
    def equal(problem: Problem) -> None:
        assert_best(Native(), problem, LONGEST)

    equal()


@pytest.mark.parametrize("missing", [False, True])
def test_boxes_equal_brute_force(missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_choice, "SET_COST", math.inf)

    @examples(25)
    @given(data=st.data(), rule=st.sampled_from(list(CutRule)))
    def equal(data: st.DataObject, rule: CutRule) -> None:
        assert_best(Native(), data.draw(problems_with_cuts(rule, missing)), LONGEST)

    equal()


def test_clingo_dl_equals_native_on_a_sample() -> None:
    _clingo_equals_native(CutRule.GIVEN, True, 2, 4)


@pytest.mark.slow
@by_case
@pytest.mark.parametrize("engine", ["cells", "boxes"])
def test_native_equals_brute_force_on_300_tables(
    rule: CutRule, missing: bool, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "boxes":
        monkeypatch.setattr(engine_choice, "SET_COST", math.inf)

    @examples(300)
    @given(problem=problems_with_cuts(rule, missing))
    def equal(problem: Problem) -> None:
        assert_best(Native(), problem, LONGEST)

    equal()


@pytest.mark.slow
@by_case
def test_clingo_dl_equals_native_on_30_tables(rule: CutRule, missing: bool) -> None:
    _clingo_equals_native(rule, missing, 30, 5)


@pytest.mark.slow
@by_case
def test_the_plain_encoding_equals_brute_force(rule: CutRule, missing: bool) -> None:
    made = ClingoDl(1, Encoding.PLAIN)

    @examples(10)
    @given(problem=problems_with_cuts(rule, missing))
    def equal(problem: Problem) -> None:
        assert_best(made, problem, 4)

    equal()
    made.close()


def _clingo_equals_native(rule: CutRule, missing: bool, count: int, longest: int) -> None:
    made = ClingoDl(1)

    @examples(count)
    @given(problem=problems_with_cuts(rule, missing))
    def equal(problem: Problem) -> None:
        assume(problem.booleans or problem.numerics)
        for length in range(1, longest + 1):
            ours = Native().solve(problem, length, Incumbent(), Control())
            theirs = made.solve(problem, length, Incumbent(), Control())
            assert (theirs.errors, theirs.formula.size) == (ours.errors, ours.formula.size)

    equal()
    made.close()


@pytest.mark.parametrize(
    ("method", "rows", "values"), [(Method.PIVOT, 60, 60), (Method.INTERVAL, 24, 11)]
)
@pytest.mark.parametrize("seed", range(3))
def test_columns_of_many_values_with_gaps_equal_brute_force(
    method: Method, rows: int, values: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns: list[Column] = []
    for name in ("x", "y"):
        numbers = Column(name, Kind.NUMERIC, rng.integers(0, values, rows).astype(float))
        columns += with_holes(name, [numbers], rng.random(rows) < 0.15)
    x, y = columns[0].values, columns[2].values
    labels = ((x >= values / 3) & ~(y >= values / 2)) ^ (rng.random(rows) < 0.1)
    assert_best(Native(), Problem.build(columns, labels, method), 4)


# ------------------------------------------------------------------------------------- candidates


def numbers(*values: float, labels: str = "", cuts: Cuts, method: Method = Method.PIVOT) -> Problem:
    truth = np.array([label == "+" for label in labels or "-" * len(values)])
    return Problem.build([Column("x", Kind.NUMERIC, np.array(values))], truth, method, cuts=cuts)


def test_a_row_has_the_rank_of_the_highest_cut_that_it_reaches() -> None:
    cuts = Cuts.of_lists({"x": [18, 40, 65]})
    (x,) = numbers(3, 18, 39.5, 40, 90, np.nan, cuts=cuts).numerics
    assert x.ranks.tolist() == [BELOW, 0, 0, 1, 2, BELOW]
    assert not x.is_always_reached


def test_an_interval_leaves_out_what_lies_beyond_its_upper_cut() -> None:
    cuts = Cuts.of_lists({"x": [18, 40]})
    (x,) = numbers(18, 30, 40, 50, cuts=cuts, method=Method.INTERVAL).numerics
    assert x.between is not None
    assert x.between.tolist() == [False, True, False, True]


def test_quantiles_part_the_rows_evenly_and_are_among_them() -> None:
    (x,) = numbers(*range(100), cuts=Cuts(CutRule.QUANTILES, n=3)).numerics
    assert x.thresholds.tolist() == [24, 49, 74]


def test_a_list_for_no_column_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="numeric columns, found 'agee'; they are: x"):
        numbers(1, 2, cuts=Cuts.of_lists({"agee": [1]}))


@pytest.mark.parametrize("wrong", [[], ["old"], [True], [float("inf")], None, [2**53 + 1]])
def test_a_list_without_exact_numbers_is_refused(wrong: object) -> None:
    with pytest.raises(UserError, match=r"cuts.given.age: expected a list of numbers"):
        Cuts.of_lists({"age": wrong})


def test_intervals_between_many_cuts_are_refused_with_what_to_do() -> None:
    rng = np.random.default_rng(1)
    columns = [Column(n, Kind.NUMERIC, rng.normal(size=400)) for n in ("x", "y")]
    cuts = Cuts.of_lists({"x": [0.0, 1.0]})
    problem = Problem.build(columns, rng.random(400) < 0.5, Method.INTERVAL, cuts=cuts)
    with pytest.raises(UserError, match="give a list for every column of many values"):
        Native().solve(problem, 2, Incumbent(), Control())


# ---------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("kept", "other", "number"),
    [
        (767, 745, 750),
        (767, 760.5, 765),
        (0.3, 0.1, 0.2),
        (5, -3, 0),
        (27.6, 27.5, 27.6),
        (2, 1, 2),
        (1999, 2001, 2000),
        (2.0**53, 2.0**53 - 2, 2.0**53 - 1),
    ],
)
def test_the_roundest_number_of_a_gap(kept: float, other: float, number: float) -> None:
    assert roundest(kept, other) == number


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(kept=finite, other=finite)
def test_a_number_of_a_gap_parts_its_ends_and_reads_back(kept: float, other: float) -> None:
    assume(kept != other)
    values = sorted((kept, other))
    cuts = [Cuts(CutRule.ROUNDED), Cuts(CutRule.MIDPOINTS)]
    for rule in cuts:
        problem = numbers(*values, cuts=rule)
        formula = written(problem, parse(f"x >= {values[1]!r}"))
        assert formula.evaluate(problem.table).tolist() == [False, True]
        assert parse(str(formula)) == formula
    assert middle(4.68, 4.7) == 4.69


@pytest.mark.parametrize("rule", [CutRule.MIDPOINTS, CutRule.ROUNDED])
@examples(60)
@given(data=st.data())
def test_what_is_written_anew_says_the_same_of_every_fitted_row(
    rule: CutRule, data: st.DataObject
) -> None:
    problem = data.draw(problems_with_cuts(rule, data.draw(st.booleans())))
    assume(problem.booleans or problem.numerics)
    found = Native().solve(problem, 5, Incumbent(), Control()).formula
    again = written(problem, found)
    assert (again.evaluate(problem.table) == found.evaluate(problem.table)).all()
    assert written(problem, again) == again
    assert parse(str(again)) == again
    assert problem.admits(snapped(problem, again))


def test_both_ends_of_an_interval_lie_in_gaps_but_for_those_beyond_all_values() -> None:
    problem = numbers(10, 17, 31, 58, cuts=Cuts(CutRule.MIDPOINTS), method=Method.INTERVAL)
    assert str(written(problem, parse("17 <= x <= 31"))) == "13.5 <= x <= 44.5"
    assert str(written(problem, parse("10 <= x <= 17"))) == "10 <= x <= 24"
    assert str(written(problem, parse("31 <= x <= 58"))) == "24 <= x <= 58"


def test_a_solved_problem_has_rounded_cuts_and_the_proved_errors() -> None:
    problem = numbers(700, 745, 767, 911, labels="--++", cuts=Cuts(CutRule.ROUNDED))
    (state,) = finish(problem, Native(), ScanState(), Limits(), 1)
    assert state.final is not None
    assert state.final.end is End.PROVED
    assert (str(state.final.best.formula), state.final.best.errors) == ("x >= 750", 0)


def test_slack_buys_rounder_cuts_and_no_more_errors_than_it_has() -> None:
    values, labels = [410, 493, 502, 511, 767, 768, 771], "---+-++"
    problem = numbers(*values, labels=labels, cuts=Cuts(CutRule.ROUNDED, slack=1))
    proved = written(problem, parse("x >= 511"))
    assert (str(proved), problem.errors(proved)) == ("x >= 510", 1)
    rounder = within_slack(problem, proved)
    assert (str(rounder), problem.errors(rounder)) == ("x >= 500", 2)


@examples(60)
@given(data=st.data(), slack=st.integers(0, 3))
def test_slack_is_never_exceeded(data: st.DataObject, slack: int) -> None:
    problem = data.draw(problems_with_cuts(CutRule.ROUNDED, False))
    assume(problem.booleans or problem.numerics)
    problem = Problem.build(
        problem.columns, problem.labels, problem.method, cuts=Cuts(CutRule.ROUNDED, slack=slack)
    )
    found = Native().solve(problem, 3, Incumbent(), Control())
    rounder = within_slack(problem, written(problem, found.formula))
    assert problem.errors(rounder) <= found.errors + slack
    assert rounder.size == found.formula.size
