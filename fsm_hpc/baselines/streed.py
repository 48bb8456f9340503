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
)
from fsm_hpc.baselines.trees import Branch, Leaf, Node
from fsm_hpc.formulas.formula import Truth

SPACE = trees.DEPTHS
_QUANTILES = 10  # thresholds of a numeric column; the package needs binary columns


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    tests = _tests(task.values[fitted])
    if not tests:
        task.check_unweighted(fitted)
        return Constant(bool(np.mean(task.labels[fitted]) > 0.5), claims_optimality=True)

    def solve(rows: Values, labels: Truth, limit_s: float) -> tuple[Node, bool]:
        binary = np.column_stack([rows[:, column] > threshold for column, threshold in tests])
        model = STreeDClassifier(**parameters, time_limit=limit_s, random_seed=task.seed)
        model.fit(binary.astype(np.int32), labels.astype(np.int32))
        return _node(model.get_tree(), tests), bool(model.fit_result.is_optimal())

    return trees.optimal(task, fitted, solve)


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
