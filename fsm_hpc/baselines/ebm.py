"""Explainable boosting machine of interpret, with its own defaults and fewer rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.typing import NDArray

from fsm_hpc.baselines.base import (
    FittedModel,
    Grid,
    Parameters,
    Size,
    Task,
    fit_probabilistic,
    joined,
)

SPACE: Grid = {}
_ROUNDS = 5000  # instead of 50,000, which a sample without early stopping takes minutes for


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    def is_stopped(*progress: Any) -> bool:
        return task.stop.is_set()

    model = ExplainableBoostingClassifier(
        **parameters,
        random_state=task.seed,
        n_jobs=1,
        callback=is_stopped,
        max_rounds=_ROUNDS,
    )
    return fit_probabilistic(task, fitted, model, _size)


def _size(model: Any) -> Size:
    """A step of a shape function is one test; a table of two columns has one for every cell."""
    return joined(sum(_steps(scores) for scores in model.term_scores_))


def _steps(scores: NDArray[np.float64]) -> int:
    """How often the score of a term changes from one bin to the next, without the missing bins."""
    inner = scores[tuple(slice(1, -1) for _ in scores.shape)]
    if inner.ndim == 1:
        return int(np.count_nonzero(np.diff(inner)))
    return max(len(np.unique(inner)) - 1, 0)
