"""RuleFit of imodels, with its own defaults: a sparse sum of rules and columns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from imodels import RuleFitClassifier
from numpy.typing import NDArray

from fsm_hpc.baselines.base import (
    FittedModel,
    Grid,
    Parameters,
    Task,
    fit_probabilistic,
    joined,
)

SPACE: Grid = {}


def fit(task: Task, fitted: NDArray[np.int64], parameters: Parameters) -> FittedModel | None:
    task.check_unweighted(fitted)
    model = RuleFitClassifier(**parameters, random_state=task.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arguments that newer scikit-learn deprecates
        return fit_probabilistic(task, fitted, model, lambda model: joined(_tests(model)))


def _tests(model: Any) -> int:
    """Conditions of the rules, and columns, with a coefficient other than zero."""
    terms = model._get_rules()
    used = terms[terms["coef"] != 0]
    return int(
        sum(
            1 if t == "linear" else r.count(" and ") + 1
            for t, r in zip(used["type"], used["rule"], strict=True)
        )
    )
