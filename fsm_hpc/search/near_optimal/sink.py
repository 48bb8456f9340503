"""The sink of a search for the Rashomon set: every family once."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from fsm_hpc.search.solvers.native.engines import Engine
from fsm_hpc.search.solvers.native.kernels.shapes import SharedBest

SMALL_SLACK = 2  # searched in one pass: a pass for the optimum alone would cost as much
GROWTH = 4
Ends = tuple[int, int]  # ranks: the low and the high end of an interval


class RawFamily(msgspec.Struct, frozen=True, array_like=True):
    """A family in terms of the kernels: columns, ranges and thresholds by variable, in ranks."""

    function: int  # its number among those within the bound
    columns: tuple[int, ...]
    count: int
    score: int
    ranges: tuple[tuple[int, int, int, int], ...]
    thresholds: tuple[Ends, ...]

    @property
    def key(self) -> tuple[int, tuple[int, ...]]:
        """Its identity."""
        return self.function, self.columns


def passes(slack: int) -> list[int]:
    """Errors above the optimum that each pass over the units allows: the best come first."""
    if slack <= SMALL_SLACK:
        return [slack]
    allowed = [0, SMALL_SLACK]
    while allowed[-1] < slack:
        allowed.append(min(slack, GROWTH * allowed[-1]))
    return allowed


class Sink:
    """Families by key: units that are searched again after a stop add nothing."""

    def __init__(self, families: Iterable[RawFamily] = (), most: int | None = None) -> None:
        self._families = {family.key: family for family in families}
        self._most = most  # families that are wanted

    def __contains__(self, key: tuple[int, tuple[int, ...]]) -> bool:
        return key in self._families

    def add(self, families: Iterable[RawFamily], shared: SharedBest | None = None) -> None:
        """Keep families; the threads of the shared stop when there are more than wanted."""
        self._families.update((family.key, family) for family in families)
        if shared is not None and self.is_full:
            shared.flag[0] = 1

    @property
    def is_full(self) -> bool:
        return self._most is not None and len(self._families) > self._most

    @property
    def in_order(self) -> tuple[RawFamily, ...]:
        """An order that does not depend on threads."""
        families = list(self._families.values())
        return tuple(sorted(families, key=lambda f: (-f.score, f.function, f.columns)))


class FamilyEngine(Engine):
    """An engine that adds families with at least the score of the goal to a sink."""

    _goal: int
    _sink: Sink

    def collected(self) -> tuple[RawFamily, ...]:
        return self._sink.in_order

    def collect(self, results: Iterable[RawFamily]) -> None:
        self._sink.add(results)
