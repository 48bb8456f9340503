"""Which units of a size nobody has yet, and which are out with somebody."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fsm_hpc.search.frontier import UnitRange

PART_S = 2.0  # a part comes back after so long, with what is left of it
AIMED = 0.7  # of that time: most parts are done before it is over
GROWTH = 4  # of parts, from one to the next


def units_in(left: Iterable[UnitRange]) -> int:
    return sum(one.end - one.start for one in left)


class Ledger:
    """Hands out parts from the front, so that units are searched about in their order.

    Out of order the same leader prunes less: a formula of the same score is no better in a later
    unit, but would be in an earlier one.
    """

    def __init__(self, left: Iterable[UnitRange]) -> None:
        self._untaken = sorted(left, key=_start)
        self._out: dict[int, tuple[UnitRange, ...]] = {}
        self._parts = 0
        self._count = 1  # units of the next part

    @property
    def is_done(self) -> bool:
        return not self._untaken and not self._out

    @property
    def has_more(self) -> bool:
        return bool(self._untaken)

    def left(self) -> tuple[UnitRange, ...]:
        """All that is not searched: what is out counts whole until it comes back."""
        out = (one for part in self._out.values() for one in part)
        return tuple(sorted([*self._untaken, *out], key=_start))

    def take(self, takers: int) -> tuple[int, tuple[UnitRange, ...]]:
        """The next part and its number; so small that `takers` would all have one."""
        wanted = min(self._count, math.ceil(units_in(self._untaken) / takers))
        part: list[UnitRange] = []
        while wanted > 0 and self._untaken:
            first = self._untaken.pop(0)
            end = min(first.start + wanted, first.end)
            if end < first.end:
                self._untaken.insert(0, UnitRange(end, first.end))
            part.append(UnitRange(first.start, end, first.rest))
            wanted -= end - first.start
        self._parts += 1
        self._out[self._parts] = tuple(part)
        return self._parts, tuple(part)

    def bring_back(self, number: int, left: Iterable[UnitRange], seconds: float) -> None:
        """A part is searched but for what is left of it."""
        left = tuple(left)
        searched = units_in(self._out[number]) - units_in(left)
        self._count = max(
            1, min(GROWTH * self._count, int(searched * AIMED * PART_S / max(seconds, 1e-3)))
        )
        self._put_back(number, left)

    def give_up(self, number: int) -> None:
        """Nobody knows what became of a part: it is searched anew."""
        self._put_back(number, self._out[number])

    def _put_back(self, number: int, left: tuple[UnitRange, ...]) -> None:
        del self._out[number]
        self._untaken = sorted([*self._untaken, *left], key=_start)


def _start(one: UnitRange) -> int:
    return one.start
