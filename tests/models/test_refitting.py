"""A second fit, a failed fit, probabilities under class weights, and rules of one answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from fsm_hpc import FormulaClassifier

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({"age": RNG.integers(18, 70, 60), "job": RNG.choice(["a", "b", "c"], 60)})
TWO = np.where(FRAME["age"] >= 40, "yes", "no")
THREE = FRAME["job"].to_numpy()
ARRAY = RNG.integers(0, 9, (60, 3)).astype(float)
GAPS = FRAME.assign(age=FRAME["age"].where(FRAME["age"] < 60))


def _classifier(**changes: Any) -> FormulaClassifier:
    return FormulaClassifier(**{"solver": "native", "n_jobs": 1, "length": 1, **changes})


FITS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "two classes": (FRAME, TWO, {}),
    "three classes": (FRAME, THREE, {}),
    "an array": (ARRAY, TWO, {}),
    "kept missing values": (GAPS, TWO, {"missing": "keep"}),
    "a chosen length": (FRAME, TWO, {"length": None, "max_length": 2}),
}


@pytest.mark.parametrize("second", FITS)
@pytest.mark.parametrize("first", FITS)
def test_a_second_fit_leaves_nothing_of_the_first(first: str, second: str) -> None:
    X, y, changes = FITS[first]
    both = _classifier(**changes).fit(X, y)
    X, y, changes = FITS[second]
    both.set_params(**{"missing": "error", "length": 1, "max_length": 10, **changes}).fit(X, y)
    alone = _classifier(**changes).fit(X, y)
    assert vars(both).keys() == vars(alone).keys()
    assert both.predict(X).tolist() == alone.predict(X).tolist()
    assert both.to_sql() == alone.to_sql()


FAILURES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one class": (FRAME, np.full(60, "yes"), {}),
    "three classes with a missing value": (GAPS, THREE, {}),
    "a missing value": (GAPS, TWO, {}),
    "a parameter": (FRAME, TWO, {"length": -1}),
    "a column that is required and not there": (FRAME, TWO, {"require": ["height"]}),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("is_second", [True, False])
def test_a_failed_fit_leaves_an_unfitted_classifier(failure: str, is_second: bool) -> None:
    made = _classifier()
    if is_second:
        made.fit(FRAME, TWO)
    X, y, changes = FAILURES[failure]
    with pytest.raises(ValueError, match=r"expected|no column is called"):
        made.set_params(**changes).fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(made)
    with pytest.raises(NotFittedError):
        made.predict(FRAME)


def test_a_refit_keeps_parameters_and_metadata_requests() -> None:
    made = _classifier().set_params(min_support=2)
    known = made.get_params()
    made._metadata_request = object()  # as set_fit_request leaves it
    made.fit(FRAME, TWO).fit(FRAME, TWO)
    assert made.get_params() == known
    assert hasattr(made, "_metadata_request")


VALUES = np.array([[1.0]] * 10 + [[0.0]] * 10)
RARE = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, *[0] * 10])


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 20}, {0: 2, 1: 2}])
def test_probabilities_are_observed_shares_whatever_classes_weigh(class_weight: Any) -> None:
    made = _classifier(class_weight=class_weight).fit(VALUES, RARE)
    assert str(made.formula_) == "x0 >= 1"
    assert made.predict_proba([[1.0], [0.0]]).tolist() == [[0.7, 0.3], [1.0, 0.0]]


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 20}])
def test_probabilities_count_sample_weights_and_no_class_weights(class_weight: Any) -> None:
    weights = np.array([2.0, *[1.0] * 19])
    made = _classifier(class_weight=class_weight).fit(VALUES, RARE, weights)
    expected = np.array([[7 / 11, 4 / 11], [1.0, 0.0]])
    assert np.allclose(made.predict_proba([[1.0], [0.0]]), expected)


def test_a_rule_that_holds_on_no_fitted_row_is_told_with_a_warning() -> None:
    values = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]] * 5)
    labels = np.array([0, 0, 0, 1] * 5) & (np.arange(20) > 18)
    frame = pd.DataFrame(values.astype(bool), columns=["a", "b"])
    with pytest.warns(UserWarning, match="it predicts y = 0 on each of its rows: no formula"):
        made = _classifier(length=4).fit(frame, labels)
    assert not made.predict(frame).any()
    assert "on each of its rows" in str(made.model_.notes[-1])


def test_a_rule_that_holds_on_every_fitted_row_is_told_with_a_warning() -> None:
    frame = pd.DataFrame({"a": [True] * 9 + [False]})
    frame["b"] = ~frame["a"]
    labels = np.array(["yes"] * 8 + ["no", "yes"])
    with pytest.warns(UserWarning, match="it predicts y = yes on each of its rows"):
        made = _classifier(length=3).fit(frame, labels)
    assert made.predict(frame).tolist() == ["yes"] * 10


def test_a_warning_about_one_of_several_classes_names_it() -> None:
    frame = pd.DataFrame({"a": [True, False] * 10})
    frame["b"] = ~frame["a"]
    labels = pd.Series([*["u", "v"] * 9, "w", "v"], name="kind")
    with pytest.warns(UserWarning, match="w: it predicts kind = not w on each of its rows"):
        _classifier(length=3).fit(frame, labels)
