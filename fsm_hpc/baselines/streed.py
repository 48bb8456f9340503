"""Optimal trees of pystreed, on columns cut at quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pystreed import STreeDClassifier

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import (
    Constant,
    FittedModel,
    Parameters,
    Task,
    Values,
    grid_of,
    has_one_class,
)
from fsm_hpc.baselines.trees import Branch, Leaf, Node

GRID = {"max_depth": [1, 2, 3, 4]}
_QUANTILES = 10  # thresholds of a numeric column; the package needs binary columns
_LIMIT_S = 600.0  # the package's own default


def suggest(trial: Any) -> Parameters:
    return grid_of(trial, GRID)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    task.check_unweighted(fitted)
    rows, labels = task.values[fitted], task.labels[fitted]
    tests = list(_tests(rows))
    if not tests or has_one_class(labels):
        return Constant(bool(np.mean(labels) > 0.5), claims_optimality=True)
    binary = np.column_stack([rows[:, column] > threshold for column, threshold in tests])
    model = STreeDClassifier(
        **parameters, time_limit=task.time_limit_s or _LIMIT_S, random_seed=task.seed
    )
    model.fit(binary.astype(np.int32), labels.astype(np.int32))
    root = _node(model.get_tree(), tests)
    return trees.make(root, rows, labels, None, bool(model.fit_result.is_optimal()))


def _tests(rows: Values) -> list[tuple[int, float]]:
    """Columns with thresholds: between two values where there are few, else at quantiles."""
    tests = []
    for column in range(rows.shape[1]):
        values = np.unique(rows[:, column])
        middles = (values[:-1] + values[1:]) / 2
        if len(middles) > _QUANTILES:
            shares = np.linspace(0, 1, _QUANTILES + 2)[1:-1]
            middles = np.unique(np.quantile(rows[:, column], shares))
        tests += [(column, float(middle)) for middle in middles]
    return tests


def _node(tree: Any, tests: list[tuple[int, float]]) -> Node:
    if tree.is_leaf_node():
        return Leaf(bool(tree.label))
    below, above = _node(tree.left_child, tests), _node(tree.right_child, tests)
    column, threshold = tests[tree.feature]
    return Branch(column, threshold, below, above)
