"""Tune a baseline with Optuna on the rows of a fold, then refit it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.baselines import OnTrial, load
from fsm_hpc.baselines import trials as trials_file
from fsm_hpc.baselines.base import (
    Baseline,
    FittedModel,
    Grid,
    Parameters,
    Suggest,
    Task,
    Values,
)
from fsm_hpc.baselines.trials import Trial, study_of
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.folds import FoldRows, Rows
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.method import Method
from fsm_hpc.search.objective import ACCURACY, Objective
from fsm_hpc.search.weights import weigh


@dataclass(frozen=True, slots=True)
class FittedBaseline:
    """A tuned model: its description, its predictions and the time they took."""

    model: dict[str, Any]  # parameters, trials, size, claim of optimality
    validation_accuracy: float | None  # of the best trial; None without a trial
    fitted: Truth  # its predictions on the rows that it was fitted on
    test: Truth  # and on the held-out rows
    scores: Values  # probabilities of the positive class on the held-out rows
    scan_s: float  # tuning, all attempts together
    final_s: float  # the refit


def fit(
    dataset: Dataset,
    fold: FoldRows,
    method: Method,
    trials: int,
    seed: int,
    threads: int,
    record: Path,
    stop: threading.Event,
    on_trial: OnTrial,
    say: Callable[[str], None] = lambda text: None,
    objective: Objective = ACCURACY,
    time_limit_s: float | None = None,
) -> FittedBaseline | None:
    """Tune, then refit on all rows but the held-out ones; without parameters, fit once.

    None when `stop` was set: the finished trials are in `record`, and the next call resumes them
    with the same result as an uninterrupted run.
    """
    values = dataset.table().to_numpy(dtype=np.float64)
    weighed = _weighed(dataset, objective)
    task = Task(values, dataset.labels, method, seed, threads, stop, weighed, time_limit_s)
    baseline = load(method)
    if isinstance(baseline.SPACE, Mapping):
        trials = len(points(baseline.SPACE)) if baseline.SPACE else 0
    problem = _digest(dataset, fold, method, seed, objective)
    done = trials_file.load(record, problem, say)
    for trial in _tune(done, baseline, task, fold, trials):
        done.append(trial)
        trials_file.save(record, problem, done)
        on_trial(len(done), max(trial.value for trial in done))
    if len(done) < trials:
        return None
    started, best = time.monotonic(), _best(done[:trials])
    model = baseline.fit(task, fold.fitted, best.parameters if best else {})
    if model is None:
        return None
    return _described(task, fold, done[:trials], model, time.monotonic() - started)


def _described(
    task: Task, fold: FoldRows, tried: list[Trial], model: FittedModel, final_s: float
) -> FittedBaseline:
    best = _best(tried)
    return FittedBaseline(
        model={
            "parameters": best.parameters if best else {},
            "trials": len(tried),
            **_facts(model),
        },
        validation_accuracy=best.value if best else None,
        fitted=model.predict(task.values[fold.fitted]),
        test=model.predict(task.values[fold.test]),
        scores=model.scores(task.values[fold.test]),
        scan_s=sum(trial.seconds for trial in tried),
        final_s=final_s,
    )


def _facts(model: FittedModel) -> dict[str, Any]:
    """Size and claim of optimality, each where it applies."""
    facts = asdict(model.size) | {"claims_optimality": model.claims_optimality}
    return {name: value for name, value in facts.items() if value is not None}


# ---------------------------------------------------------------------------------------- tuning


def points(grid: Grid) -> list[Parameters]:
    """All combinations of a grid's values."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _tune(
    done: list[Trial], baseline: Baseline, task: Task, fold: FoldRows, trials: int
) -> Iterator[Trial]:
    """The remaining trials, one after the other; fewer when the task is stopped."""
    choose, learn = _chooser(baseline.SPACE, done, task.seed)
    for number in range(len(done), trials):
        if task.stop.is_set():
            return
        started, parameters = time.monotonic(), choose(number)
        model = baseline.fit(task, fold.train, parameters)
        if model is None:
            return
        accuracy = task.accuracy(model, fold.validation)
        learn(accuracy)
        yield Trial(parameters, accuracy, round(time.monotonic() - started, 3))


def _chooser(
    space: Grid | Suggest, done: list[Trial], seed: int
) -> tuple[Callable[[int], Parameters], Callable[[float], None]]:
    """Two functions: the parameters of a trial by its number, and a report of its accuracy."""
    if isinstance(space, Mapping):
        return points(space).__getitem__, lambda accuracy: None
    study, trials = study_of(done, space), []

    def choose(number: int) -> Parameters:
        trials.append(_next_trial(study, seed, number))
        return space(trials[-1])

    return choose, lambda accuracy: study.tell(trials[-1], accuracy)


def _next_trial(study: Any, seed: int, number: int) -> Any:
    """Optuna's trial of that number; its own seed lets a resumed job draw the same."""
    from optuna.samplers import TPESampler

    own_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
    study.sampler = TPESampler(seed=own_seed)
    return study.ask()


def _best(tried: list[Trial]) -> Trial | None:
    """The first of the trials with the highest validation accuracy; None without a trial."""
    return max(tried, key=lambda trial: trial.value, default=None)


def _weighed(dataset: Dataset, objective: Objective) -> Callable[[Rows], Values | None]:
    """A function from rows to the weights of their errors, for fitting and validation."""

    def weighed(rows: Rows) -> Values | None:
        given = None if dataset.weights is None else dataset.weights[rows]
        weights = weigh(objective, dataset.labels[rows], given).weights
        return None if weights is None else weights / weights.mean()

    return weighed


def _digest(
    dataset: Dataset, fold: FoldRows, method: Method, seed: int, objective: Objective
) -> str:
    """A digest of all that the trials depend on."""
    digest = hashlib.sha256(f"{dataset.digest} {method.value} {seed}".encode())
    if objective != ACCURACY:
        digest.update(repr(objective).encode())
    for rows in (fold.train, fold.validation, fold.test):
        digest.update(rows.astype(np.int64).tobytes() + b"\0")
    return digest.hexdigest()
