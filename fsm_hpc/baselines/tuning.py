"""Random forest and XGBoost, tuned with Optuna on the rows of a fold, to hold a formula against."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.baselines import OnTrial
from fsm_hpc.baselines.ensembles import Ensemble, Parameters, Task, Values
from fsm_hpc.baselines.journal import open_study
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.folds import FoldRows, Rows
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective
from fsm_hpc.search.weights import weigh
from fsm_hpc.system import files


@dataclass(frozen=True, slots=True)
class FittedBaseline:
    """A tuned model: what it is, and what it says."""

    model: dict[str, Any]  # parameters, trees, nodes, trials
    validation_accuracy: float  # of the best trial
    fitted: Truth  # its predictions on the rows that it was fitted on
    test: Truth  # and on the held-out rows
    scan_s: float  # tuning, all attempts together
    final_s: float  # the refit


def fit(
    dataset: Dataset,
    fold: FoldRows,
    method: Method,
    trials: int,
    seed: int,
    threads: int,
    journal: Path,
    stop: threading.Event,
    on_trial: OnTrial,
    say: Callable[[str], None] = lambda text: None,
    objective: Objective = ACCURACY,
) -> FittedBaseline | None:
    """Tune, then refit on all rows but the held-out ones.

    None when `stop` was set: the finished trials are in the journal, and the next call goes on
    with them to the very result of a run that was never stopped.
    """
    values = dataset.table().to_numpy(dtype=np.float64)
    weighed = _weighed(dataset, objective)
    task = Task(values, dataset.labels, method, seed, threads, stop, weighed)
    study = open_study(journal, _name(dataset, fold, method, seed, objective), say)
    if not _tune(study, task, fold, trials, journal, on_trial):
        return None
    best = _best(_finished(study)[:trials])
    started = time.monotonic()
    model = task.fit(fold.fitted, best.params)
    if model is None:
        return None
    return _described(task, fold, study, model, trials, time.monotonic() - started)


def _described(
    task: Task, fold: FoldRows, study: Any, model: Ensemble, trials: int, final_s: float
) -> FittedBaseline:
    tried = _finished(study)[:trials]
    best = _best(tried)
    return FittedBaseline(
        model={
            "parameters": dict(best.params),
            "trees": model.trees,
            "nodes": model.nodes,
            "trials": len(tried),
        },
        validation_accuracy=float(best.value),
        fitted=model.predict(task.values[fold.fitted]),
        test=model.predict(task.values[fold.test]),
        scan_s=sum(trial.duration.total_seconds() for trial in tried),
        final_s=final_s,
    )


# ---------------------------------------------------------------------------------------- tuning


def suggest(method: Method, trial: Any) -> Parameters:
    """A point of the space in the paper's appendix, as Optuna chooses it for a trial.

    Optuna draws an integer from low - 1/2 to high + 1/2 and rounds, which is what the appendix
    means by [9.5, 3000.5] and [1.5, 50.5].
    """
    return _forest_space(trial) if method is Method.RANDOM_FOREST else _xgboost_space(trial)


def _forest_space(trial: Any) -> Parameters:
    shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    return {
        "max_depth": trial.suggest_categorical("max_depth", [None, 2, 3, 4]),
        "n_estimators": trial.suggest_int("n_estimators", 10, 3000, log=True),
        "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
        "max_features": trial.suggest_categorical("max_features", ["sqrt", "log2", None, *shares]),
        "min_samples_split": trial.suggest_categorical("min_samples_split", [2, 3]),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 2, 50),
        "bootstrap": trial.suggest_categorical("bootstrap", [True, False]),
        "min_impurity_decrease": trial.suggest_categorical(
            "min_impurity_decrease", [0.0, 0.01, 0.02, 0.05]
        ),
    }


def _xgboost_space(trial: Any) -> Parameters:
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


def _tune(
    study: Any, task: Task, fold: FoldRows, trials: int, journal: Path, on_trial: OnTrial
) -> bool:
    """Whether the study has all its trials; False when it was asked to stop before."""
    while (done := len(_finished(study))) < trials:
        if task.stop.is_set():
            return False
        study.sampler = _sampler(task.seed, done)
        with files.naming(journal):
            trial = study.ask()
            parameters = suggest(task.method, trial)
        model = task.fit(fold.train, parameters)
        if model is None:
            with files.naming(journal):
                study.tell(trial, state=_states().FAIL)
            return False
        right = task.right(model, fold.validation)
        with files.naming(journal):
            study.tell(trial, right)
        on_trial(done + 1, float(_best(_finished(study)).value))
    return True


def _sampler(seed: int, trial: int) -> Any:
    """A sampler for one trial, so that what it draws does not depend on when the job started."""
    from optuna.samplers import TPESampler

    return TPESampler(seed=int(np.random.SeedSequence([seed, trial]).generate_state(1)[0]))


def _finished(study: Any) -> list[Any]:
    return list(study.get_trials(deepcopy=False, states=(_states().COMPLETE,)))


def _best(tried: list[Any]) -> Any:
    """The first of the trials with the highest validation accuracy."""
    return max(tried, key=lambda trial: (trial.value, -trial.number))


def _states() -> Any:
    from optuna.trial import TrialState

    return TrialState


def _weighed(dataset: Dataset, objective: Objective) -> Callable[[Rows], Values | None]:
    """Rows to what an error on each of them counts; a model is fitted and judged by that."""

    def weighed(rows: Rows) -> Values | None:
        given = None if dataset.weights is None else dataset.weights[rows]
        weights = weigh(objective, dataset.labels[rows], given).weights
        return None if weights is None else weights / weights.mean()

    return weighed


def _name(dataset: Dataset, fold: FoldRows, method: Method, seed: int, objective: Objective) -> str:
    """Names all that the trials depend on, so that those of another problem are left alone."""
    digest = hashlib.sha256(f"{dataset.digest} {method.value} {seed}".encode())
    if objective != ACCURACY:
        digest.update(repr(objective).encode())
    for rows in (fold.train, fold.validation, fold.test):
        digest.update(rows.astype(np.int64).tobytes() + b"\0")
    return digest.hexdigest()
