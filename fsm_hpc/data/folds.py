"""Seeded folds and 70/30 splits, the same for every method."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.errors import UserError

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FoldRows:
    """Row numbers of one fold: held-out rows, and the rest split for fitting and choosing."""

    index: int
    train: Rows
    validation: Rows
    test: Rows

    @property
    def fitted(self) -> Rows:
        """All rows but the held-out ones: the paper's W."""
        return np.sort(np.concatenate([self.train, self.validation]))


def fold_rows(rows: int, index: int, folds: int, seed: int, validation_fraction: float) -> FoldRows:
    """Fold `index` of a shuffled partition of `rows` rows into `folds` parts."""
    from sklearn.model_selection import KFold

    if rows < max(folds, 4):
        raise UserError(f"expected at least {max(folds, 4)} rows for {folds} folds, found {rows}")
    partition = KFold(folds, shuffle=True, random_state=seed).split(np.zeros(rows))
    rest, test = list(partition)[index]
    train, validation = split(rest, validation_fraction, seed)
    return FoldRows(index, train, validation, np.sort(test))


def split(rows: Rows, validation_fraction: float, seed: int) -> tuple[Rows, Rows]:
    """The rows in two parts, for training and for validation."""
    from sklearn.model_selection import train_test_split

    count = math.ceil(validation_fraction * len(rows))
    if not 0 < count < len(rows):
        raise UserError(
            f"validation_fraction {validation_fraction} of {len(rows)} rows leaves one part empty"
        )
    train, validation = train_test_split(rows, test_size=count, random_state=seed)
    return np.sort(train), np.sort(validation)
