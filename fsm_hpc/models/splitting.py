"""Training and validation rows of an estimator: seeded splits, a splitter, or pairs."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import make_splits
from fsm_hpc.models.weighing import RowWeights

Pair = tuple[NDArray[np.int64], NDArray[np.int64]]


def pairs_of(estimator: Any, X: Any, labels: NDArray[Any], weights: RowWeights) -> list[Pair]:
    """Rows to fit on and rows to choose by, among those that count, as `cv` asks for."""
    pairs = []
    for pair in _pairs(estimator, X, labels, weights):
        parts = [np.asarray(part) for part in pair]
        if any(part.size == 0 for part in parts):
            raise ValueError("cv: expected rows on both sides of every split, found none")
        pairs.append((parts[0], parts[1]))
    if not pairs:
        raise ValueError("cv: expected at least one split, found none")
    return pairs


def _pairs(estimator: Any, X: Any, labels: NDArray[Any], weights: RowWeights) -> Iterable[Any]:
    cv = estimator.cv
    if isinstance(cv, Integral):
        seed = estimator.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        fraction = estimator.validation_fraction
        folding = Folding(seed=int(seed), validation_fraction=fraction, splits=int(cv))
        return make_splits(np.arange(len(labels)), labels, None, folding)
    if hasattr(cv, "split"):
        kept = X if weights.keeps_all else _safe_indexing(X, weights.kept)
        pairs: Iterable[Any] = cv.split(kept, labels)
        return pairs
    return ([weights.renumbered(part) for part in pair] for pair in cv)
