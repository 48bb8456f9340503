"""FormulaClassifier keeps scikit-learn's contract, and its own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsm_hpc import FormulaClassifier, parse
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import fewest_errors

RNG = np.random.default_rng(5)
ROWS = 80
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 70, ROWS),
        "income": RNG.normal(size=ROWS).round(2),
        "member": RNG.random(ROWS) < 0.5,
        "colour": RNG.choice(["red", "green", "blue"], ROWS),
    }
)
TARGET = np.where((FRAME["age"] >= 40) | (FRAME["colour"] == "red"), "yes", "no")


def _classifier(**changes: Any) -> FormulaClassifier:
    return FormulaClassifier(**{"solver": "native", "threads": 1, **changes})


@parametrize_with_checks([FormulaClassifier(threads=1, time_limit_s=10)])  # type: ignore[untyped-decorator]
def test_it_passes_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(estimator) is None


def test_a_rule_in_a_frame_is_found_and_printed() -> None:
    fitted = _classifier(length=3).fit(FRAME, TARGET)
    assert str(fitted.formula_) == "colour_red or age >= 40" or fitted.errors_ == 0
    assert fitted.proved_
    assert (fitted.size_, fitted.errors_, fitted.length_) == (3, 0, 3)
    assert fitted.score(FRAME, TARGET) == 1.0
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_.tolist() == list(FRAME.columns)


def test_the_scan_chooses_a_length_and_keeps_its_path() -> None:
    fitted = _classifier().fit(FRAME, TARGET)
    assert fitted.path_["length"].tolist() == list(range(1, len(fitted.path_) + 1))
    assert fitted.length_ in fitted.path_["length"].tolist()
    assert fitted.path_["errors"].is_monotonic_decreasing
    best = fitted.path_["validation_accuracy"].max()
    chosen = fitted.path_.set_index("length").loc[fitted.length_]
    assert chosen["validation_accuracy"] == best
    assert parse(str(chosen["formula"])).size == chosen["size"]


@pytest.mark.parametrize("method", ["median", "pivot", "interval"])
def test_a_given_length_is_fitted_to_the_optimum_on_all_rows(method: str) -> None:
    rng = np.random.default_rng(11)
    values = rng.integers(0, 4, (9, 2)).astype(float)
    labels = rng.random(9) < 0.5
    columns = [Column(f"x{i}", Kind.NUMERIC, values[:, i]) for i in range(2)]
    best = fewest_errors(Problem.build(columns, labels, Method(method)), 4)
    for length in range(1, 5):
        fitted = _classifier(method=method, length=length).fit(values, labels)
        assert fitted.errors_ == best[length - 1]
        assert fitted.proved_


def test_probabilities_are_shares_of_the_fitted_rows() -> None:
    labels = np.array([1, 1, 1, 0, 0, 0, 0, 1])
    values = np.array([[1], [1], [1], [1], [0], [0], [0], [0]], dtype=float)
    fitted = _classifier(length=1).fit(values, labels)
    assert fitted.predict_proba([[1.0], [0.0]]).tolist() == [[0.25, 0.75], [0.75, 0.25]]


def test_an_unseen_category_holds_nowhere() -> None:
    fitted = _classifier(length=3).fit(FRAME, TARGET)
    assert fitted.predict(FRAME.assign(colour="mauve", age=18)).tolist() == ["no"] * ROWS


def test_a_category_and_a_column_of_one_name_are_refused() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 4, "a_x": [True, False, False, True] * 2})
    with pytest.raises(ValueError, match="two columns or categories are called 'a_x'"):
        _classifier(length=1).fit(frame, [0, 1] * 4)


def test_missing_values_are_refused_with_the_column() -> None:
    holes = FRAME.assign(colour=FRAME["colour"].where(FRAME.index > 0))
    with pytest.raises(ValueError, match="NaN in column 'colour'"):
        _classifier().fit(holes, TARGET)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"method": "mean"}, "method: expected one of median, pivot, interval, found 'mean'"),
        (
            {"solver": "nope"},
            "solver: expected one of clingo_dl, native, portfolio, found 'nope'",
        ),
        ({"solver": None}, "solver: expected one of clingo_dl, native, portfolio, found None"),
        ({"threads": -1}, "threads: expected None or at least 1, found -1"),
        ({"length": 2.5}, "length: expected None or at least 1, found 2.5"),
        ({"patience": 0}, "patience: expected at least 1, found 0"),
        ({"length": 0}, "length: expected None or at least 1, found 0"),
        ({"validation_fraction": 1.0}, "validation_fraction: expected between 0 and 1"),
    ],
)
def test_wrong_parameters_are_told(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        _classifier(**changes).fit(FRAME, TARGET)


def test_it_works_in_cross_validation_and_can_be_cloned() -> None:
    scores = cross_val_score(clone(_classifier(length=3)), FRAME, TARGET, cv=3)
    assert np.mean(scores) > 0.9


def test_the_same_random_state_gives_the_same_formula() -> None:
    first, second = (_classifier(random_state=3).fit(FRAME, TARGET) for _ in range(2))
    assert first.formula_ == second.formula_
