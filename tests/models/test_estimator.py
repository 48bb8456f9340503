"""FormulaClassifier keeps scikit-learn's contract, and its own."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsm_hpc import FormulaClassifier, parse
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import fewest_errors
from tests.support.fakes import LadderSolver

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
    return FormulaClassifier(**{"solver": "native", "n_jobs": 1, **changes})


# The same estimator passes this check with a given length: see the tests below.
EXCUSED = {
    "check_class_weight_classifiers": (
        "class_weight={0: 1000, 1: 0.0001} expects class 0 in more than 87 % of predictions; the "
        "optimal formula predicts class 1 wherever no fitted row of class 0 is misclassified"
    ),
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [FormulaClassifier(n_jobs=1, time_limit_s=10)], expected_failed_checks=lambda _: EXCUSED
)
def test_it_passes_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(estimator) is None


def test_it_passes_the_check_of_class_weights_where_the_length_is_given() -> None:
    from sklearn.utils.estimator_checks import check_class_weight_classifiers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_class_weight_classifiers("FormulaClassifier", _classifier(length=1))


def test_a_weight_counts_like_as_many_rows() -> None:
    weights = RNG.integers(0, 4, ROWS)
    weighted = _classifier(length=5).fit(FRAME, TARGET, sample_weight=weights)
    repeated = np.repeat(np.arange(ROWS), weights)
    plain = _classifier(length=5).fit(FRAME.iloc[repeated], np.asarray(TARGET)[repeated])
    assert (weighted.formula_, weighted.errors_) == (plain.formula_, plain.errors_)
    assert weighted.measure_ == "weighted accuracy"


def test_weights_that_are_all_the_same_change_nothing() -> None:
    fitted = _classifier(length=3).fit(FRAME, TARGET, sample_weight=np.full(ROWS, 2.5))
    assert fitted.measure_ == "accuracy"


def test_balanced_classes_are_fitted_and_chosen_by_balanced_accuracy() -> None:
    from sklearn.metrics import balanced_accuracy_score

    rare = np.arange(ROWS) < 12
    fitted = _classifier(length=3, class_weight="balanced").fit(FRAME, rare)
    share = 1 - fitted.errors_ / (fitted.model_.weight or 0)
    assert share == pytest.approx(balanced_accuracy_score(rare, fitted.predict(FRAME)))
    assert fitted.measure_ == "balanced accuracy"


def test_rows_of_weight_zero_give_no_cut_and_no_category() -> None:
    weights = np.where(FRAME["colour"] == FRAME["colour"].iloc[0], 0.0, 1.0)
    fitted = _classifier(length=3).fit(FRAME, TARGET, sample_weight=weights)
    assert fitted.model_.rows == np.count_nonzero(weights)


@pytest.mark.parametrize("value", ["even", {0: -1.0, 1: 2.0}, 3])
def test_a_wrong_class_weight_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="class_weight: expected"):
        _classifier(class_weight=value).fit(FRAME, TARGET)


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
    assert fitted.scan_results_["length"].tolist() == list(range(1, len(fitted.scan_results_) + 1))
    assert fitted.length_ in fitted.scan_results_["length"].tolist()
    best = fitted.scan_results_["validation_accuracy"].max()
    chosen = fitted.scan_results_.set_index("length").loc[fitted.length_]
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
        ({"n_jobs": 0}, "n_jobs: expected None or a whole number other than 0, found 0"),
        ({"length": 2.5}, "length: expected None or at least 1, found 2.5"),
        ({"patience": 0}, "patience: expected at least 1, found 0"),
        ({"length": 0}, "length: expected None or at least 1, found 0"),
        ({"validation_fraction": 1.0}, "validation_fraction: expected between 0 and 1"),
        ({"validation_fraction": 0.999999}, "leaves one part empty"),
        ({"validation_fraction": float("nan")}, "validation_fraction: expected between 0 and 1"),
        ({"time_limit_s": float("nan")}, "time_limit_s: expected None or more than 0, found nan"),
        ({"time_limit_s": -1}, "time_limit_s: expected None or more than 0, found -1"),
        ({"time_limit_s": "60"}, "time_limit_s: expected None or more than 0, found '60'"),
        ({"cv": 0}, "cv: expected a number from 1, found 0"),
        ({"cv": None}, "cv: expected a number, a splitter or pairs, found None"),
        ({"cv": []}, "cv: expected at least one split, found none"),
        ({"language": "horn"}, "language: expected one of paper, xor, .*, found 'horn'"),
        ({"max_length": 0}, "max_length: expected None or at least 1, found 0"),
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


# ----------------------------------------------------------------------- splits, time, the rule


def test_splits_may_be_a_number_a_splitter_or_pairs() -> None:
    rows = np.arange(ROWS)
    pairs = [(rows[:60], rows[60:]), (rows[20:], rows[:20])]
    for splits in (3, ShuffleSplit(3, test_size=0.3, random_state=0), pairs):
        fitted = _classifier(cv=splits).fit(FRAME, TARGET)
        assert fitted.stop_reason_ in ("early_stopping", "plateau", "perfect", "max_length")
        assert not fitted.timed_out_


def test_a_spent_time_limit_is_told_and_the_best_so_far_is_kept() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 12))
    labels = (values[:, 0] * values[:, 1] + rng.normal(size=400)) > 0
    with pytest.warns(ConvergenceWarning, match="time_limit_s ended the proofs"):
        fitted = _classifier(time_limit_s=0.5, max_length=None, patience=99).fit(values, labels)
    assert fitted.timed_out_
    assert fitted.stop_reason_ == "timeout"
    assert fitted.predict(values).shape == (400,)


class _Interrupting(LadderSolver):
    """Raises Ctrl-C at its third call."""

    def solve(self, *args: Any) -> Any:
        if len(self.calls) == 2:
            self.calls.append((0, args[2]))
            raise KeyboardInterrupt
        return super().solve(*args)


def test_ctrl_c_keeps_the_best_so_far() -> None:
    with pytest.warns(
        ConvergenceWarning, match="Ctrl-C ended the search at length .* not all compared"
    ):
        fitted = _classifier(solver=_Interrupting()).fit(FRAME, TARGET)
    assert fitted.timed_out_
    assert fitted.predict(FRAME).shape == (ROWS,)


def test_a_rule_is_saved_and_loaded(tmp_path: Path) -> None:
    fitted = _classifier(length=3).fit(FRAME, TARGET)
    fitted.save(tmp_path / "model.json")
    again = FormulaClassifier.load(tmp_path / "model.json")
    assert again.formula_ == fitted.formula_
    assert again.predict(FRAME).tolist() == fitted.predict(FRAME).tolist()
    assert again.predict_proba(FRAME).tolist() == fitted.predict_proba(FRAME).tolist()
    assert again.to_sql() == fitted.to_sql()


def test_a_fitted_rule_shows_its_card_and_its_text() -> None:
    fitted = _classifier(length=3).fit(FRAME, TARGET)
    assert 'class="fsm-card"' in fitted._repr_html_()
    assert str(fitted.formula_) in fitted.export_text()
    assert "fsm-card" not in _classifier()._repr_html_()


@pytest.mark.parametrize(
    ("column", "values"),
    [("member", ["True", "False"]), ("member", [1, 0]), ("member", [1.0, 0.0])],
)
def test_another_dtype_that_means_the_same_is_read_alike(column: str, values: list[Any]) -> None:
    target = FRAME["member"].to_numpy()
    fitted = _classifier(length=1).fit(FRAME[["member"]], target)
    other = pd.DataFrame({column: np.where(target, values[0], values[1])})
    assert fitted.predict(other).tolist() == target.tolist()


def test_a_category_that_is_a_number_is_known_as_a_float_too() -> None:
    codes = pd.Series(["1", "2", "3"] * 20)
    fitted = _classifier(length=1).fit(pd.DataFrame({"code": codes}), codes == "2")
    numbers = pd.DataFrame({"code": codes.astype(float)})
    assert fitted.predict(numbers).tolist() == (codes == "2").tolist()


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (["perhaps", "no"], "column 'member': expected true or false, found 'perhaps'"),
        ([1 + 2j, 0j], "column 'member'"),
        ([2, 0], "column 'member': expected true or false, found '2'"),
    ],
)
def test_what_cannot_be_read_as_it_was_fitted_is_refused(values: list[Any], complaint: str) -> None:
    target = FRAME["member"].to_numpy()
    fitted = _classifier(length=1).fit(FRAME[["member"]], target)
    with pytest.raises(ValueError, match=complaint):
        fitted.predict(pd.DataFrame({"member": values * 3}))


def test_dates_and_ids_are_refused_as_in_a_file() -> None:
    days = pd.DataFrame({"day": [f"2026-01-{day:02}" for day in range(1, 29)]})
    with pytest.raises(ValueError, match="dates"):
        _classifier().fit(days, [0, 1] * 14)
    ids = pd.DataFrame({"name": [f"person {number} x" for number in range(200)]})
    with pytest.raises(ValueError, match="an id or free text"):
        _classifier().fit(ids, [0, 1] * 100)


def test_a_loaded_rule_finds_its_column_by_name_or_by_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    labels = frame["c"] >= 0
    for values in (frame, frame.to_numpy(), frame.set_axis(["0", "1", "2", "3"], axis=1)):
        _classifier(length=1).fit(values, labels).save(tmp_path / "model.json")
        again = FormulaClassifier.load(tmp_path / "model.json")
        assert again.predict(values).tolist() == labels.tolist()
        assert again.predict(frame.to_numpy()).tolist() == labels.tolist()
    with pytest.raises(ValueError, match="expected a column 'c', found: a, b, d"):
        FormulaClassifier.load(_saved(frame, labels, tmp_path)).predict(frame.drop(columns="c"))


def test_a_loaded_rule_needs_only_its_own_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    again = FormulaClassifier.load(_saved(frame, frame["c"] >= 0, tmp_path))
    assert again.predict(frame).tolist() == again.predict(frame[["c"]]).tolist()


def _saved(frame: pd.DataFrame, labels: Any, folder: Path) -> Path:
    _classifier(length=1).fit(frame, labels).save(folder / "model.json")
    return folder / "model.json"


def test_columns_called_like_places_are_found_in_an_array_too() -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x1", "x2", "x3"])
    fitted = _classifier(length=1).fit(frame, frame["x2"] >= 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fitted.predict(frame.to_numpy()).tolist() == (frame["x2"] >= 0).tolist()


def test_a_length_of_numpy_can_be_saved(tmp_path: Path) -> None:
    fitted = _classifier(length=np.int64(1)).fit(FRAME, TARGET)
    fitted.save(tmp_path / "model.json")
    assert FormulaClassifier.load(tmp_path / "model.json").length_ == 1


def test_infinity_in_a_frame_is_refused() -> None:
    frame = pd.DataFrame({"a": [1.0, np.inf, 2.0, 3.0] * 4})
    with pytest.raises(ValueError, match="column 'a': expected finite numbers, found 'inf'"):
        _classifier(length=1).fit(frame, [0, 1] * 8)


def test_a_target_in_a_frame_is_taken_by_any_name() -> None:
    labels = pd.DataFrame({"name": TARGET})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _classifier(length=1).fit(FRAME, labels).model_.target == "y"
    assert (
        _classifier(length=1).fit(FRAME, pd.Series(TARGET, name="bought")).model_.target == "bought"
    )


def test_a_notebook_shows_the_card() -> None:
    fitted = _classifier(length=1).fit(FRAME, TARGET)
    assert "fsm-card" in fitted._repr_mimebundle_()["text/html"]


# ------------------------------------------------------------------------------------------ cuts


def _minutes() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    values = [410, 493, 502, 511, 767, 768, 771]
    return pd.DataFrame({"minutes": values}), np.array([0, 0, 0, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("parameters", "formula"),
    [
        ({}, "minutes >= 511"),
        ({"cuts": "midpoints"}, "minutes >= 506.5"),
        ({"cuts": "rounded"}, "minutes >= 510"),
        ({"cuts": "rounded", "rounding_tolerance": 1}, "minutes >= 500"),
        ({"cuts": {"minutes": [505, 600]}}, "minutes >= 505"),
        ({"cuts": "quantiles", "n_quantiles": 1}, "minutes >= 511"),
    ],
)
def test_cuts_follow_the_rule(parameters: dict[str, Any], formula: str) -> None:
    table, y = _minutes()
    fitted = FormulaClassifier(length=1, solver="native", **parameters).fit(table, y)
    assert str(fitted.formula_) == formula
    assert fitted.errors_ == int((fitted.predict(table) != y).sum())


def test_rounding_with_slack_states_the_proved_formula_too(tmp_path: Path) -> None:
    table, y = _minutes()
    fitted = FormulaClassifier(length=1, solver="native", cuts="rounded", rounding_tolerance=1).fit(
        table, y
    )
    assert fitted.rules_[0].before_rounding == {"formula": "minutes >= 510", "errors": 1}
    assert (fitted.errors_, fitted.proved_) == (2, True)
    assert "with 1 error as minutes >= 510" in fitted.export_text()
    fitted.save(tmp_path / "model.json")
    assert FormulaClassifier.load(tmp_path / "model.json").model_ == fitted.model_


@pytest.mark.parametrize("cuts", ["given", "middle", 3, {"minutes": []}, {"hours": [1]}])
def test_cuts_that_are_none_are_refused(cuts: Any) -> None:
    table, y = _minutes()
    with pytest.raises(ValueError, match="cuts"):
        FormulaClassifier(cuts=cuts).fit(table, y)


def test_the_language_reaches_every_split_and_a_loaded_rule(tmp_path: Path) -> None:
    x = np.random.default_rng(2).integers(0, 9, (60, 2)).astype(float)
    fitted = FormulaClassifier(language="xor", solver="native", cv=2, max_length=4, n_jobs=1)
    fitted.fit(x, (x[:, 0] >= 4) != (x[:, 1] >= 5))
    assert (fitted.errors_, fitted.size_) == (0, 3)
    assert all(Language.XOR.has(parse(text)) for text in fitted.scan_results_["formula"])
    fitted.save(tmp_path / "model.json")
    loaded = FormulaClassifier.load(tmp_path / "model.json")
    assert loaded.get_params()["language"] == "xor"
    assert loaded.formula_ == fitted.formula_
