"""Which fold of a study: the name that every room knows it by."""

from __future__ import annotations

from typing import NamedTuple


class FoldId(NamedTuple):
    """dataset x method x k, the unit of a study."""

    dataset: str
    method: str
    fold: int

    def __str__(self) -> str:
        return f"{self.dataset}/{self.method}/fold-{self.fold}"
