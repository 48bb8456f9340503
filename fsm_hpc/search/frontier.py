"""How far the search of one size has come: a small value to go on from, on any machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.system import serialization

Rest = tuple[tuple[int, ...], ...]  # what is left of a unit that was begun, in its engine's terms
EVERYTHING = 1 << 62  # more units than any size has
FOREVER_S = 1e9  # three decades: no estimate any more


class Leader(msgspec.Struct, frozen=True, array_like=True):
    """A formula and its score: positives minus negatives among the rows where it holds."""

    formula: Formula
    score: int
    unit: int = 0  # that it was found in

    @property
    def order(self) -> tuple[int, int]:
        """What is greater comes first: the higher score, of equal scores the earlier unit."""
        return self.score, -self.unit


class UnitRange(msgspec.Struct, frozen=True, array_like=True):
    """Units [start, end) that are not searched, the first of them perhaps begun."""

    start: int
    end: int
    rest: Rest = ()


def units_in(ranges: Iterable[UnitRange]) -> int:
    return sum(one.end - one.start for one in ranges)


@dataclass(frozen=True, slots=True)
class Frontier:
    """Which units of a size are left, and the best that was found in the others.

    The numbers of units mean something only to the same code on the same problem: `numbering` is
    the digest of both. Units were searched for formulas that beat the optimum `before` of smaller
    sizes and reach `known`, the score of a formula of this size.
    """

    numbering: str
    size: int
    before: Leader | None
    known: int | None
    left: tuple[UnitRange, ...]
    leader: Leader | None = None
    share: float = 0.0  # of the work that is done
    seconds: float = 0.0  # that it took so far

    def progress(self, length: int) -> float:
        """The share of the search for formulas of a length that is done."""
        return self.share if self.size == length else 0.0

    def left_s(self, length: int) -> float | None:
        """About how long the rest of a length takes at the pace so far; None without a pace."""
        if self.size != length or self.share <= 0.0 or self.seconds <= 0.0:
            return None
        left_s = self.seconds * (1.0 - self.share) / self.share
        return left_s if left_s < FOREVER_S else None

    @staticmethod
    def verified(saved: Any) -> Frontier | None:
        """The frontier of a file; None where there is none, or none of ours, or it was changed."""
        if not isinstance(saved, dict):
            return None
        content = {name: value for name, value in saved.items() if name != "checksum"}
        try:
            is_unchanged = serialization.checksum(content) == saved.get("checksum")
            return serialization.convert(Frontier, content, "") if is_unchanged else None
        except ValueError:
            return None


def with_checksum(content: dict[str, Any]) -> dict[str, Any]:
    """For a file: a frontier that was changed since it was written would be a false proof."""
    return content | {"checksum": serialization.checksum(content)}
