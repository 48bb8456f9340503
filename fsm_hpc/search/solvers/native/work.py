"""What is left to search of a size: handed out piece by piece, and how much of it is done."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from fsm_hpc.search.frontier import Leader, UnitRange, units_in
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.engines import UnitGroup, Worker
from fsm_hpc.system.files import PACKAGE

NOTHING = -(1 << 40)  # below every number that a kernel notes


@dataclass(frozen=True, slots=True)
class WorkItem:
    """Units [start, end) of one group, in the numbers of the size, the first perhaps begun."""

    units: UnitGroup
    left: UnitRange


@dataclass(slots=True)
class ThreadProgress:
    """One thread's progress: the work item that is open, how many units to take next."""

    worker: Worker
    group: UnitGroup | None = None
    piece: WorkItem | None = None
    left: UnitRange | None = None  # of the piece, as of the last pause
    spent_s: float = 0.0  # on that piece
    chunk: int = 1
    noted: bytes = b""  # what the kernel had noted of its leader, as of the last pause
    found: Leader | None = None

    def __post_init__(self) -> None:
        self.worker.thread.incumbent[:] = NOTHING
        self.noted = self.worker.thread.incumbent.tobytes()

    @property
    def has_new_leader(self) -> bool:
        """Whether another leader was noted since the last pause."""
        return self.worker.thread.incumbent.tobytes() != self.noted


class UnitQueue:
    """Units that nobody has taken yet, in order."""

    def __init__(self, ranges: Iterable[UnitRange]) -> None:
        self.ranges: deque[UnitRange] = deque()
        self.put_back(ranges)

    def put_back(self, ranges: Iterable[UnitRange]) -> None:
        self.ranges = deque(sorted([*self.ranges, *ranges], key=lambda one: one.start))

    def take(self, count: int) -> UnitRange:
        """At most so many of the first units."""
        first = self.ranges.popleft()
        end = min(first.start + count, first.end)
        if end < first.end:
            self.ranges.appendleft(UnitRange(end, first.end))
        return UnitRange(first.start, end, first.rest)


class Work:
    """The units of a size, by group, and those that nobody has taken yet."""

    def __init__(
        self, groups: Sequence[UnitGroup], left: Iterable[UnitRange] | None = None
    ) -> None:
        self.groups = groups
        self._firsts = [units.first for units in groups]
        given = [UnitRange(0, self.units)] if left is None else left
        self.untaken = UnitQueue(
            UnitRange(one.start, min(one.end, self.units), one.rest)
            for one in given
            if one.start < self.units
        )

    @property
    def units(self) -> int:
        return self.groups[-1].end if self.groups else 0

    def group_of(self, unit: int) -> UnitGroup:
        return self.groups[bisect_right(self._firsts, unit) - 1]

    def next_group(self) -> UnitGroup | None:
        """The group of the piece that is taken next."""
        first = next(iter(self.untaken.ranges), None)
        return None if first is None else self.group_of(first.start)

    def take(self, count: int) -> WorkItem | None:
        """At most so many of the next units; None when there are none."""
        group = self.next_group()
        if group is None:
            return None
        return WorkItem(
            group, self.untaken.take(min(count, group.end - self.untaken.ranges[0].start))
        )

    def share(self, left: Iterable[UnitRange]) -> float:
        """The share of the work that is done when this is left: every group counts by its units."""
        if not self.units:
            return 1.0
        return 1.0 - units_in(left) / self.units


def numbering(problem: Problem) -> str:
    """The digest of all that gives units their numbers: the code, and the problem."""
    return hashlib.sha256((code_digest() + problem.fingerprint).encode()).hexdigest()


@cache
def code_digest() -> str:
    """Of the code that lists and numbers formulas."""
    digest = hashlib.sha256()
    for package in ("formulas", "search"):
        for source in sorted((PACKAGE / package).rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()
