"""The baselines: the paper's spaces, one answer for one seed, and nothing lost by a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fsm_hpc.baselines import load, random_forest, trials, xgboost
from fsm_hpc.baselines import tuning as baselines
from fsm_hpc.baselines.base import Task
from fsm_hpc.baselines.tuning import FittedBaseline
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.dataset import Dataset
from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.search.method import Method

BASELINES = (Method.RANDOM_FOREST, Method.XGBOOST)
TRIALS = 13  # Optuna draws the first ten at random and learns from then on


def noisy_dataset(rows: int = 60, seed: int = 0) -> Dataset:
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, 3))
    labels = (values[:, 0] > 0) ^ (random.random(rows) < 0.2)
    names = ["[a] < b", "c_%", "d"]  # names that XGBoost itself refuses
    columns = tuple(Column(n, Kind.NUMERIC, values[:, i]) for i, n in enumerate(names))
    return Dataset("noisy", columns, labels, "y", "1", "0", 0)


def tune(
    record: Path,
    method: Method = Method.XGBOOST,
    trials: int = TRIALS,
    seed: int = 42,
    dataset: Dataset | None = None,
    stop: threading.Event | None = None,
    on_trial: Callable[[int, float], None] = lambda count, best: None,
) -> FittedBaseline | None:
    dataset = dataset or noisy_dataset()
    fold = fold_rows(dataset.labels, None, 0, Folding())
    stop = stop or threading.Event()
    return baselines.fit(dataset, fold, method, trials, seed, 1, record, stop, on_trial)


def answer(outcome: FittedBaseline | None) -> tuple[object, ...]:
    assert outcome is not None
    said = (outcome.fitted.tolist(), outcome.test.tolist())
    return (outcome.model, outcome.validation_accuracy, *said)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    return answer(tune(tmp_path_factory.mktemp("whole") / "trials.json"))


class Ranges:
    """Stands where Optuna's trial does and notes the ranges that it is asked for."""

    def __init__(self) -> None:
        self.seen: dict[str, object] = {}

    def suggest_categorical(self, name: str, choices: list[object]) -> object:
        self.seen[name] = choices
        return choices[0]

    def suggest_int(self, name: str, low: int, high: int, step: int = 1, log: bool = False) -> int:
        self.seen[name] = (low, high, step, log)
        return low

    def suggest_float(self, name: str, low: float, high: float, log: bool = False) -> float:
        self.seen[name] = (low, high, log)
        return low


