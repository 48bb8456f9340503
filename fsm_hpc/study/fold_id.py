"""The identity of a fold in a study."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from fsm_hpc.data.fold_kind import ALL as ALL
from fsm_hpc.system.numbers import number_ranges

PLAIN = "plain"  # the name of folds with the settings that the study started with


class FoldId(NamedTuple):
    """dataset x method x variant x k, the unit of a study."""

    dataset: str
    method: str
    fold: int
    variant: str = ""  # the settings that differ from those that the study started with: seed=2

    @property
    def part(self) -> str:
        """Its number or `all`, as text."""
        return fold_ranges([self.fold])

    def __str__(self) -> str:
        return "/".join((*self.place, f"fold-{self.part}"))

    @property
    def place(self) -> tuple[str, ...]:
        """The folders between those of the study and of the fold: (bank, pivot, seed=2)."""
        return tuple(filter(None, (self.dataset, self.method, self.variant)))

    @property
    def order(self) -> tuple[str, str, str, int]:
        """The sort key: variants after the plain folds of their method."""
        return self.dataset, self.method, self.variant, self.fold


def fold_ranges(folds: Collection[int]) -> str:
    """`all, 0-3, 7`."""
    numbers = number_ranges(fold for fold in folds if fold != ALL)
    return ", ".join(filter(None, ("all" if ALL in folds else "", numbers)))
