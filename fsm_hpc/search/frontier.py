"""The state of the search of one size, from which it resumes on any machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.system import serialization

Rest = tuple[tuple[int, ...], ...]  # the remainder of a unit, in terms of its engine
EVERYTHING = 1 << 62  # above every number of units
FOREVER_S = 1e9  # longer estimates are not reported


class Leader(msgspec.Struct, frozen=True, array_like=True):
    """A formula and its score: positives minus negatives among the rows where it holds."""

    formula: Formula
    score: int
    unit: int = 0  # in which it was found

    @property
    def order(self) -> tuple[int, int]:
        """The highest comes first: the higher score, of equal scores the earlier unit."""
        return self.score, -self.unit


class UnitRange(msgspec.Struct, frozen=True, array_like=True):
    """Units [start, end) that remain, the first of them perhaps partly searched."""

    start: int
    end: int
    rest: Rest = ()


def units_in(ranges: Iterable[UnitRange]) -> int:
    return sum(one.end - one.start for one in ranges)


@dataclass(frozen=True, slots=True)
class Frontier:
    """The units of a size that remain, and the best formula of the others.

    Numbers of units are valid for the same code and problem only: `numbering` is the digest of
    both. Units are searched for formulas that beat the optimum `before` of smaller sizes and
    reach `known`, the score of a formula of this size.
    """

    numbering: str
    size: int
    before: Leader | None
    known: int | None
    left: tuple[UnitRange, ...]
    leader: Leader | None = None
    share: float = 0.0  # of the work that is done
    seconds: float = 0.0  # of the search so far

    def progress(self, length: int) -> float:
        """The share of the search for formulas of a length that is done."""
        return self.share if self.size == length else 0.0

    def left_s(self, length: int) -> float | None:
        """An estimate of the remaining seconds of a length; None without a basis."""
        if self.size != length or self.share <= 0.0 or self.seconds <= 0.0:
            return None
        left_s = self.seconds * (1.0 - self.share) / self.share
        return left_s if left_s < FOREVER_S else None

    @staticmethod
    def verified(saved: Any) -> Frontier | None:
        """The frontier of a file; None if it is absent, invalid or was changed."""
        if not isinstance(saved, dict):
            return None
        content = {name: value for name, value in saved.items() if name != "checksum"}
        try:
            is_unchanged = serialization.checksum(content) == saved.get("checksum")
            return serialization.convert(Frontier, content, "") if is_unchanged else None
        except ValueError:
            return None


def with_checksum(content: dict[str, Any]) -> dict[str, Any]:
    """The content with a checksum: a frontier changed on disk would lead to a false proof."""
    return content | {"checksum": serialization.checksum(content)}
