"""FIGS of imodels: a sum of small trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from imodels import FIGSClassifier
from numpy.typing import NDArray

from fsm_hpc.baselines.base import (
    FittedModel,
    Parameters,
    Size,
    Task,
    fit_probabilistic,
    joined,
)

SPACE = {"max_rules": [4, 8, 12, 16]}


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    state = np.random.get_state()
    np.random.seed(task.seed)  # imodels breaks ties with numpy's global generator
    try:
        model = FIGSClassifier(**parameters, random_state=task.seed)
        return fit_probabilistic(task, fitted, model, _size)
    finally:
        np.random.set_state(state)


def _size(model: Any) -> Size:
    tests = int(model.complexity_)
    return joined(tests, trees=len(model.trees_), nodes=2 * tests + 1)
