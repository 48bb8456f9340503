"""Ensembles of trees behind one face: random forest and XGBoost, stoppable while they grow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.method import Method

Values = NDArray[np.float64]
Parameters = dict[str, Any]

_TREES_AT_ONCE = 100  # a forest is grown in such steps, and may be stopped between two of them
_ROWS_PER_THREAD = 500  # with fewer, XGBoost's threads wait for each other more than they work


class Ensemble(Protocol):
    """A fitted ensemble of trees."""

    @property
    def trees(self) -> int: ...

    @property
    def nodes(self) -> int: ...

    def predict(self, rows: Values) -> Truth: ...


@dataclass(frozen=True, slots=True)
class Task:
    """What every fit of one fold shares."""

    values: Values
    labels: Truth
    method: Method
    seed: int
    threads: int
    stop: threading.Event
    weighed: Callable[[NDArray[np.int64]], Values | None] = lambda rows: None  # rows to weights

    def right(self, model: Ensemble, rows: NDArray[np.int64]) -> float:
        """The share of these rows, or of their weight, that a model gets right."""
        is_right = model.predict(self.values[rows]) == self.labels[rows]
        return float(np.average(is_right, weights=self.weighed(rows)))

    def fit(self, rows: NDArray[np.int64], parameters: Parameters) -> Ensemble | None:
        """The model of these rows; None when it was asked to stop."""
        fit = _fit_forest if self.method is Method.RANDOM_FOREST else _fit_xgboost
        return fit(self, rows, parameters)


@dataclass(frozen=True, slots=True)
class _Forest:
    forest: Any
    trees: int
    nodes: int

    def predict(self, rows: Values) -> Truth:
        return np.asarray(self.forest.predict(rows), dtype=bool)


def _fit_forest(task: Task, fitted: NDArray[np.int64], chosen: Parameters) -> Ensemble | None:
    """Grown in steps to be stoppable; scikit-learn makes the same trees as in one go."""
    from sklearn.ensemble import RandomForestClassifier

    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    forest = RandomForestClassifier(
        **chosen, random_state=task.seed, n_jobs=task.threads, warm_start=True
    )
    total = chosen["n_estimators"]
    for count in [*range(_TREES_AT_ONCE, total, _TREES_AT_ONCE), total]:
        if task.stop.is_set():
            return None
        forest.set_params(n_estimators=count).fit(rows, labels, sample_weight=weights)
    nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
    return _Forest(forest, len(forest.estimators_), int(nodes))


@dataclass(frozen=True, slots=True)
class _Boosted:
    booster: Any
    trees: int
    nodes: int

    def predict(self, rows: Values) -> Truth:
        from xgboost import DMatrix

        return np.asarray(self.booster.predict(DMatrix(rows)) > 0.5)


def _fit_xgboost(task: Task, fitted: NDArray[np.int64], chosen: Parameters) -> Ensemble | None:
    import xgboost
    from xgboost.callback import TrainingCallback

    class Stop(TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return task.stop.is_set()

    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    threads = min(task.threads, max(1, len(rows) // _ROWS_PER_THREAD))
    settings = {k: v for k, v in chosen.items() if k != "n_estimators"}
    settings |= {"objective": "binary:logistic", "seed": task.seed, "nthread": threads}
    if labels.all() or not labels.any():
        settings["base_score"] = 0.5  # the share of true labels has no log-odds
    booster = xgboost.train(
        settings,
        xgboost.DMatrix(rows, labels.astype(np.float64), weight=weights, nthread=threads),
        num_boost_round=chosen["n_estimators"],
        callbacks=[Stop()],
    )
    if task.stop.is_set():
        return None
    dump = booster.get_dump()
    return _Boosted(booster, len(dump), sum(tree.count("\n") for tree in dump))
