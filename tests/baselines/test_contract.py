"""One contract for every baseline: fitted, tuned, scored, measured and reproduced alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fsm_hpc.baselines import MODULES, load, trees, tuning
from fsm_hpc.baselines.base import FittedModel, Parameters, Task, Values
from fsm_hpc.baselines.trees import Branch, Leaf
from fsm_hpc.data.folds import Rows
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.method import Method
from fsm_hpc.study.compose import compose
from tests.baselines.test_baselines import noisy_dataset, tune

BASELINES = [Method(name) for name in MODULES]
OPTIMAL = (Method.STREED, Method.CONTREE, Method.PYTREES)
UNWEIGHTED = (*OPTIMAL, Method.RULEFIT)
ENSEMBLE: Parameters = {"n_estimators": 20, "max_depth": 3}
DEPTH_2: Parameters = {"max_depth": 2}
SMALL = {Method.RANDOM_FOREST: ENSEMBLE, Method.XGBOOST: ENSEMBLE}
SMALL |= dict.fromkeys((Method.TREE, Method.TUNED_TREE, *OPTIMAL), DEPTH_2)


@cache
def fitted(method: Method) -> tuple[Task, FittedModel]:
    task = task_of(method)
    return task, fit(task)


def grid(method: Method) -> list[Parameters]:
    """All parameters of a baseline that tries a grid."""
    space = load(method).SPACE
    assert isinstance(space, Mapping)
    return tuning.points(space)


def fit(task: Task) -> FittedModel:
    adapter = load(task.method)
    parameters = SMALL.get(task.method) or grid(task.method)[-1]
    model = adapter.fit(task, np.arange(len(task.labels)), parameters)
    assert model is not None
    return model


def task_of(method: Method, rows: int = 120, stop: threading.Event | None = None) -> Task:
    dataset = noisy_dataset(rows)
    values = dataset.table().to_numpy(dtype=np.float64)
    event = stop or threading.Event()
    return Task(values, dataset.labels, method, 1, 1, event, time_limit_s=10)


@pytest.mark.parametrize("method", BASELINES)
def test_a_baseline_is_better_than_the_majority_on_a_simple_table(method: Method) -> None:
    task, model = fitted(method)
    predicted = model.predict(task.values)
    assert predicted.dtype == bool
    assert np.mean(predicted == task.labels) >= 0.75


@pytest.mark.parametrize("method", BASELINES)
def test_scores_are_probabilities_that_rank_the_positive_rows_first(method: Method) -> None:
    from sklearn.metrics import roc_auc_score

    task, model = fitted(method)
    scores = model.scores(task.values)
    assert scores.shape == task.labels.shape
    assert np.all((scores >= 0) & (scores <= 1))
    assert roc_auc_score(task.labels, scores) > 0.7


@pytest.mark.parametrize("method", BASELINES)
def test_the_same_seed_gives_the_same_model(method: Method) -> None:
    task, first = fitted(method)
    second = fit(task)
    assert np.array_equal(first.scores(task.values), second.scores(task.values))
    assert first.size == second.size


@pytest.mark.parametrize("method", BASELINES)
def test_a_model_has_a_size_in_symbols(method: Method) -> None:
    assert fitted(method)[1].size.symbols >= 1


@pytest.mark.parametrize("method", BASELINES)
def test_optimal_trees_alone_claim_optimality(method: Method) -> None:
    claim = fitted(method)[1].claims_optimality
    assert claim is (True if method in OPTIMAL else None)


@pytest.mark.parametrize("method", BASELINES)
def test_rows_of_one_class_are_fitted_by_that_class(method: Method) -> None:
    task = task_of(method, rows=20)
    rows = np.flatnonzero(task.labels)
    adapter = load(method)
    parameters = SMALL.get(method) or grid(method)[0]
    model = adapter.fit(task, rows, parameters)
    assert model is not None
    assert model.predict(task.values).all()
    assert np.all(model.scores(task.values) >= 0.5)


def weighted_task(method: Method) -> Task:
    """Errors on negative rows count 50 times."""
    plain = task_of(method)
    heavy = np.where(plain.labels, 1.0, 50.0)
    return Task(plain.values, plain.labels, method, 1, 1, plain.stop, lambda rows: heavy[rows])


@pytest.mark.parametrize("method", [m for m in BASELINES if m not in UNWEIGHTED])
def test_heavier_negative_rows_give_fewer_positive_predictions(method: Method) -> None:
    task = weighted_task(method)
    model = fit(task)
    _, unweighted = fitted(method)
    assert np.sum(model.predict(task.values)) < np.sum(unweighted.predict(task.values))


@pytest.mark.parametrize("method", UNWEIGHTED)
def test_a_package_without_weights_refuses_them(method: Method) -> None:
    with pytest.raises(UserError, match=f"method={method.value} cannot weigh rows"):
        fit(weighted_task(method))


@pytest.mark.parametrize("method", BASELINES)
def test_a_config_file_names_the_method_and_its_trials(method: Method) -> None:
    config = compose([f"method={method.value}", "dataset=hepatitis"])
    assert config.method.name is method
    assert config.method.trials


@pytest.mark.parametrize("method", [Method.TREE, Method.LOGISTIC_REGRESSION, *OPTIMAL])
def test_a_grid_is_tried_as_a_whole_and_resumed(method: Method, tmp_path: Path) -> None:
    stop, counts = threading.Event(), list[int]()

    def stop_after_one(count: int, best: float) -> None:
        stop.set()

    whole = tune(tmp_path / "whole.log", method, trials=1)
    tune(tmp_path / "parts.log", method, trials=1, stop=stop, on_trial=stop_after_one)
    resumed = tune(
        tmp_path / "parts.log", method, trials=1, on_trial=lambda c, best: counts.append(c)
    )
    assert whole is not None
    assert resumed is not None
    assert whole.model["trials"] == len(grid(method))
    assert counts == list(range(2, whole.model["trials"] + 1))
    assert resumed.model == whole.model


@pytest.mark.parametrize("method", [Method.EBM, Method.RULEFIT])
def test_a_model_without_parameters_is_fitted_once_and_has_no_validation_accuracy(
    method: Method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter, counts = load(method), list[int]()

    def counted_fit(task: Task, rows: Rows, parameters: Parameters) -> FittedModel | None:
        counts.append(len(rows))
        return fit_once(task, rows, parameters)

    fit_once = adapter.fit
    monkeypatch.setattr(adapter, "fit", counted_fit)
    outcome = tune(tmp_path / "trials.json", method)
    assert outcome is not None
    assert counts == [len(outcome.fitted)]
    assert outcome.model["trials"] == 0
    assert outcome.validation_accuracy is None


def _limits_of_an_unfinished_tree(wait: Callable[[float], object]) -> list[float]:
    """The time limits that a package is given whose search waits and does not finish."""
    limits: list[float] = []

    def solve(rows: Values, labels: Truth, limit_s: float) -> tuple[trees.Node, bool]:
        limits.append(limit_s)
        wait(0.1)
        return YES, False

    task = replace(task_of(Method.STREED), time_limit_s=0.1)
    model = trees.optimal(task, np.arange(len(task.labels)), solve)
    assert model.claims_optimality is False
    return limits


def test_an_optimal_tree_without_processor_time_is_repeated_with_a_longer_limit() -> None:
    first, second = _limits_of_an_unfinished_tree(time.sleep)
    assert first == 0.1
    assert 0.2 < second < 2.1


def test_an_optimal_tree_that_used_its_processor_time_is_not_repeated() -> None:
    def compute(seconds: float) -> None:
        started = time.process_time()
        while time.process_time() - started < seconds:
            pass

    assert _limits_of_an_unfinished_tree(compute) == [0.1]


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pystreed", None)
    monkeypatch.delitem(sys.modules, "fsm_hpc.baselines.streed", raising=False)
    with pytest.raises(UserError, match=r"pystreed.*pip install \"fsm_hpc\[peers\]\""):
        load(Method.STREED)


YES, NO = Leaf(True), Leaf(False)


@pytest.mark.parametrize(
    ("tree", "symbols"),
    [
        (YES, 0),
        (Branch(0, 1.0, NO, YES), 1),  # p
        (Branch(0, 1.0, YES, NO), 2),  # not p
        (Branch(0, 1.0, NO, Branch(1, 1.0, NO, YES)), 3),  # p and q
        (Branch(0, 1.0, Branch(1, 1.0, NO, YES), YES), 3),  # p or q
        (Branch(0, 1.0, YES, Branch(1, 1.0, NO, YES)), 4),  # not p or q
        (Branch(0, 1.0, Branch(1, 1.0, NO, YES), NO), 4),  # not p and q
        (Branch(0, 1.0, Branch(1, 1.0, NO, YES), Branch(2, 1.0, NO, YES)), 8),
        (Branch(0, 1.0, Branch(1, 1.0, YES, YES), YES), 0),  # one class everywhere
    ],
)
def test_the_size_of_a_tree_is_that_of_its_formula(tree: trees.Node, symbols: int) -> None:
    assert trees.symbols(trees.simplified(tree)) == symbols


@pytest.mark.parametrize("method", OPTIMAL)
def test_a_converted_tree_predicts_as_its_package_does(method: Method) -> None:
    task, model = fitted(method)
    rows, labels = task.values, task.labels
    if method is Method.CONTREE:
        from pycontree import ConTree

        expected = ConTree(**DEPTH_2).fit(rows, labels.astype(np.int32)).predict(rows)
    elif method is Method.PYTREES:
        from pytrees import ConTreeClassifier

        expected = ConTreeClassifier(**DEPTH_2).fit(rows, labels.astype(np.int64)).predict(rows)
    else:
        from pystreed import STreeDClassifier

        rows = (rows > 0).astype(np.float64)  # pystreed takes binary columns
        model = fit(replace(task, values=rows))
        expected = STreeDClassifier(**DEPTH_2).fit(rows, labels.astype(np.int32)).predict(rows)
    assert np.array_equal(model.predict(rows), np.asarray(expected, dtype=bool))
