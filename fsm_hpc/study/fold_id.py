"""Which fold of a study: the name that every room knows it by."""

from __future__ import annotations

from typing import NamedTuple

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
        return str(self.fold)

    def __str__(self) -> str:
        return "/".join((*self.place, f"fold-{self.fold}"))

    @property
    def place(self) -> tuple[str, ...]:
        """The folders between that of the study and its own: (bank, pivot, seed=2)."""
        return tuple(filter(None, (self.dataset, self.method, self.variant)))

    @property
    def order(self) -> tuple[str, str, str, int]:
        """Variants behind the plain folds of their method."""
        return self.dataset, self.method, self.variant, self.fold


class RuleId(FoldId):
    """The rule of a dataset and method, which holds no fold out."""

    @classmethod
    def of(cls, dataset: str, method: str) -> RuleId:
        return cls(dataset, method, -1)

    @property
    def part(self) -> str:
        return "rule"

    def __str__(self) -> str:
        return f"{self.dataset}/{self.method}/rule"
