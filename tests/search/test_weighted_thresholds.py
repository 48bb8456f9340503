"""A weight of 2 is two rows, for thresholds as for errors; classes and costs move none."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.median import median, quantiles
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.cuts import CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.rounding import within_slack, written
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.weights import row_counts
from tests.support.tables import own_table

RULES: list[dict[str, Any]] = [
    {"cuts": "observed"},
    {"cuts": "midpoints"},
    {"cuts": "quantiles", "n_quantiles": 3},
    {"cuts": "quantiles", "n_quantiles": 10},
    {"cuts": "rounded"},
    {"cuts": "rounded", "rounding_tolerance": 2},
    {"cuts": {"x": [2.5, 7]}},
]
METHODS = ["median", "pivot", "interval"]


def _table(seed: int, rows: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.integers(0, 10, rows) + 0.5, rng.integers(0, 4, rows)])
    y = rng.permutation([0, 1] * (rows // 2))
    return x, y, rng.integers(1, 4, rows).astype(float)


def _fit(x: Any, y: Any, weights: Any = None, **parameters: Any) -> FormulaClassifier:
    columns = {"x0": [2.5, 7]} if isinstance(parameters["cuts"], dict) else parameters["cuts"]
    wanted = {"length": 3, "solver": "native", "n_jobs": 1, **parameters, "cuts": columns}
    return FormulaClassifier(**wanted).fit(x, y, weights)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_weights_equal_repeated_rows(method: str, rule: dict[str, Any], seed: int) -> None:
    x, y, weights = _table(seed)
    times = weights.astype(int)
    weighted = _fit(x, y, weights, method=method, **rule)
    repeated = _fit(np.repeat(x, times, axis=0), np.repeat(y, times), method=method, **rule)
    assert str(weighted.formula_) == str(repeated.formula_)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_two_for_every_row_equals_the_table_twice(method: str, rule: dict[str, Any]) -> None:
    x, y, _ = _table(5)
    weighted = _fit(x, y, np.full(len(y), 2.0), method=method, **rule)
    repeated = _fit(np.repeat(x, 2, axis=0), np.repeat(y, 2), method=method, **rule)
    assert str(weighted.formula_) == str(repeated.formula_)


def _best(path: Path, text: str, method: Method, cuts: Cuts, **spec: Any) -> Formula:
    table = own_table(path, text, **spec)
    problem = Problem.build(table.columns, table.labels, method, cuts=cuts, given=table.weights)
    outcome = Native(threads=1).solve(problem, 3, Incumbent(), Control())
    assert outcome.formula is not None
    return within_slack(problem, written(problem, outcome.formula))


@pytest.mark.parametrize("method", [Method(name) for name in METHODS])
@pytest.mark.parametrize(
    "cuts",
    [
        Cuts(),
        Cuts(CutRule.MIDPOINTS),
        Cuts(CutRule.QUANTILES, n=3),
        Cuts(CutRule.ROUNDED, slack=2),
        Cuts.of_lists({"x": [2.5, 7]}),
    ],
    ids=lambda cuts: cuts.rule.value,
)
def test_a_column_of_weights_equals_repeated_lines(
    tmp_path: Path, method: Method, cuts: Cuts
) -> None:
    x, y, weights = _table(7)
    lines = [f"{a},{b},{label}" for (a, b), label in zip(x.tolist(), y.tolist(), strict=True)]
    heavy = [f"{line},{weight:g}\n" for line, weight in zip(lines, weights, strict=True)]
    often = [f"{line}\n" * int(weight) for line, weight in zip(lines, weights, strict=True)]
    weighted = _best(tmp_path, "x,z,y,w\n" + "".join(heavy), method, cuts, weight="w")
    assert str(weighted) == str(_best(tmp_path, "x,z,y\n" + "".join(often), method, cuts))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("rule", [{"method": "median", "cuts": "observed"}, RULES[2]], ids=str)
def test_weights_of_classes_move_no_threshold(rule: dict[str, Any], several: bool) -> None:
    x, y, _ = _table(3)
    y = np.where(x[:, 1] > 2, 2, y) if several else y
    heavy = {label: 1.0 + 6 * label for label in np.unique(y).tolist()}
    plain, weighted = (_fit(x, y, class_weight=w, **rule) for w in (None, heavy))
    assert _thresholds(weighted) <= _allowed(plain, x, rule)
    balanced = _fit(x, y, class_weight="balanced", **rule)
    assert _thresholds(balanced) <= _allowed(plain, x, rule)


def _thresholds(rule: FormulaClassifier) -> set[tuple[str, str]]:
    formulas = [one.formula for one in rule.rules_]
    found = (p for formula in formulas for p in formula.propositions())
    return {(p.column, p.thresholds[0]) for p in found}


def _allowed(plain: FormulaClassifier, x: np.ndarray, rule: dict[str, Any]) -> set[tuple[str, str]]:
    """All thresholds that the rows have without weights."""
    columns = [Column(f"x{at}", Kind.NUMERIC, x[:, at]) for at in range(x.shape[1])]
    labels = np.arange(len(x)) % 2 == 0
    cuts = Cuts(CutRule.QUANTILES, n=3) if rule["cuts"] == "quantiles" else Cuts()
    problem = Problem.build(columns, labels, Method(rule.get("method", "pivot")), cuts=cuts)
    chosen = [feature.proposition for feature in problem.booleans]
    chosen += [f.proposition(at) for f in problem.numerics for at in range(len(f.thresholds))]
    return {(p.column, p.thresholds[0]) for p in chosen}


# --------------------------------------------------------------------------------- exactness


@settings(max_examples=200, deadline=None)
@given(rows=st.integers(1, 500), n=st.integers(1, 30))
def test_quantiles_are_those_of_whole_numbers(rows: int, n: int) -> None:
    places = [math.ceil(Fraction(k * rows, n + 1)) - 1 for k in range(1, n + 1)]
    values = np.random.default_rng(rows).permutation(rows)
    assert quantiles(values, n).tolist() == places


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 5)), min_size=1, max_size=12),
    power=st.integers(-80, 80),
)
def test_counted_rows_equal_repeated_rows_at_any_scale(
    rows: list[tuple[int, int]], power: int
) -> None:
    values, times = (np.array(part) for part in zip(*rows, strict=True))
    repeated = np.repeat(values, times)
    counts = row_counts(times * 2.0**power).counts
    assert quantiles(values, 7, counts).tolist() == quantiles(repeated, 7).tolist()
    assert median(values, counts) == median(repeated)


def test_tenths_are_counted_as_tenths() -> None:
    counts = row_counts(np.array([0.1, 0.2, 0.3]))
    assert (counts.counts.tolist(), counts.one) == ([1, 2, 3], 10)


def test_weights_of_any_range_are_counted_exactly() -> None:
    weights = np.array([*(1 / n for n in range(1, 5000)), 1e300, 1e-300])
    counts = row_counts(weights)
    found = [Fraction(int(count), counts.one) for count in counts.counts[-2:]]
    assert found == [Fraction(1e300), Fraction(1e-300)]


@pytest.mark.parametrize("largest", [1.7e308, -1.7e308, 9.9e307])
def test_rounding_stays_among_finite_numbers(largest: float) -> None:
    x = np.array([[0.0], [1.0], [largest], [largest], [2.0], [3.0]])
    y = [0, 0, 1, 1, 0, 1] if largest > 0 else [1, 1, 0, 0, 1, 0]
    for method in ("pivot", "interval"):
        rule = _fit(x, y, method=method, cuts="rounded", rounding_tolerance=6)
        assert "inf" not in str(rule.formula_)
        assert all(math.isfinite(p.low + p.high) for p in rule.formula_.propositions())


def test_a_fingerprint_knows_the_weights_that_move_a_median() -> None:
    x, y, weights = _table(1)
    columns = [Column("x", Kind.NUMERIC, x[:, 0])]
    problem = Problem.build(columns, y == 1, Method.MEDIAN, given=weights)
    assert problem.fingerprint != replace(problem, sample=None).fingerprint
