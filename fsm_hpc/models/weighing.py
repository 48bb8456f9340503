"""What each row of a fit counts: sample weights, class weights, and the objective that is left."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from fsm_hpc.search.objective import ACCURACY, Objective, ObjectiveName

BALANCED = "balanced"


@dataclass(frozen=True)
class RowWeights:
    """The rows that count, what each is given, and how both classes are to count together."""

    kept: NDArray[np.int64]  # rows whose weight is not 0
    given: NDArray[np.float64] | None  # of those; None: one each
    objective: Objective
    rows: int  # with those of weight 0
    # without weights of classes, of the rows that count; None: one each
    sample: NDArray[np.float64] | None = None

    @property
    def keeps_all(self) -> bool:
        return len(self.kept) == self.rows

    def renumbered(self, rows: Any) -> NDArray[np.int64]:
        """Rows of the table as they are numbered among those that count."""
        said = np.asarray(rows)
        rows = np.flatnonzero(said) if said.dtype == bool else said
        if self.keeps_all:
            return np.asarray(rows)
        place = np.full(self.rows, -1)
        place[self.kept] = np.arange(len(self.kept))
        found: NDArray[np.int64] = place[rows]
        return found[found >= 0]


def check_class_weight(value: Any) -> None:
    """Raise a ValueError that says what was expected and what was found."""
    if isinstance(value, Mapping):
        wrong = [w for w in value.values() if not _is_weight(w)]
        if wrong:
            raise ValueError(f"class_weight: expected weights from 0 on, found {wrong[0]!r}")
    elif value is not None and value != BALANCED:
        raise ValueError(f"class_weight: expected None, 'balanced' or a dict, found {value!r}")


def _is_weight(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value) and float(value) >= 0


def row_weights(X: Any, y: NDArray[Any], sample_weight: Any, class_weight: Any) -> RowWeights:
    """As scikit-learn has them: a weight of two counts like two rows, one of zero like none.

    Balanced classes are balanced on whatever rows a formula is fitted or judged on.
    """
    weights = np.ones(len(y))
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, X, dtype=np.float64, copy=True, ensure_non_negative=True
        )
    sample = weights
    if isinstance(class_weight, Mapping):
        classes = np.unique(y)
        of_class = compute_class_weight(dict(class_weight), classes=classes, y=y)
        weights = weights * np.asarray(of_class, np.float64)[np.searchsorted(classes, y)]
    kept = np.flatnonzero(weights)
    given = weights[kept]
    is_balanced = not isinstance(class_weight, Mapping) and class_weight == BALANCED
    objective = Objective(ObjectiveName.BALANCED) if is_balanced else ACCURACY
    is_plain = len(given) == 0 or bool((given == given[0]).all())
    different = None if is_plain else given
    counted = None if is_plain and (sample == 1).all() else sample[kept]
    return RowWeights(kept, different, objective, len(y), counted)
