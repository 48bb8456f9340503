"""The near-optimal set: complete, each formula once, against brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.truth_table import replaced
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.near_optimal.analysis import column_prices, free_ranges
from fsm_hpc.search.near_optimal.enumeration import NOTHING_YET, Progress, enumerate_families
from fsm_hpc.search.near_optimal.families import Family, Space
from fsm_hpc.search.near_optimal.rashomon import (
    RashomonSet,
    agreement_weights,
    difference_weights,
    near_optimal,
    slack_errors,
)
from fsm_hpc.search.objective import Objective, ObjectiveName
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from tests.support import all_good
from tests.support.brute_force import fewest_errors
from tests.support.random_tables import FORMULA_METHODS, random_problem, tiny_problem

TABLES_OF_A_DAY = 36  # the long form has 360


def good_set(problem: Problem, bound: int, slack: int, threads: int = 1) -> RashomonSet:
    optimum = Native(1).solve(problem, bound, Incumbent(), Control()).errors
    return near_optimal(problem, bound, optimum, slack, threads)


def key_of(good: RashomonSet, family: Family) -> all_good.Key:
    """The family as brute force names it: columns in order, and the table of its function."""
    names = tuple(sorted(family.columns))
    function = good.space.functions[family.raw.function].function
    table = []
    for index in range(1 << len(names)):
        places = [names.index(name) for name in family.columns]
        entry = sum((index >> place & 1) << v for v, place in enumerate(places))
        table.append(bool(function.table >> entry & 1))
    return names, tuple(table)


def ranges_of(family: Family) -> dict[str, list[tuple[float, float]]]:
    return {column: list(ends) for column, ends in family.thresholds.items()}


def expected_ranges(
    problem: Problem, members: all_good.Members
) -> dict[str, list[tuple[float, float]]]:
    numeric = {feature.column for feature in problem.numerics}
    ends = 2 if problem.method is Method.INTERVAL else 1
    return {
        column: [(min(values), max(values)) for values in both[:ends]]
        for column, both in members.ranges.items()
        if column in numeric
    }


def assert_equal_to_brute_force(problem: Problem, bound: int, slack: int) -> None:
    good = good_set(problem, bound, slack)
    assert good.optimum == fewest_errors(problem, bound)[-1]
    expected = all_good.near_optimal(problem, bound, slack)
    by_key = {key_of(good, family): family for family in good.families}
    assert good.is_complete
    assert len(by_key) == len(good.families), "a family was found twice"
    assert by_key.keys() == expected.keys()
    for key, family in by_key.items():
        members = expected[key]
        assert (family.size, family.errors, family.count) == (
            members.size,
            members.best,
            members.count,
        )
        assert ranges_of(family) == expected_ranges(problem, members)
        assert problem.errors(family.formula) == family.errors
    assert good.count == sum(members.count for members in expected.values())


def case(number: int) -> tuple[Problem, int, int]:
    """Methods, bounds 1 to 6 and slacks 0 to 3 in turn, a new table each time."""
    method = FORMULA_METHODS[number % 3]
    return tiny_problem(number, method), 1 + number // 3 % 6, number // 18 % 4


@pytest.mark.parametrize("first", range(0, TABLES_OF_A_DAY, 12))
def test_the_set_equals_brute_force(first: int) -> None:
    for number in range(first, first + 12):
        assert_equal_to_brute_force(*case(7 * number))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 360, 36))
def test_the_set_equals_brute_force_on_many_tables(first: int) -> None:
    for number in range(first, first + 36):
        assert_equal_to_brute_force(*case(number))


@settings(max_examples=15, deadline=None)
@given(st.integers(1000, 9000), st.sampled_from(FORMULA_METHODS), st.integers(0, 3))
def test_every_row_is_told_by_as_many_members_as_brute_force_counts(
    seed: int, method: Method, slack: int
) -> None:
    problem = tiny_problem(seed, method)
    good = good_set(problem, 4, slack)
    yes, count = all_good.votes(problem, 4, slack)
    assert (good.yes.tolist(), good.count) == (yes, count)


@settings(max_examples=10, deadline=None)
@given(st.integers(1000, 9000), st.sampled_from(FORMULA_METHODS), st.integers(0, 3))
def test_members_are_distinct_formulas_within_the_slack_as_many_as_counted(
    seed: int, method: Method, slack: int
) -> None:
    problem = tiny_problem(seed, method)
    good = good_set(problem, 5, slack)
    for family in good.families:
        members = list(good.members(family))
        assert len({str(formula) for formula, _ in members}) == family.count
        assert min(errors for _, errors in members) == family.errors
        for formula, errors in members:
            assert problem.errors(formula) == errors <= good.optimum + slack


@settings(max_examples=10, deadline=None)
@given(st.integers(1000, 9000), st.sampled_from(FORMULA_METHODS))
def test_the_consensus_and_the_most_different_member_are_those_of_all_members(
    seed: int, method: Method
) -> None:
    problem = tiny_problem(seed, method)
    good = good_set(problem, 4, 2)
    members = [formula for family in good.families for formula, _ in good.members(family)]
    if not members:
        return
    answers = {str(formula): formula.evaluate(problem.table) for formula in members}
    agreement = {
        text: sum(int((truth == other).sum()) for other in answers.values())
        for text, truth in answers.items()
    }
    assert agreement[chosen(good, agreement_weights(good))] == max(agreement.values())
    first = answers[str(members[0])]
    different = {text: int((truth != first).sum()) for text, truth in answers.items()}
    assert different[chosen(good, difference_weights(good, first))] == max(different.values())


def chosen(good: RashomonSet, weights: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    best = good.greatest(weights)
    assert best is not None
    return str(best[0])


def test_the_set_is_the_same_in_pieces_with_any_number_of_threads_and_small_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(np.random.default_rng(5), Method.PIVOT, 60, 3, 3, 15)
    whole = good_set(problem, 5, 4)
    space = Space(problem, 5)
    progress: Progress = NOTHING_YET
    pieces = 0
    while not progress.is_complete:
        pieces += 1
        progress = enumerate_families(
            space, whole.optimum + 4, 2, Control(), progress, most=len(progress.families) + 9
        )
        assert progress.is_full or progress.is_complete
    assert pieces > 1
    assert progress.families == whole.progress.families
    monkeypatch.setattr("fsm_hpc.search.near_optimal.family_search.CELLS_OF_A_ROW", 0)
    monkeypatch.setattr("fsm_hpc.search.near_optimal.family_search.FEWEST_CELLS", 7)
    tiled = good_set(problem, 5, 4)
    assert [f.count for f in tiled.families] == [f.count for f in whole.families]
    assert tiled.yes.tolist() == whole.yes.tolist()


def test_fixed_literals_have_the_same_set_in_pieces_with_two_threads_and_little_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(np.random.default_rng(6), Method.MEDIAN, 60, 3, 4, 15)
    whole = good_set(problem, 7, 6)
    space, pieces = Space(problem, 7), 0
    progress: Progress = NOTHING_YET
    monkeypatch.setattr("fsm_hpc.search.near_optimal.cell_families.BUFFER", 1)
    while not progress.is_complete:
        pieces += 1
        most = len(progress.families) + 40
        progress = enumerate_families(space, whole.optimum + 6, 2, Control(), progress, most=most)
    assert pieces > 1
    assert progress.families == whole.progress.families


@pytest.mark.parametrize("method", FORMULA_METHODS)
def test_the_best_formulas_are_found_first(method: Method) -> None:
    problem = random_problem(np.random.default_rng(6), method, 60, 3, 4, 15)
    best = good_set(problem, 5, 0)
    found = near_optimal(problem, 5, best.optimum, 9, most=len(best.families) - 1)
    assert not found.is_complete
    keys = {key_of(found, family) for family in found.families}
    assert {key_of(best, family) for family in best.families} <= keys


@pytest.mark.parametrize("method", FORMULA_METHODS)
def test_an_incomplete_set_has_final_families_up_to_the_errors_that_are_searched(
    method: Method,
) -> None:
    problem = random_problem(np.random.default_rng(6), method, 60, 3, 4, 15)
    best = good_set(problem, 5, 0)
    found = near_optimal(problem, 5, best.optimum, 9, most=len(best.families))
    assert not found.is_complete
    assert [f.formula for f in found.first_families] == [f.formula for f in best.families]
    assert best.first_families == best.families


def test_equal_columns_make_formulas_of_their_own() -> None:
    truth = np.array([True, True, False, False])
    twins = [Column(name, Kind.BOOLEAN, truth) for name in ("a", "b")]
    good = good_set(Problem.build(twins, truth, Method.PIVOT), 3, 0)
    assert {str(f.formula) for f in good.families} == {"a", "b", "a and b", "a or b"}


def test_a_slack_is_a_share_below_one_and_errors_from_there_on() -> None:
    assert [slack_errors(s, 300) for s in (0, 0.01, "0.29", 1, "2", 2.0)] == [0, 3, 87, 1, 2, 2]
    for wrong in (-1, 1.5, "much", "nan", "inf"):
        with pytest.raises(UserError, match="slack"):
            slack_errors(wrong, 300)


WEIGHTS = np.array([1.0, 2.0, 1.0, 3.0])
BEYOND = {
    "cuts": {"cuts": Cuts(CutRule.MIDPOINTS)},
    "language": {"language": Language.XOR},
    "objective": {"objective": Objective(ObjectiveName.BALANCED)},
    "weights": {"given": WEIGHTS},
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_the_set_is_not_defined_for_is_refused(name: str) -> None:
    labels = np.array([True, False, True, True])
    column = Column("x", Kind.NUMERIC, np.arange(4.0))
    problem = Problem.build([column], labels, Method.PIVOT, **BEYOND[name])  # type: ignore[arg-type]
    with pytest.raises(UserError, match=f"does not have the default {name}: fit it again"):
        near_optimal(problem, 3, 0, 1)


def test_kept_missing_values_are_refused() -> None:
    labels = np.array([True, False, True, False])
    column = Column("x", Kind.NUMERIC, np.array([1.0, 2.0, 3.0, np.nan]))
    with pytest.raises(UserError, match="missing values"):
        near_optimal(Problem.build([column], labels, Method.PIVOT), 3, 0, 1)


# ------------------------------------------------------------------------------- what it tells


@settings(max_examples=10, deadline=None)
@given(st.integers(1000, 9000), st.sampled_from(FORMULA_METHODS), st.integers(0, 2))
def test_the_price_of_a_column_is_the_optimum_without_it_minus_the_optimum(
    seed: int, method: Method, slack: int
) -> None:
    problem = tiny_problem(seed, method)
    good = good_set(problem, 4, slack)
    prices = list(column_prices(good, Native(1), Control()))
    assert {one.column for one in prices} == {c for f in good.families for c in f.columns}
    for one in prices:
        others = tuple(c for c in problem.columns if c.name != one.column)
        users = sum(one.column in family.columns for family in good.families)
        assert one.share == users / len(good.families)
        if others:
            assert (
                one.price == fewest_errors(replace(problem, columns=others), 4)[-1] - good.optimum
            )
        else:
            assert one.price is None


@settings(max_examples=10, deadline=None)
@given(st.integers(1000, 9000), st.sampled_from((Method.PIVOT, Method.INTERVAL)))
def test_a_cut_moves_freely_as_far_as_trying_every_value_says(seed: int, method: Method) -> None:
    problem = tiny_problem(seed, method)
    formula = Native(1).solve(problem, 4, Incumbent(), Control()).formula
    values = {feature.column: feature.thresholds.tolist() for feature in problem.numerics}
    free = {
        (one.column, one.end): (one.least, one.greatest) for one in free_ranges(problem, formula)
    }
    expected = {}
    for p in formula.propositions():
        for end in (
            () if p.column not in values else ("cut",) if not ends_of(p) else ("low", "high")
        ):
            name, here = ("low", p.low) if end != "high" else ("high", p.high)
            fine = [
                value == here
                or (
                    is_interval(replace(p, **{name: value}), end)
                    and problem.errors(replaced(formula, {p: replace(p, **{name: value})}.get))
                    <= problem.errors(formula)
                )
                for value in values[p.column]
            ]
            at = values[p.column].index(here)
            low = max((k + 1 for k in range(at) if not fine[k]), default=0)
            high = min((k - 1 for k in range(at, len(fine)) if not fine[k]), default=len(fine) - 1)
            expected[p.column, end] = (values[p.column][low], values[p.column][high])
    assert free == expected


def ends_of(p: Proposition) -> bool:
    return p.relation is Relation.WITHIN


def is_interval(p: Proposition, end: str) -> bool:
    return end == "cut" or p.low <= p.high
