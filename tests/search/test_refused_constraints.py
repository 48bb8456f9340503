"""Constraints that cannot be met are refused by name; scans begin where there is a formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fsm_hpc.data.columns import Column, Kind, missing_indicator
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.functions import functions
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.smallest import largest_size
from fsm_hpc.search.checking import WrongOutcomeError, checked
from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.lengths import Split
from fsm_hpc.search.method import Method
from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack
from fsm_hpc.search.scan import Limits, ScanState, StoppingRule, finish, scan
from fsm_hpc.search.shortest import NoFormulaError
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.search.solvers.portfolio import Portfolio
from fsm_hpc.search.stop_reason import StopReason

RNG = np.random.default_rng(5)
ROWS = 40
JOBS = RNG.choice(["admin", "student", "other"], ROWS)
COLUMNS = (
    Column("age", Kind.NUMERIC, RNG.integers(18, 60, ROWS).astype(float)),
    Column("pay", Kind.NUMERIC, RNG.integers(0, 9, ROWS).astype(float)),
    Column("owns", Kind.BOOLEAN, RNG.random(ROWS) < 0.4),
    Column("flat", Kind.BOOLEAN, np.zeros(ROWS, bool)),
    *(
        Column(f"job_{job}", Kind.BOOLEAN, np.equal(JOBS, job), "job", job)
        for job in ("admin", "student", "other")
    ),
)
LABELS = (COLUMNS[0].values > 35) ^ (RNG.random(ROWS) < 0.2)


def problem(method: Method = Method.PIVOT, **asked: Any) -> Problem:
    return Problem.build(COLUMNS, LABELS, method, constraints=Constraints(**asked))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"require": ["age"], "forbid": ["age"]}, "rule.require and rule.forbid both name 'age'"),
        ({"require": ["job_admin"], "forbid": ["job"]}, "require and rule.forbid both name 'job_a"),
        ({"increasing": ["age"], "decreasing": ["age"]}, "rule.decreasing both name 'age'"),
        ({"increasing": ["job"], "decreasing": ["job_student"]}, "both name 'job_student'"),
        ({"require": ["agee"]}, "rule.require: no column is called 'agee'; its columns are: age"),
        ({"forbid": ["x"]}, "rule.forbid: no column is called 'x'"),
        ({"require": ["age", "pay"], "max_columns": 1}, "rule.require names 2 columns: age, pay"),
        ({"forbid": ["age", "pay", "owns", "flat", "job"]}, "rule.forbid: no column is left"),
        ({"min_support": -1}, "rule.min_support: expected a whole number from 0 on, found -1"),
        ({"max_columns": 0}, "rule.max_columns: expected a whole number from 1 on, found 0"),
        ({"max_columns": True}, "rule.max_columns: expected a whole number"),
        ({"require": [3]}, "rule.require: expected names of columns"),
        ({"require": 3}, "rule.require: expected names of columns"),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        problem(**asked)


def test_an_interval_has_no_direction() -> None:
    with pytest.raises(UserError, match=r"rule.increasing: 'age' is numeric, and an interval"):
        problem(Method.INTERVAL, increasing=["age"])
    assert problem(Method.INTERVAL, increasing=["owns", "job"]).constraints.increasing
    assert problem(Method.MEDIAN, decreasing=["age"]).constraints.decreasing


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"require": ["flat"]}, "rule.require: no proposition about 'flat' holds on"),
        ({"min_support": 21}, "rule.min_support=21: no proposition holds on"),
    ],
)
def test_what_the_rows_cannot_meet_is_said_when_they_are_searched(
    asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(NoFormulaError, match=message):
        Native().solve(problem(**asked), 3, Incumbent(), Control())


def test_a_name_alone_is_a_list_of_one_and_names_count_once() -> None:
    assert Constraints(require="age").require == ("age",)  # type: ignore[arg-type]
    assert Constraints(require=("age", "age")) == Constraints(require=("age",))


def test_a_column_of_the_table_is_all_of_its_categories() -> None:
    left = problem(forbid=["job", "flat"])
    assert [c.name for c in left.columns] == ["age", "pay", "owns"]
    assert not left.constraints.binds  # what is left is the plain problem on fewer columns
    assert [c.name for c in problem(forbid=["job_admin"]).columns][-2:] == [
        "job_student",
        "job_other",
    ]


def test_where_a_value_is_missing_has_no_direction_but_belongs_to_the_column() -> None:
    columns = (*COLUMNS, missing_indicator("age", RNG.random(ROWS) < 0.2))
    hole = Problem.build(
        columns,
        LABELS,
        Method.PIVOT,
        constraints=Constraints(increasing=("age",), require=("age",), max_columns=1),
    ).booleans[-1]
    assert (hole.constraint.sign, hole.constraint.needs, hole.constraint.origin) == (0, 1, "age")


# ------------------------------------------------------------------------------------ formulas


@pytest.mark.parametrize(
    ("asked", "formula", "broken"),
    [
        ({"require": ["age"]}, "owns", "it does not depend on age"),
        ({"require": ["age"]}, "owns and (age >= 30 or not age >= 30)", "not depend on age"),
        ({"require": ["age"]}, "age >= 10 and owns", "it does not depend on age"),
        ({"require": ["owns"]}, "age >= 10 or owns", "it does not depend on owns"),
        ({"require": ["job"]}, "job_admin", None),
        ({"increasing": ["age"]}, "not age >= 30", "it may become false as age >= 30"),
        ({"increasing": ["age"]}, "not age >= 10", "it may become false as age >= 10"),
        ({"decreasing": ["age"]}, "owns and not age >= 30", None),
        ({"decreasing": ["job"]}, "job_admin", "it may become true as job_admin"),
        ({"min_support": 5}, "age >= 58 or owns", "age >= 58 holds or fails on fewer than 5"),
        ({"max_columns": 1}, "job_admin or job_other", None),
        ({"max_columns": 1}, "job_admin or owns", "it has 2 columns, not 1 at most"),
        ({"forbid": ["pay"], "max_columns": 3}, "pay >= 3", "pay >= 3 is about no column"),
    ],
)
def test_what_a_formula_breaks(asked: dict[str, Any], formula: str, broken: str | None) -> None:
    found = list(problem(**asked).violations(parse(formula)))
    assert len(found) == (broken is not None)
    assert broken is None or broken in found[0]


def test_an_answer_that_breaks_a_constraint_is_refused() -> None:
    asked, formula = problem(require=["age"]), parse("owns")
    claim = Outcome(formula, asked.errors(formula), 0, 0, End.TIMEOUT, "somebody")
    with pytest.raises(WrongOutcomeError, match="breaks a constraint: it does not depend on age"):
        checked(asked, 1, claim)


def test_rounder_cuts_keep_the_constraints() -> None:
    values = np.array([410.0, 493, 502, 511, 767, 768, 771])
    columns = [Column("x", Kind.NUMERIC, values)]
    labels = np.array([c == "+" for c in "---+-++"])
    cuts = Cuts(CutRule.ROUNDED, slack=1)
    for support, rounded in ((0, "x >= 500"), (3, "x >= 600")):  # 500 fails on two rows only
        asked = Constraints(min_support=support)
        whole = Problem.build(columns, labels, Method.PIVOT, cuts=cuts, constraints=asked)
        assert str(within_slack(whole, parse("x >= 510"))) == rounded


def test_a_problem_is_known_by_its_constraints() -> None:
    marks = [
        problem().fingerprint,
        problem(require=["age"]).fingerprint,
        problem(forbid=["age"]).fingerprint,
        problem(increasing=["age"]).fingerprint,
        problem(decreasing=["age"]).fingerprint,
        problem(min_support=3).fingerprint,
        problem(max_columns=2).fingerprint,
    ]
    assert len(set(marks)) == len(marks)
    one, other = (problem(require=names) for names in (["age", "pay"], ["pay", "age"]))
    assert one.fingerprint == other.fingerprint
    assert numbering(one) != numbering(problem())  # so that no frontier of another is taken
    part = problem(require=["age"]).on(np.arange(20))
    assert part.constraints == Constraints(require=("age",))


def test_alternatives_are_refused_by_name() -> None:
    with pytest.raises(UserError, match="does not have the default constraints"):
        check_supported(problem(require=["age"]))
    check_supported(problem(forbid=["age"]))


# ------------------------------------------------------------------------------------ the scan


@pytest.mark.parametrize("language", Language, ids=lambda language: language.value)
def test_the_last_function_of_few_propositions_is_known(language: Language) -> None:
    for count in (1, 2):
        largest = largest_size(language, count)
        if largest is not None:
            sizes = range(1, largest + 4)
            last = [s for s in sizes if any(f.variables <= count for f in functions(s, language))]
            assert last[-1] == largest


def scanned(asked: Problem, max_length: int | None = None) -> ScanState:
    rule = StoppingRule(patience=99, max_length=max_length)
    *_, last = scan([Split(asked, asked)], Native(), ScanState(), Limits(rule=rule))
    return last


def test_a_scan_that_can_find_nothing_better_ends_as_exhausted() -> None:
    asked = problem(max_columns=1, forbid=["job"], increasing=["age"])
    last = scanned(asked)
    assert last.stop_reason is StopReason.EXHAUSTED
    assert last.lengths[-1].length == asked.largest_size == 4
    assert last.lengths[-1].errors > asked.fewest_errors


def test_a_scan_begins_with_the_first_length_that_has_a_formula() -> None:
    asked = problem(require=["age", "pay", "owns"], decreasing=["pay"])
    assert asked.shortest.size == 6
    last = scanned(asked, 7)
    assert [entry.length for entry in last.lengths] == [6, 7]
    assert all(asked.meets_constraints(entry.formula) for entry in last.lengths)
    (state,) = finish(asked, Native(), ScanState(), Limits())
    assert state.final is not None
    assert state.final.length == 6


def test_a_length_without_any_formula_says_so() -> None:
    asked = problem(require=["age", "pay"])
    for solve in (
        lambda: Native().solve(asked, 2, Incumbent(), Control()),
        lambda: scanned(asked, 2),
        lambda: list(finish(asked, Native(), ScanState(), Limits(), 2)),
    ):
        with pytest.raises(NoFormulaError, match=r"the shortest has size 3: age >= \d+ and pay"):
            solve()


def test_a_portfolio_obeys_and_refuses_as_native_does(caplog: pytest.LogCaptureFixture) -> None:
    asked = problem(require=["age", "pay"], min_support=4)
    made = Portfolio(1)
    outcome = checked(asked, 4, made.solve(asked, 4, Incumbent(), Control()))
    assert outcome.errors == Native().solve(asked, 4, Incumbent(), Control()).errors
    with pytest.raises(NoFormulaError, match="the shortest has size 3"):
        made.solve(asked, 2, Incumbent(), Control())
    made.close()
    assert "failed" not in caplog.text


def test_an_interrupted_search_gives_a_formula_that_obeys() -> None:
    asked = problem(require=["age", "pay"], min_support=4)
    outcome = Native().solve(asked, 9, Incumbent(), Control(deadline=0.0))
    assert outcome.end is End.TIMEOUT
    assert asked.meets_constraints(outcome.formula)


def test_a_start_that_breaks_the_constraints_is_not_taken() -> None:
    asked = problem(require=["owns"])
    best = parse("age >= 36")
    start = Incumbent(best, asked.errors(best), 5)
    assert asked.meets_constraints(Native().solve(asked, 5, start, Control()).formula)


@pytest.mark.parametrize("solver", [Native, Portfolio, ClingoDl])
def test_a_table_without_any_value_to_speak_of_is_refused(solver: type[Any]) -> None:
    empty = Column("x", Kind.NUMERIC, np.array([np.nan, np.nan]))
    problem = Problem.build([empty], np.array([True, False]), Method.PIVOT)
    with pytest.raises(NoFormulaError, match="no column that may be used has a value"):
        solver(1).solve(problem, 3, Incumbent(), Control())
