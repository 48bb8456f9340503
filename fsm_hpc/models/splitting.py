"""Training and validation rows of an estimator: seeded splits, a splitter, or pairs."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import make_splits
from fsm_hpc.models.weighing import RowWeights, paired
from fsm_hpc.search.ladder import Split
from fsm_hpc.search.problem import Problem


def splits_of(estimator: Any, X: Any, fitted: Problem, weights: RowWeights) -> list[Split]:  # noqa: N803
    """Rows to fit on and rows to choose by, as often as the estimator asks for."""
    made = []
    for train, validation in _pairs(estimator, X, fitted, weights):
        parts = [np.asarray(part) for part in (train, validation)]
        if any(part.size == 0 for part in parts):
            raise ValueError("splits: expected rows on both sides of every split, found none")
        parts = [np.flatnonzero(part) if part.dtype == bool else part for part in parts]
        made.append(Split(*(fitted.on(part) for part in parts)))
    if not made:
        raise ValueError("splits: expected at least one split, found none")
    return made


def _pairs(estimator: Any, X: Any, fitted: Problem, weights: RowWeights) -> Iterable[Any]:  # noqa: N803
    seed = check_random_state(estimator.random_state).randint(2**31 - 1)
    if isinstance(estimator.random_state, (int, np.integer)):
        seed = int(estimator.random_state)
    splits = estimator.splits
    if isinstance(splits, Integral):
        fraction = estimator.validation_fraction
        folding = Folding(seed=seed, validation_fraction=fraction, splits=int(splits))
        return make_splits(np.arange(fitted.rows), fitted.labels, None, folding)
    if hasattr(splits, "split"):
        kept = X if weights.keeps_all else _safe_indexing(X, weights.kept)
        pairs: Iterable[Any] = splits.split(kept, fitted.labels)
        return pairs
    return paired(splits, weights)
