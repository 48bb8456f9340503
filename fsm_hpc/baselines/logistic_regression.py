"""Logistic regression of scikit-learn on standardized columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.baselines.base import (
    FittedModel,
    Parameters,
    Size,
    Task,
    fit_probabilistic,
    joined,
)

SPACE = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}


def estimator(seed: int, parameters: Parameters) -> Any:
    """A pipeline that replaces missing values with the median of their column."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(**parameters, max_iter=2000, random_state=seed)
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), regression)


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    return fit_probabilistic(task, fitted, estimator(task.seed, parameters), _size)


def _size(pipeline: Any) -> Size:
    return joined(int(np.count_nonzero(pipeline[-1].coef_)))
