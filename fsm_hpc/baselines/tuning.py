"""Tune a baseline with Optuna on the rows of a fold, then refit it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.baselines import OnTrial, load
from fsm_hpc.baselines.base import Baseline, FittedModel, Grid, Parameters, Task, Values
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
    """A tuned model: its description, its predictions and the time they took."""

    model: dict[str, Any]  # parameters, trials, size, claim of optimality
    validation_accuracy: float  # of the best trial
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
    journal: Path,
    stop: threading.Event,
    on_trial: OnTrial,
    say: Callable[[str], None] = lambda text: None,
    objective: Objective = ACCURACY,
    time_limit_s: float | None = None,
) -> FittedBaseline | None:
    """Tune, then refit on all rows but the held-out ones.

    None when `stop` was set: the finished trials are in the journal, and the next call goes on
    with them to the very result of a run that was never stopped.
    """
    values = dataset.table().to_numpy(dtype=np.float64)
    weighed = _weighed(dataset, objective)
    task = Task(values, dataset.labels, method, seed, threads, stop, weighed, time_limit_s)
    baseline = load(method)
    study = open_study(journal, _name(dataset, fold, method, seed, objective), say)
    trials = trials_of(baseline, trials)
    if not _tune(study, baseline, task, fold, trials, journal, on_trial):
        return None
    best = _best(_finished(study)[:trials])
    started = time.monotonic()
    model = baseline.fit(task, fold.fitted, best.params)
    if model is None:
        return None
    return _described(task, fold, study, model, trials, time.monotonic() - started)


def _described(
    task: Task, fold: FoldRows, study: Any, model: FittedModel, trials: int, final_s: float
) -> FittedBaseline:
    tried = _finished(study)[:trials]
    best = _best(tried)
    return FittedBaseline(
        model={"parameters": dict(best.params), "trials": len(tried), **_facts(model)},
        validation_accuracy=float(best.value),
        fitted=model.predict(task.values[fold.fitted]),
        test=model.predict(task.values[fold.test]),
        scores=model.scores(task.values[fold.test]),
        scan_s=sum(trial.duration.total_seconds() for trial in tried),
        final_s=final_s,
    )


def _facts(model: FittedModel) -> dict[str, Any]:
    """Size and claim of optimality, each where it applies."""
    facts = asdict(model.size) | {"claims_optimality": model.claims_optimality}
    return {name: value for name, value in facts.items() if value is not None}


# ---------------------------------------------------------------------------------------- tuning


def trials_of(baseline: Baseline, trials: int) -> int:
    """How many trials a tuning takes: a grid is tried as a whole."""
    return trials if baseline.GRID is None else len(points(baseline.GRID))


def points(grid: Grid) -> list[Parameters]:
    """All combinations of a grid's values."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _tune(
    study: Any,
    baseline: Baseline,
    task: Task,
    fold: FoldRows,
    trials: int,
    journal: Path,
    on_trial: OnTrial,
) -> bool:
    """Whether the study has all its trials; False when it was asked to stop before."""
    while (done := len(_finished(study))) < trials:
        if task.stop.is_set():
            return False
        study.sampler = _sampler(baseline, task.seed, done)
        with files.naming(journal):
            trial = study.ask()
            parameters = baseline.suggest(trial)
        model = baseline.fit(task, fold.train, parameters)
        if model is None:
            with files.naming(journal):
                study.tell(trial, state=_states().FAIL)
            return False
        accuracy = task.accuracy(model, fold.validation)
        with files.naming(journal):
            study.tell(trial, accuracy)
        on_trial(done + 1, float(_best(_finished(study)).value))
    return True


def _sampler(baseline: Baseline, seed: int, trial: int) -> Any:
    """A sampler for one trial, so that what it draws does not depend on when the job started."""
    from optuna.samplers import TPESampler

    if baseline.GRID is not None:
        return _fixed(points(baseline.GRID)[trial])
    return TPESampler(seed=int(np.random.SeedSequence([seed, trial]).generate_state(1)[0]))


def _fixed(point: Parameters) -> Any:
    """A sampler that gives every parameter its value at this point."""
    from optuna.samplers import BaseSampler

    class Fixed(BaseSampler):  # type: ignore[misc]
        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
            return {}

        def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
            return point[name]

    return Fixed()


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
