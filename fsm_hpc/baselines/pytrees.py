"""Optimal trees of pytrees-rs, on numeric columns as they are."""

from __future__ import annotations

import numpy as np
import pytrees
from numpy.typing import NDArray

from fsm_hpc.baselines import trees
from fsm_hpc.baselines.base import FittedModel, Parameters, Task, Values
from fsm_hpc.baselines.trees import Node
from fsm_hpc.formulas.formula import Truth

SPACE = trees.DEPTHS


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    def solve(rows: Values, labels: Truth, limit_s: float) -> tuple[Node, bool]:
        model = pytrees.ConTreeClassifier(**parameters, max_time=limit_s)
        model.fit(rows, labels.astype(np.int64))
        tree = model.tree_
        root = trees.from_arrays(tree, lambda node: bool(model.classes_[tree.value[node]]))
        return root, model.status_ == "optimal"

    return trees.optimal(task, fitted, solve)
