"""CART of scikit-learn with depth 3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import FittedModel, Parameters, Task

SPACE = {"max_depth": [3]}


def estimator(seed: int, parameters: Parameters) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(**{"max_depth": 3, **parameters}, random_state=seed)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    cart = estimator(task.seed, parameters)
    cart.fit(rows.astype(np.float32), labels, sample_weight=weights)
    tree = cart.tree_
    root = trees.from_arrays(tree, lambda node: bool(cart.classes_[np.argmax(tree.value[node])]))
    return trees.make(root, rows.astype(np.float32), labels, weights)
