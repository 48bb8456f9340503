"""Which fold of a study: the name that every package knows it by."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from fsm_hpc.data.fold_kind import ALL as ALL
from fsm_hpc.system.numbers import number_ranges

PLAIN = "plain"  # said of folds that have the settings that the study began with


class FoldId(NamedTuple):
    """dataset x method x variant x k, the unit of a study."""

    dataset: str
    method: str
    fold: int
    variant: str = ""  # what differs from the settings that the study began with: seed=2

    @property
    def part(self) -> str:
        """What a table calls it beside its dataset and method."""
        return fold_ranges([self.fold])

    def __str__(self) -> str:
        return "/".join((*self.place, f"fold-{self.part}"))

    @property
    def place(self) -> tuple[str, ...]:
        """The folders between that of the study and its own: (bank, pivot, seed=2)."""
        return tuple(filter(None, (self.dataset, self.method, self.variant)))

    @property
    def order(self) -> tuple[str, str, str, int]:
        """Variants behind the plain folds of their method."""
        return self.dataset, self.method, self.variant, self.fold


def fold_ranges(folds: Collection[int]) -> str:
    """`all, 0-3, 7`."""
    numbers = number_ranges(fold for fold in folds if fold != ALL)
    return ", ".join(filter(None, ("all" if ALL in folds else "", numbers)))
