"""Logistic regression of scikit-learn on standardized columns."""

from __future__ import annotations

import numpy as np
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

SPACE = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    if has_one_class(labels):
        return Constant(bool(labels[0]))
    regression = LogisticRegression(**parameters, max_iter=2000)
    pipeline = make_pipeline(StandardScaler(), regression)
    pipeline.fit(rows, labels, logisticregression__sample_weight=weights)
    return Probabilistic(pipeline, joined(int(np.count_nonzero(regression.coef_))))
