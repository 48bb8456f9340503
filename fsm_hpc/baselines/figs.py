"""FIGS of imodels: a sum of small trees."""

from __future__ import annotations

import numpy as np
from imodels import FIGSClassifier
from numpy.typing import NDArray

from fsm_hpc.baselines.base import (
    Constant,
    FittedModel,
    Parameters,
    Probabilistic,
    Task,
    has_one_class,
    joined,
)

SPACE = {"max_rules": [4, 8, 12, 16]}


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    if has_one_class(labels):
        return Constant(bool(labels[0]))
    model = FIGSClassifier(**parameters, random_state=task.seed)
    state = np.random.get_state()
    np.random.seed(task.seed)  # imodels breaks ties with numpy's global generator
    try:
        model.fit(rows, labels.astype(int), sample_weight=weights)
    finally:
        np.random.set_state(state)
    tests = int(model.complexity_)
    return Probabilistic(model, joined(tests, trees=len(model.trees_), nodes=2 * tests + 1))
