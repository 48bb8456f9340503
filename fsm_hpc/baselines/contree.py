"""Optimal trees of pycontree, on numeric columns as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycontree import ConTree

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import Constant, FittedModel, Parameters, Task, grid_of, has_one_class
from fsm_hpc.baselines.trees import Branch, Leaf, Node

GRID = {"max_depth": [1, 2, 3, 4]}
_LIMIT_S = 600.0  # the package's own default


def suggest(trial: Any) -> Parameters:
    return grid_of(trial, GRID)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    task.check_unweighted(fitted)
    rows, labels = task.values[fitted], task.labels[fitted]
    if has_one_class(labels):
        return Constant(bool(labels[0]), claims_optimality=True)
    model = ConTree(**parameters, time_limit=task.time_limit_s or _LIMIT_S)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, labels.astype(np.int32))
    is_limited = any("time limit" in str(warning.message) for warning in caught)
    return trees.make(_node(model.get_tree()), rows, labels, None, not is_limited)


def _node(tree: Any) -> Node:
    if tree.is_leaf_node():
        return Leaf(bool(tree.get_label()))
    below, above = _node(tree.get_left()), _node(tree.get_right())
    return Branch(tree.get_split_feature(), tree.get_split_threshold(), below, above)
