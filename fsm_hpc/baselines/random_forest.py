"""Random forest of scikit-learn, tuned as in the paper's appendix, stoppable while it grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.baselines.base import FittedModel, Parameters, Probabilistic, Task, joined

_TREES_AT_ONCE = 100  # a forest is grown in such steps, and may be stopped between two of them


def suggest(trial: Any) -> Parameters:
    """Optuna draws a logarithmic integer from low - 1/2 to high + 1/2, as in the paper."""
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


SPACE = suggest


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    """Grown in steps to be stoppable; scikit-learn makes the same trees as in one go."""
    from sklearn.ensemble import RandomForestClassifier

    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    forest = RandomForestClassifier(
        **parameters, random_state=task.seed, n_jobs=task.threads, warm_start=True
    )
    total = parameters["n_estimators"]
    for count in [*range(_TREES_AT_ONCE, total, _TREES_AT_ONCE), total]:
        if task.stop.is_set():
            return None
        forest.set_params(n_estimators=count).fit(rows, labels, sample_weight=weights)
    trees = [tree.tree_ for tree in forest.estimators_]
    tests = sum(int(tree.node_count - tree.n_leaves) for tree in trees)
    nodes = sum(int(tree.node_count) for tree in trees)
    return Probabilistic(forest, joined(tests, trees=len(trees), nodes=nodes))
