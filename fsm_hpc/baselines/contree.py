"""Optimal trees of pycontree, on numeric columns as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycontree import ConTree

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import FittedModel, Parameters, Task, Values
from fsm_hpc.baselines.trees import Branch, Leaf, Node
from fsm_hpc.formulas.formula import Truth

SPACE = trees.DEPTHS


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    def solve(rows: Values, labels: Truth, limit_s: float) -> tuple[Node, bool]:
        model = ConTree(**parameters, time_limit=limit_s)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(rows, labels.astype(np.int32))
        is_limited = any("time limit" in str(warning.message) for warning in caught)
        return _node(model.get_tree()), not is_limited

    return trees.optimal(task, fitted, solve)


def _node(tree: Any) -> Node:
    if tree.is_leaf_node():
        return Leaf(bool(tree.get_label()))
    below, above = _node(tree.get_left()), _node(tree.get_right())
    return Branch(tree.get_split_feature(), tree.get_split_threshold(), below, above)
