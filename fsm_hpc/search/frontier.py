"""How far the search of one size has come: a small value to go on from, on any machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.system import records

Rest = tuple[tuple[int, ...], ...]  # what is left of a unit that was begun, in its engine's terms
FOREVER_S = 1e9  # three decades: no estimate any more


@dataclass(frozen=True, slots=True)
class Leader:
    """A formula and its score: positives minus negatives among the rows where it holds."""

    formula: Formula
    score: int
    unit: int = 0  # that it was found in

    @property
    def order(self) -> tuple[int, int]:
        """What is greater comes first: the higher score, of equal scores the earlier unit."""
        return self.score, -self.unit


@dataclass(frozen=True, slots=True)
class Left:
    """Units [start, end) that are not searched, the first of them perhaps begun."""

    start: int
    end: int
    rest: Rest = ()


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
    left: tuple[Left, ...]
    leader: Leader | None = None
    share: float = 0.0  # of the work that is done
    seconds: float = 0.0  # that it took so far

    @property
    def left_s(self) -> float | None:
        """About how long the rest takes at the pace so far; None while there is no pace."""
        if self.share <= 0.0 or self.seconds <= 0.0:
            return None
        left_s = self.seconds * (1.0 - self.share) / self.share
        return left_s if left_s < FOREVER_S else None

    def to_dict(self) -> dict[str, Any]:
        return {**self._content(), "seal": self._seal()}

    def _content(self) -> dict[str, Any]:
        return {
            "numbering": self.numbering,
            "size": self.size,
            "before": _leader_to_list(self.before),
            "known": self.known,
            "left": [[one.start, one.end, *map(list, one.rest)] for one in self.left],
            "leader": _leader_to_list(self.leader),
            "share": round(self.share, 6),
            "seconds": round(self.seconds, 3),
        }

    def _seal(self) -> str:
        """A frontier that was changed since it was written would be a false proof."""
        return records.seal(self._content())

    @staticmethod
    def from_dict(saved: object) -> Frontier | None:
        """The frontier as it was written; None where it is none of ours, or was changed."""
        try:
            assert isinstance(saved, dict)
            frontier = Frontier(
                str(saved["numbering"]),
                int(saved["size"]),
                _leader_from_list(saved["before"]),
                None if saved["known"] is None else int(saved["known"]),
                tuple(_left(one) for one in saved["left"]),
                _leader_from_list(saved["leader"]),
                float(saved["share"]),
                float(saved["seconds"]),
            )
            is_ours = math.isfinite(frontier.seconds) and frontier._seal() == saved["seal"]
            return frontier if is_ours else None
        except (AssertionError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            return None


def _left(saved: list[Any]) -> Left:
    start, end, *rest = saved
    return Left(int(start), int(end), tuple(tuple(map(int, part)) for part in rest))


def _leader_to_list(leader: Leader | None) -> list[Any] | None:
    return None if leader is None else [str(leader.formula), leader.score, leader.unit]


def _leader_from_list(saved: list[Any] | None) -> Leader | None:
    if saved is None:
        return None
    formula, score, unit = saved
    if not isinstance(formula, str):
        raise TypeError("expected the text of a formula")
    return Leader(parse(formula), int(score), int(unit))
