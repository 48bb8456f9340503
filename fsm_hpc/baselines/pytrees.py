"""Optimal trees of pytrees-rs, on numeric columns as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytrees
from numpy.typing import NDArray

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import Constant, FittedModel, Parameters, Task, grid_of, has_one_class

GRID = {"max_depth": [1, 2, 3, 4]}
_LIMIT_S = 600.0  # the package's own default


def suggest(trial: Any) -> Parameters:
    return grid_of(trial, GRID)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    task.check_unweighted(fitted)
    rows, labels = task.values[fitted], task.labels[fitted]
    if has_one_class(labels):
        return Constant(bool(labels[0]), claims_optimality=True)
    model = pytrees.ConTreeClassifier(**parameters, max_time=task.time_limit_s or _LIMIT_S)
    model.fit(rows, labels.astype(np.int64))
    tree = model.tree_
    root = trees.from_arrays(tree, lambda node: bool(model.classes_[tree.value[node]]))
    return trees.make(root, rows, labels, None, model.status_ == "optimal")
