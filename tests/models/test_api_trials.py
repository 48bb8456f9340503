"""FormulaClassifier as users of scikit-learn meet it: 40 trials of common uses."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import fsm_hpc
from fsm_hpc import FormulaClassifier, Rule, UserError, explain_model, parse
from fsm_hpc.formulas import parser
from fsm_hpc.models import black_box, estimator, fitted

RNG = np.random.default_rng(7)
ROWS = 150
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, ROWS),
        "income": RNG.normal(30, 9, ROWS).round(1),
        "job": RNG.choice(["cook", "clerk", "smith"], ROWS),
        "member": RNG.random(ROWS) < 0.5,
    }
)
TWO = np.where((FRAME["age"] >= 50) | (FRAME["job"] == "cook"), "yes", "no")
THREE = np.where(FRAME["age"] >= 60, "old", np.where(FRAME["age"] >= 35, "mid", "young"))
NUMBERS = FRAME[["age", "income"]].to_numpy(dtype=float)
BINARY = (FRAME["age"] >= 50).to_numpy().astype(int)


def quick(**changes: Any) -> FormulaClassifier:
    return FormulaClassifier(**{"solver": "native", "length": 3, "n_jobs": 1, **changes})


@pytest.fixture(scope="module")
def two() -> FormulaClassifier:
    return quick().fit(FRAME, pd.Series(TWO, name="bought"))


@pytest.fixture(scope="module")
def three() -> FormulaClassifier:
    return quick().fit(FRAME, pd.Series(THREE, name="group"))


FITTED = pytest.mark.parametrize("name", ["two", "three"])


# ------------------------------------------------------------------------ parameters and copies


def test_01_a_clone_has_the_same_parameters_and_is_not_fitted(two: FormulaClassifier) -> None:
    copied = clone(two)
    assert copied.get_params() == two.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(FRAME)


def test_02_parameters_are_set_and_shown() -> None:
    changed = quick().set_params(method="interval", patience=2)
    assert repr(changed).startswith("FormulaClassifier(length=3, method='interval'")
    assert is_classifier(changed)


@pytest.mark.parametrize("name", ["threads", "splits", "plateau", "cuts_n", "cuts_slack"])
def test_03_parameters_of_version_0_2_are_gone(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        FormulaClassifier(**{name: 1})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Invalid parameter"):
        FormulaClassifier().set_params(**{name: 1})


@FITTED
def test_04_a_pickle_predicts_alike_and_has_no_rows(
    name: str, request: pytest.FixtureRequest
) -> None:
    fitted = request.getfixturevalue(name)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(FRAME).tolist() == fitted.predict(FRAME).tolist()
    assert again._result.problems == {}
    assert len(pickle.dumps(fitted)) < 20_000


def test_05_joblib_and_deep_copies_work(two: FormulaClassifier, tmp_path: Path) -> None:
    joblib.dump(two, tmp_path / "rule.joblib")
    loaded = joblib.load(tmp_path / "rule.joblib")
    assert loaded.model_ == two.model_ == copy.deepcopy(two).model_


def test_06_a_refit_replaces_everything() -> None:
    classifier = quick().fit(FRAME, THREE)
    classifier.fit(FRAME[["age"]], TWO)
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.feature_names_in_.tolist() == ["age"]
    assert len(classifier.rules_) == 1
    classifier.fit(NUMBERS, BINARY)
    assert not hasattr(classifier, "feature_names_in_")


# --------------------------------------------------------------------- composition with sklearn


def test_07_a_pipeline_with_scaled_columns() -> None:
    model = make_pipeline(StandardScaler(), quick()).fit(NUMBERS, BINARY)
    assert model.score(NUMBERS, BINARY) == 1.0


def test_08_a_column_transformer_names_its_columns_in_the_rule() -> None:
    encoder = OneHotEncoder(sparse_output=False)
    columns = [("job", encoder, ["job"]), ("rest", "passthrough", ["age"])]
    table = ColumnTransformer(columns, verbose_feature_names_out=False)
    table.set_output(transform="pandas")
    model = Pipeline([("columns", table), ("rule", quick())]).fit(FRAME, TWO)
    used = {p.column for p in model["rule"].formula_.propositions()}
    assert used == {"age", "job_cook"}


def test_09_binned_columns_are_thresholds() -> None:
    bins = KBinsDiscretizer(
        5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    assert make_pipeline(bins, quick()).fit(NUMBERS, BINARY).score(NUMBERS, BINARY) > 0.8


def test_10_grid_search_over_the_length() -> None:
    search = GridSearchCV(quick(), {"length": [1, 3]}, cv=3).fit(FRAME, TWO)
    assert search.best_params_ == {"length": 3}
    assert search.best_estimator_.score(FRAME, TWO) == 1.0


def test_11_a_random_search_with_jobs() -> None:
    space = {"method": ["pivot", "median"], "length": [1, 2]}
    search = RandomizedSearchCV(quick(), space, n_iter=2, cv=2, n_jobs=1, random_state=0)
    assert search.fit(FRAME, TWO).best_score_ > 0.5


def test_12_cross_validation_of_several_metrics() -> None:
    found = cross_validate(quick(), FRAME, TWO, cv=3, scoring=["accuracy", "balanced_accuracy"])
    assert found["test_accuracy"].mean() > 0.9


def test_13_cross_validated_probabilities() -> None:
    shares = cross_val_predict(quick(), FRAME, TWO, cv=3, method="predict_proba")
    assert np.allclose(shares.sum(axis=1), 1)


def test_14_cross_validated_decisions() -> None:
    scores = cross_val_predict(quick(), FRAME, TWO, cv=3, method="decision_function")
    assert roc_auc_score(TWO == "yes", scores) > 0.9


def test_15_a_learning_curve() -> None:
    _, _, scores = learning_curve(quick(), NUMBERS, BINARY, cv=3, train_sizes=[0.5, 1.0])
    assert scores.shape == (2, 3)


def test_16_calibration() -> None:
    calibrated = CalibratedClassifierCV(quick(), cv=3).fit(NUMBERS, BINARY)
    assert calibrated.predict_proba(NUMBERS).shape == (ROWS, 2)


def test_17_stacking_on_top_of_it() -> None:
    parts = [("rule", quick()), ("linear", LogisticRegression())]
    assert StackingClassifier(parts, cv=3).fit(NUMBERS, BINARY).score(NUMBERS, BINARY) > 0.9


def test_18_soft_voting() -> None:
    parts = [("rule", quick()), ("linear", LogisticRegression())]
    voting = VotingClassifier(parts, voting="soft").fit(NUMBERS, BINARY)
    assert voting.score(NUMBERS, BINARY) > 0.9


def test_19_bagging() -> None:
    bagging = BaggingClassifier(quick(), n_estimators=3, random_state=0).fit(NUMBERS, BINARY)
    assert bagging.score(NUMBERS, BINARY) > 0.9


def test_20_one_against_the_rest_by_scikit_learn() -> None:
    model = OneVsRestClassifier(quick()).fit(NUMBERS, THREE)
    assert model.score(NUMBERS, THREE) > 0.8


def test_21_permutation_importance_finds_the_columns_of_the_rule(two: FormulaClassifier) -> None:
    found = permutation_importance(two, FRAME, TWO, n_repeats=3, random_state=0)
    important = {FRAME.columns[at] for at in np.flatnonzero(found.importances_mean > 0)}
    assert important == {"age", "job"}


def test_22_scorers_take_it(two: FormulaClassifier) -> None:
    assert get_scorer("neg_log_loss")(two, FRAME, TWO) <= 0
    assert get_scorer("roc_auc")(two, FRAME, TWO) == 1.0


# ------------------------------------------------------------------------------ kinds of tables


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_23_other_tables_give_the_same_rule(kind: Any, two: FormulaClassifier) -> None:
    table = kind(FRAME)
    fitted = quick().fit(table, TWO)
    assert fitted.formula_ == two.formula_
    assert fitted.feature_names_in_.tolist() == list(FRAME.columns)
    assert fitted.predict(table).tolist() == two.predict(FRAME).tolist()
    assert two.predict(table).tolist() == two.predict(FRAME).tolist()


def test_24_a_polars_series_is_a_target() -> None:
    fitted = quick().fit(pl.from_pandas(FRAME), pl.Series("bought", TWO))
    assert fitted.model_.target == "bought"


def test_25_sparse_input_is_refused_as_scikit_learn_does(two: FormulaClassifier) -> None:
    for call in (lambda X: quick().fit(X, BINARY), quick().fit(NUMBERS, BINARY).predict):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            call(sparse.csr_matrix(NUMBERS))


@pytest.mark.parametrize(
    "types",
    [
        {"age": "Int64", "income": "Float64", "member": "boolean", "job": "string"},
        {"age": "int64[pyarrow]", "member": "bool[pyarrow]", "job": "string[pyarrow]"},
        {"job": "category", "age": "float32"},
    ],
)
def test_26_nullable_and_arrow_types_give_the_same_rule(
    types: dict[str, Any], two: FormulaClassifier
) -> None:
    table = FRAME.astype(types)
    assert str(quick().fit(table, TWO).formula_) == str(two.formula_)
    assert two.predict(table).tolist() == two.predict(FRAME).tolist()


def test_27_missing_values_are_refused_or_kept() -> None:
    holes = FRAME.assign(income=FRAME["income"].where(FRAME["income"] > 20))
    with pytest.raises(ValueError, match="missing='keep'"):
        quick().fit(holes, TWO)
    assert quick(missing="keep").fit(holes, TWO).score(holes, TWO) == 1.0


def test_28_prediction_needs_only_the_columns_of_the_rule(two: FormulaClassifier) -> None:
    expected = two.predict(FRAME).tolist()
    assert two.predict(FRAME[["job", "age"]]).tolist() == expected
    holes = FRAME.assign(income=np.nan, extra="x")
    assert two.predict(holes).tolist() == expected
    with pytest.raises(ValueError, match="expected a column 'age'"):
        two.predict(FRAME[["job"]])


def test_29_lists_of_rows_are_arrays() -> None:
    fitted = quick().fit(NUMBERS.tolist(), BINARY.tolist())
    assert fitted.predict(NUMBERS.tolist()).tolist() == BINARY.tolist()
    with pytest.raises(ValueError, match="X has 1 features, but FormulaClassifier is expecting 2"):
        fitted.predict([[1.0]])


def test_30_a_kind_of_column_can_be_stated() -> None:
    codes = pd.DataFrame({"code": RNG.integers(0, 3, ROWS)})
    fitted = quick(feature_types={"code": "categorical"}, length=1).fit(codes, codes["code"] == 1)
    assert str(fitted.formula_) == "code_1"
    with pytest.raises(ValueError, match="feature_types"):
        quick(feature_types={"kode": "categorical"}).fit(codes, codes["code"] == 1)


# ---------------------------------------------------------------------------- weights, metadata


def test_31_metadata_routing_passes_sample_weights() -> None:
    weights = np.where(TWO == "yes", 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = quick().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(routed, {"length": [1]}, cv=2)
        search.fit(FRAME, TWO, sample_weight=weights)
    assert search.best_estimator_.measure_ == "weighted accuracy"


def test_32_class_weights_change_the_measure() -> None:
    fitted = quick(class_weight="balanced").fit(FRAME, TWO)
    assert fitted.measure_ == "balanced accuracy"


def test_33_a_splitter_chooses_the_length() -> None:
    fitted = quick(length=None, max_length=3, cv=StratifiedKFold(3)).fit(FRAME, TWO)
    assert set(fitted.scan_results_["length"]) <= {1, 2, 3}


# ------------------------------------------------------------------------------ fitted attributes


ATTRIBUTES = (
    *("rules_", "classes_", "size_", "length_", "errors_", "measure_", "proved_", "timed_out_"),
    *("lower_bound_", "proved_length_", "stop_reason_", "scan_results_", "model_"),
    *("n_features_in_", "feature_names_in_"),
)


@FITTED
def test_34_two_and_more_classes_have_the_same_attributes(
    name: str, request: pytest.FixtureRequest
) -> None:
    fitted = request.getfixturevalue(name)
    assert all(hasattr(fitted, attribute) for attribute in ATTRIBUTES)
    assert not any(hasattr(quick(), attribute) for attribute in ATTRIBUTES)
    assert all(isinstance(rule, Rule) for rule in fitted.rules_)
    assert (len(fitted.rules_) == 1) == hasattr(fitted, "formula_")
    assert fitted.lower_bound_ <= sum(rule.errors for rule in fitted.rules_)
    assert fitted.proved_length_ == 3


@FITTED
def test_35_the_rules_are_a_table_of_support_precision_and_recall(
    name: str, request: pytest.FixtureRequest
) -> None:
    fitted = request.getfixturevalue(name)
    labels = TWO if name == "two" else THREE
    rules = fitted.get_rules()
    assert rules.columns.tolist() == ["rule", "prediction", "support", "precision", "recall"]
    table = pd.get_dummies(FRAME, columns=["job"])
    held = np.zeros(ROWS, dtype=bool)
    for _, rule in rules.iloc[:-1].iterrows():
        truth = parse(rule["rule"]).evaluate({str(n): table[n].to_numpy() for n in table})
        mine = labels == rule["prediction"]
        assert rule["support"] == truth.sum()
        assert rule["precision"] == pytest.approx(mine[truth].mean())
        assert rule["recall"] == pytest.approx(truth[mine].mean())
        held |= truth
    assert rules["support"].iloc[-1] == (~held).sum()


@FITTED
def test_36_a_row_is_explained_in_every_form(name: str, request: pytest.FixtureRequest) -> None:
    fitted = request.getfixturevalue(name)
    for at in range(0, ROWS, 25):
        forms = (FRAME.iloc[at], FRAME.iloc[[at]], dict(FRAME.iloc[at]))
        explained = [fitted.explain(form) for form in forms]
        assert {one.prediction for one in explained} == {fitted.predict(FRAME.iloc[[at]])[0]}
        assert f"age = {FRAME['age'].iloc[at]}" in str(explained[0])
    with pytest.raises(ValueError, match="expected one row, found 2"):
        fitted.explain(FRAME.iloc[:2])


@FITTED
def test_37_decisions_and_probabilities_agree_with_predictions(
    name: str, request: pytest.FixtureRequest
) -> None:
    fitted = request.getfixturevalue(name)
    scores, predicted = fitted.decision_function(FRAME), fitted.predict(FRAME)
    if name == "two":
        assert (fitted.classes_[(scores > 0).astype(int)] == predicted).all()
    else:
        assert scores.shape == (ROWS, 3)
        assert (fitted.classes_[scores.argmax(axis=1)] == predicted).all()
    assert np.allclose(fitted.predict_proba(FRAME).sum(axis=1), 1)


@FITTED
def test_38_what_a_notebook_shows(name: str, request: pytest.FixtureRequest) -> None:
    fitted = request.getfixturevalue(name)
    shown = fitted._repr_mimebundle_()
    assert "fsm-card" in shown["text/html"]
    assert shown["text/latex"].startswith("$")
    assert "fit.budget_h" not in shown["text/html"]
    formula = fitted.rules_[0].formula
    assert repr(formula) == f"parse({str(formula)!r})"
    assert formula._repr_latex_() == f"${formula.latex()}$"


def test_39_errors_are_those_that_users_expect(tmp_path: Path, two: FormulaClassifier) -> None:
    for call in ("predict", "predict_proba", "decision_function", "explain"):
        with pytest.raises(NotFittedError):
            getattr(quick(), call)(FRAME)
    for call in ("get_rules", "export_text", "alternatives", "to_sql"):
        with pytest.raises(NotFittedError):
            getattr(quick(), call)()
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "model.json")
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        FormulaClassifier.load(tmp_path / "none.json")
    with pytest.raises(UserError, match="expected one of sql"):
        two.export("cobol")


def test_40_alternatives_are_of_one_class_at_a_time(
    two: FormulaClassifier, three: FormulaClassifier, tmp_path: Path
) -> None:
    assert two.alternatives(slack=1, bound=1).attrs["complete"]
    with pytest.raises(UserError, match="expected one of the classes"):
        three.alternatives()
    found = three.alternatives(slack=1, bound=1, label="old")
    assert found.attrs["optimum"] == 0
    assert (three.members(0, label="old")["errors"] <= 1).all()
    three.save(tmp_path / "model.json")
    with pytest.raises(UserError, match="found one that was loaded"):
        FormulaClassifier.load(tmp_path / "model.json").alternatives(label="old")


# -------------------------------------------------------------------------------- the package


def test_41_the_package_lists_its_names() -> None:
    public = [name for name in dir(fsm_hpc) if not name.startswith("__")]
    assert public == sorted(fsm_hpc.__all__)
    assert "__version__" in dir(fsm_hpc)
    assert all(getattr(fsm_hpc, name) for name in fsm_hpc.__all__)


def test_42_importing_the_estimator_loads_no_experiment_runner() -> None:
    code = """