def test_the_random_forest_is_tuned_in_the_space_of_the_papers_appendix() -> None:
    ranges = Ranges()
    random_forest.suggest(ranges)
    assert ranges.seen == {
        "max_depth": [None, 2, 3, 4],
        "n_estimators": (10, 3000, 1, True),  # [9.5, 3000.5], rounded
        "criterion": ["gini", "entropy"],
        "max_features": ["sqrt", "log2", None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "min_samples_split": [2, 3],
        "min_samples_leaf": (2, 50, 1, False),  # [1.5, 50.5], rounded
        "bootstrap": [True, False],
        "min_impurity_decrease": [0.0, 0.01, 0.02, 0.05],
    }


def test_xgboost_is_tuned_in_the_space_of_the_papers_appendix() -> None:
    ranges = Ranges()
    xgboost.suggest(ranges)
    assert ranges.seen == {
        "max_depth": (1, 11, 1, False),
        "n_estimators": (100, 5900, 200, False),
        "min_child_weight": (1.0, 100.0, True),
        "subsample": (0.5, 1.0, False),
        "learning_rate": (1e-5, 0.7, True),
        "colsample_bylevel": (0.5, 1.0, False),
        "gamma": (1e-8, 7.0, True),
        "reg_lambda": (1.0, 4.0, True),
        "reg_alpha": (1e-8, 100.0, True),
    }


def test_optuna_draws_a_logarithmic_integer_from_half_below_to_half_above() -> None:
    from optuna._transform import _SearchSpaceTransform
    from optuna.distributions import IntDistribution

    space = {"n_estimators": IntDistribution(10, 3000, log=True)}
    bounds = _SearchSpaceTransform(space).bounds
    assert np.exp(bounds[0]) == pytest.approx([9.5, 3000.5])


def test_a_baseline_beats_the_majority_on_data_with_a_rule() -> None:
    dataset = noisy_dataset(rows=200, seed=3)
    fold = fold_rows(dataset.labels, None, 0, Folding())
    task = Task(dataset.table().to_numpy(), dataset.labels, Method.XGBOOST, 1, 1, threading.Event())
    model = xgboost.fit(task, fold.fitted, {"n_estimators": 100, "max_depth": 2})
    assert model is not None
    right = np.mean(model.predict(task.values[fold.fitted]) == dataset.labels[fold.fitted])
    assert right > 0.75


def test_the_same_seed_gives_the_same_parameters(
    tmp_path: Path, uninterrupted: tuple[object, ...]
) -> None:
    assert answer(tune(tmp_path / "trials.json")) == uninterrupted


def test_another_seed_gives_other_parameters(
    tmp_path: Path, uninterrupted: tuple[object, ...]
) -> None:
    assert answer(tune(tmp_path / "trials.json", seed=7))[0] != uninterrupted[0]


def test_a_forest_tells_its_parameters_trees_and_nodes(tmp_path: Path) -> None:
    outcome = tune(tmp_path / "trials.json", Method.RANDOM_FOREST, trials=2)
    assert outcome is not None
    assert outcome.model["trees"] == outcome.model["parameters"]["n_estimators"]
    assert outcome.model["nodes"] >= outcome.model["trees"]
    assert outcome.model["trials"] == 2


@pytest.mark.parametrize("after", [1, 12])
def test_a_stopped_baseline_goes_on_to_the_result_of_one_never_stopped(
    tmp_path: Path, uninterrupted: tuple[object, ...], after: int
) -> None:
    stop = threading.Event()
    record = tmp_path / "trials.json"

    def stop_after(count: int, best: float) -> None:
        if count == after:
            stop.set()

    assert tune(record, stop=stop, on_trial=stop_after) is None
    counts: list[int] = []
    resumed = tune(record, on_trial=lambda count, best: counts.append(count))
    assert counts == list(range(after + 1, TRIALS + 1))
    assert answer(resumed) == uninterrupted


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from tests.baselines.test_baselines import tune
import fsm_hpc.baselines.xgboost as adapter

fits = 0
fit = adapter.fit

def fit_or_die(*arguments):
    global fits
    fits += 1
    if fits == 8:  # a trial is under way then, and is not on disk
        os.kill(os.getpid(), signal.SIGKILL)
    return fit(*arguments)

adapter.fit = fit_or_die
tune(Path(sys.argv[1]))
"""


def test_a_killed_baseline_goes_on_with_the_trials_that_it_had(
    tmp_path: Path, uninterrupted: tuple[object, ...]
) -> None:
    record = tmp_path / "trials.json"
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(record)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    counts: list[int] = []
    resumed = tune(record, on_trial=lambda count, best: counts.append(count))
    assert counts[0] == 8
    assert answer(resumed) == uninterrupted


def spoilt(path: Path, changes: dict[str, object]) -> None:
    saved = json.loads(path.read_text())
    saved["trials"][1] |= changes
    path.write_text(json.dumps(saved))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_text(path.read_text()[:-9]),
        lambda path: spoilt(path, {"value": 0.99}),
        lambda path: spoilt(path, {"value": 1.5}),
        lambda path: spoilt(path, {"parameters": {}}),
        lambda path: spoilt(path, {"added": 1}),
    ],
    ids=["cut off", "another value", "an impossible value", "no parameters", "another field"],
)
def test_damaged_trials_are_kept_aside_and_named_and_tried_again(
    tmp_path: Path, uninterrupted: tuple[object, ...], spoil: Callable[[Path], None]
) -> None:
    record, messages = tmp_path / "trials.json", list[str]()
    tune(record, trials=3)
    spoil(record)
    assert trials.load(record, "", messages.append) == []
    (kept,) = tmp_path.glob(".damaged-trials.json-*")
    assert kept.name in messages[0]
    assert answer(tune(record)) == uninterrupted


def test_trials_of_another_table_are_left_alone(
    tmp_path: Path, uninterrupted: tuple[object, ...]
) -> None:
    record = tmp_path / "trials.json"
    tune(record, trials=3, dataset=noisy_dataset(seed=1))
    counts: list[int] = []
    outcome = tune(record, on_trial=lambda count, best: counts.append(count))
    assert counts[0] == 1
    assert answer(outcome) == uninterrupted


def test_more_trials_go_on_from_those_there_are(
    tmp_path: Path, uninterrupted: tuple[object, ...]
) -> None:
    record = tmp_path / "trials.json"
    few = tune(record, trials=3)
    assert few is not None
    assert few.model["trials"] == 3
    assert answer(tune(record)) == uninterrupted


@pytest.mark.parametrize("method", BASELINES)
def test_a_fit_that_is_asked_to_stop_gives_no_model(method: Method) -> None:
    stop = threading.Event()
    stop.set()
    dataset = noisy_dataset()
    task = Task(dataset.table().to_numpy(), dataset.labels, method, 1, 1, stop)
    assert load(method).fit(task, np.arange(40), {"n_estimators": 300}) is None


def test_a_forest_grown_in_steps_is_the_forest_grown_at_once() -> None:
    from sklearn.ensemble import RandomForestClassifier

    dataset = noisy_dataset()
    values, rows = dataset.table().to_numpy(), np.arange(40)
    chosen = {"n_estimators": 250, "max_depth": 3, "max_features": 0.5, "bootstrap": True}
    task = Task(values, dataset.labels, Method.RANDOM_FOREST, 5, 1, threading.Event())
    model = random_forest.fit(task, rows, chosen)
    whole = RandomForestClassifier(**chosen, random_state=5).fit(values[rows], dataset.labels[rows])
    assert model is not None
    assert model.size.nodes == sum(tree.tree_.node_count for tree in whole.estimators_)
    assert np.array_equal(model.scores(values), whole.predict_proba(values)[:, 1])


@pytest.mark.parametrize("method", BASELINES)
@pytest.mark.parametrize("label", [True, False])
def test_rows_of_one_label_are_learnt_as_that_label(method: Method, label: bool) -> None:
    values = noisy_dataset().table().to_numpy()
    labels = np.full(len(values), label)
    task = Task(values, labels, method, 1, 1, threading.Event())
    model = load(method).fit(task, np.arange(40), {"n_estimators": 20})
    assert model is not None
    assert np.array_equal(model.predict(values), labels)
