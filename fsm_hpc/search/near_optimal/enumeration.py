"""Search all units of a bound for families within the slack: how far it is, and where to go on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from fsm_hpc.search.frontier import EVERYTHING, Frontier, UnitRange
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.sink import RawFamily, Sink
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.solvers.native.search import Aim, Search

TOLD_EVERY_S = 1.0
TOLD_COST = 20  # what telling took is so many times less than the pause before it is told again


@dataclass(frozen=True, slots=True)
class Progress:
    """Families found so far, and what is left; what is searched again brings none of them twice."""

    families: tuple[RawFamily, ...] = ()
    left: tuple[UnitRange, ...] = (UnitRange(0, EVERYTHING),)
    end: End = End.PROVED  # or why it came back before its end
    is_full: bool = False  # it came back because there were more families than wanted

    @property
    def is_complete(self) -> bool:
        return not self.left

    @property
    def count(self) -> int:
        return sum(family.count for family in self.families)

    @staticmethod
    def of(sink: Sink, left: tuple[UnitRange, ...], end: End) -> Progress:
        """How far it is; what is left is read before the families, which may be newer."""
        is_full = bool(left) and sink.is_full
        return Progress(sink.in_order, left, end if left else End.PROVED, is_full)


NOTHING_YET = Progress()
Told = Callable[[Progress], None]


class Teller:
    """Tells now and then how far it is; a large set takes a while to tell, and is told less."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._due = time.monotonic() + TOLD_EVERY_S

    def look(self, progress: Callable[[], Progress]) -> None:
        started = time.monotonic()
        if started >= self._due:
            self._told(progress())
            took = time.monotonic() - started
            self._due = started + max(TOLD_EVERY_S, TOLD_COST * took)


def search_for(space: Space, errors: int, sink: Sink, threads: int, numbering: str = "") -> Search:
    """The search of all units, with a sink for what has at most so many errors."""
    engine = space.units.engine(space.table.positives - errors, sink)
    return Search(engine, threads, numbering)


def enumerate_families(
    space: Space,
    errors: int,
    threads: int,
    control: Control,
    start: Progress = NOTHING_YET,
    most: int | None = None,
    told: Told = lambda progress: None,
    pause_s: float = math.inf,
) -> Progress:
    """All families with a member of at most so many errors; `told` hears how far it is.

    After `pause_s` it comes back as soon as the boxes at hand are searched.
    """
    sink, ends = Sink(start.families, most), list[End]()
    if not space.units.groups:
        return Progress.of(sink, (), End.PROVED)
    if (reason := control.reason_to_end()) is not None:
        return Progress.of(sink, start.left, reason)
    search = search_for(space, errors, sink, max(1, threads))
    part = Frontier("", space.bound, None, None, start.left)
    run = search.begin(Aim(space.bound, None, 0), part)
    began, teller = time.monotonic(), Teller(told)

    def progress(end: End = End.STOPPED) -> Progress:
        return Progress.of(sink, (run.frontier() or part).left, end)

    def watch() -> bool:
        teller.look(progress)
        if time.monotonic() - began >= pause_s:
            run.pause()
        reason = control.reason_to_end()
        ends.extend([reason] if reason is not None else [])
        return reason is not None

    is_done = run.wait(watch)
    end = ends[0] if ends else End.STOPPED
    return Progress.of(sink, (), end) if is_done else progress(end)