import sys
from fsm_hpc import FormulaClassifier, explain_model
heavy = {"hydra", "omegaconf", "clingo", "optuna", "xgboost", "submitit", "dask", "matplotlib"}
loaded = [m for m in sys.modules if m.split(".")[0] in heavy
          or m.startswith(("fsm_hpc.study", "fsm_hpc.cluster", "fsm_hpc.cli"))]
print(loaded)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "module", [estimator, fitted, black_box, parser], ids=lambda module: module.__name__
)
def test_43_the_examples_in_docstrings_run(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert outcome.failed == 0
    assert outcome.attempted >= 2


def test_44_a_model_of_several_answers_is_explained() -> None:
    forest = quick().fit(NUMBERS, THREE)
    explained = explain_model(forest, NUMBERS, THREE, length=3, solver="native")
    assert explained.fidelity == 1.0
    assert cross_val_score(explained.classifier, NUMBERS, THREE, cv=2).mean() > 0.8


def test_45_a_warning_names_the_python_parameter() -> None:
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        FormulaClassifier(time_limit_s=1e-6, solver="native").fit(FRAME, TWO)
    texts = [str(one.message) for one in raised]
    assert any("time_limit_s" in text for text in texts)
    assert not any("fit.budget_h" in text or "dataset." in text for text in texts)
