"""Search the near-optimal set here and with helpers at once, to the set that one machine finds."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate

from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.enumeration import (
    Progress,
    Teller,
    Told,
    enumerate_families,
    in_order,
    nothing_yet,
)
from fsm_hpc.search.near_optimal.families import RawFamily, Space, Stretch
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.solvers.native.parts import PART_S, Desk, Helpers, Parts
from fsm_hpc.search.solvers.native.work import numbering

_last: dict[tuple[str, int], Space] = {}  # of a helper: what it had parts of last


@dataclass(frozen=True, slots=True)
class GoodPart:
    """What a part brought: its families and their votes, what is left of it, and the time."""

    numbering: str
    progress: Progress
    seconds: float


@dataclass(frozen=True, slots=True)
class GoodOrder:
    """A part of a near-optimal set for a helper."""

    numbering: str
    bound: int
    errors: int
    left: tuple[Stretch, ...]
    seconds: float

    def search(self, problem: Problem, desk: Desk) -> GoodPart:
        ensure_compiled()
        return self.search_in(_space_of(problem, self.bound), desk.threads, threading.Event())

    def search_in(self, space: Space, threads: int, stop: threading.Event) -> GoodPart:
        """What these units bring within about so long, or until there is a wish to stop."""
        if self.numbering != numbering(space.problem):  # units of these numbers would be others
            raise RuntimeError("expected units of this code and problem, found others")
        started = time.monotonic()
        start = replace(nothing_yet(space), left=self.left)
        control = Control(stop=stop)
        found = enumerate_families(
            space, self.errors, threads, control, start, pause_s=self.seconds
        )
        return GoodPart(self.numbering, found, time.monotonic() - started)


def _space_of(problem: Problem, bound: int) -> Space:
    key = problem.fingerprint, bound
    if key not in _last:
        _last.clear()
        _last[key] = Space(problem, bound)
    return _last[key]


class GoodSpread(Parts[GoodPart]):
    """A near-optimal set: its parts, and what they have brought so far.

    Units are numbered through all plans, so that the parts of sizes serve here, too.
    """

    def __init__(
        self, space: Space, errors: int, threads: int, start: Progress, helpers: Helpers
    ) -> None:
        whole = [one.end for one in space.everything()]
        self._firsts = [0, *accumulate(whole)][: len(whole)]
        super().__init__(space.problem, map(self._numbered, start.left), helpers)
        self._space, self._errors, self._threads = space, errors, threads
        self._numbering = numbering(space.problem)
        self._families: list[RawFamily] = list(start.families)
        self._votes = start.votes.copy()

    def progress(self, end: End = End.STOPPED, most: int | None = None) -> Progress:
        """What was found, and what is left: parts that are out count as not searched."""
        left = tuple(map(self._stretch, self.left()))
        return Progress(
            in_order(self._families),
            self._votes.copy(),
            left,
            end if left else End.PROVED,
            bool(left) and self.is_full(most),
        )

    def is_full(self, most: int | None) -> bool:
        return most is not None and len(self._families) > most

    def _order(self, left: tuple[UnitRange, ...]) -> GoodOrder:
        return GoodOrder(
            self._numbering,
            self._space.bound,
            self._errors,
            tuple(map(self._stretch, left)),
            PART_S,
        )

    def _search_here(self, order: GoodOrder) -> GoodPart:
        return order.search_in(self._space, self._threads, self._stop)

    def _keep(self, found: GoodPart) -> tuple[list[UnitRange], float]:
        if found.numbering != self._numbering:
            raise RuntimeError("expected a part of this search, found another")
        self._families += found.progress.families
        self._votes += found.progress.votes
        return list(map(self._numbered, found.progress.left)), found.seconds

    def _numbered(self, one: Stretch) -> UnitRange:
        first = self._firsts[one.plan]
        rest = ((one.x, one.y),) if one.x or one.y else ()
        return UnitRange(first + one.start, first + one.end, rest)

    def _stretch(self, one: UnitRange) -> Stretch:
        plan = bisect_right(self._firsts, one.start) - 1
        first = self._firsts[plan]
        x, y = one.rest[0] if one.rest else (0, 0)
        return Stretch(plan, one.start - first, one.end - first, x, y)


def enumerate_spread(
    space: Space,
    errors: int,
    threads: int,
    control: Control,
    helpers: Helpers,
    start: Progress | None = None,
    most: int | None = None,
    told: Told = lambda progress: None,
) -> Progress:
    """The same as `enumerate_families`: after a head start alone, on all nodes that there are."""
    alone = start or nothing_yet(space)
    if helpers.head_start_s > 0:
        alone = enumerate_families(
            space, errors, threads, control, start, most, told, pause_s=helpers.head_start_s
        )
    if alone.is_complete or alone.is_full or control.reason_to_end() is not None:
        return alone
    spread = GoodSpread(space, errors, threads, alone, helpers)
    ends: list[End] = []
    spread.wait(_watching(spread, control, most, told, ends))
    return spread.progress(ends[0] if ends else End.STOPPED, most)


def _watching(
    spread: GoodSpread, control: Control, most: int | None, told: Told, ends: list[End]
) -> Callable[[], bool]:
    """Tells now and then how far it is; whether to stop, with the reason in `ends`."""
    teller = Teller(told)

    def watch() -> bool:
        teller.look(spread.progress)
        reason = control.reason_to_end()
        if reason is not None:
            ends.append(reason)
        return reason is not None or spread.is_full(most)

    return watch
