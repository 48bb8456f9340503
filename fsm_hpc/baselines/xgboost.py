"""XGBoost, tuned as in the paper's appendix, stoppable after every tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.baselines.base import FittedModel, Parameters, Size, Task, Values, joined
from fsm_hpc.formulas.formula import Truth

_ROWS_PER_THREAD = 500  # with fewer, XGBoost's threads wait for each other more than they work


def suggest(trial: Any) -> Parameters:
    return {
        "max_depth": trial.suggest_int("max_depth", 1, 11),
        "n_estimators": trial.suggest_int("n_estimators", 100, 5900, step=200),
        "min_child_weight": trial.suggest_float("min_child_weight", 1.0, 100.0, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "learning_rate": trial.suggest_float("learning_rate", 1e-5, 0.7, log=True),
        "colsample_bylevel": trial.suggest_float("colsample_bylevel", 0.5, 1.0),
        "gamma": trial.suggest_float("gamma", 1e-8, 7.0, log=True),
        "reg_lambda": trial.suggest_float("reg_lambda", 1.0, 4.0, log=True),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-8, 100.0, log=True),
    }


SPACE = suggest


def estimator(seed: int, parameters: Parameters) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(**parameters, random_state=seed, n_jobs=1)


@dataclass(frozen=True, slots=True)
class _Boosted:
    booster: Any
    size: Size
    claims_optimality: bool | None = None

    def predict(self, rows: Values) -> Truth:
        return np.asarray(self.scores(rows) > 0.5)

    def scores(self, rows: Values) -> Values:
        from xgboost import DMatrix

        return np.asarray(self.booster.predict(DMatrix(rows)), dtype=np.float64)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    import xgboost
    from xgboost.callback import TrainingCallback

    class Stop(TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return task.stop.is_set()

    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    threads = min(task.threads, max(1, len(rows) // _ROWS_PER_THREAD))
    settings = {k: v for k, v in parameters.items() if k != "n_estimators"}
    settings |= {"objective": "binary:logistic", "seed": task.seed, "nthread": threads}
    if labels.all() or not labels.any():
        settings["base_score"] = 0.5  # the share of true labels has no log-odds
    booster = xgboost.train(
        settings,
        xgboost.DMatrix(rows, labels.astype(np.float64), weight=weights, nthread=threads),
        num_boost_round=parameters["n_estimators"],
        callbacks=[Stop()],
    )
    if task.stop.is_set():
        return None
    dump = booster.get_dump()
    nodes = sum(tree.count("\n") for tree in dump)
    return _Boosted(booster, joined((nodes - len(dump)) // 2, trees=len(dump), nodes=nodes))
