"""How a table is cut into folds, and a fold into splits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

ALL = -1  # the number of the fold `all`, which trains on all rows and holds none out


class FoldKind(Enum):
    """How rows are shared out among folds."""

    KFOLD = "kfold"  # at random, as in the paper
    STRATIFIED = "stratified"  # with the same share of each class in every part
    GROUPED = "grouped"  # rows of one group never on both sides


@dataclass(frozen=True, slots=True)
class Folding:
    """How a table is cut into folds, and what is fitted of a fold into splits."""

    kind: FoldKind = FoldKind.KFOLD
    folds: int = 10
    seed: int = 42
    validation_fraction: float = 0.3
    splits: int = 1
