"""Search all units of a bound for families within the slack; report progress and resume."""

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

REPORT_EVERY_S = 1.0
REPORT_COST = 20  # the pause is at least so many times the cost of a report


@dataclass(frozen=True, slots=True)
class Progress:
    """Families so far, and the units that remain; units searched twice add no family twice."""

    families: tuple[RawFamily, ...] = ()
    left: tuple[UnitRange, ...] = (UnitRange(0, EVERYTHING),)
    end: End = End.PROVED  # or why it ended early
    is_full: bool = False  # it ended with more families than wanted

    @property
    def is_complete(self) -> bool:
        return not self.left

    @property
    def count(self) -> int:
        return sum(family.count for family in self.families)

    @staticmethod
    def of(sink: Sink, left: tuple[UnitRange, ...], end: End) -> Progress:
        """The state of a search; `left` is read before the families, which may be newer."""
        is_full = bool(left) and sink.is_full
        return Progress(sink.in_order, left, end if left else End.PROVED, is_full)


NOTHING_YET = Progress()
OnProgress = Callable[[Progress], None]


class ProgressReporter:
    """Reports progress at intervals; a large set, whose report is slow, less often."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._due = time.monotonic() + REPORT_EVERY_S

    def report_if_due(self, progress: Callable[[], Progress]) -> None:
        started = time.monotonic()
        if started >= self._due:
            self._on_progress(progress())
            took = time.monotonic() - started
            self._due = started + max(REPORT_EVERY_S, REPORT_COST * took)


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
    on_progress: OnProgress = lambda progress: None,
    pause_s: float = math.inf,
) -> Progress:
    """All families with a member of at most so many errors; `on_progress` receives reports.

    After `pause_s` it returns once the boxes under way are searched.
    """
    sink, ends = Sink(start.families, most), list[End]()
    if not space.units.groups:
        return Progress.of(sink, (), End.PROVED)
    if (reason := control.reason_to_end()) is not None:
        return Progress.of(sink, start.left, reason)
    search = search_for(space, errors, sink, max(1, threads))
    part = Frontier("", space.bound, None, None, start.left)
    run = search.begin(Aim(space.bound, None, 0), part)
    began, reporter = time.monotonic(), ProgressReporter(on_progress)

    def progress(end: End = End.STOPPED) -> Progress:
        return Progress.of(sink, (run.frontier() or part).left, end)

    def watch() -> bool:
        reporter.report_if_due(progress)
        if time.monotonic() - began >= pause_s:
            run.pause()
        reason = control.reason_to_end()
        ends.extend([reason] if reason is not None else [])
        return reason is not None

    is_done = run.wait(watch)
    end = ends[0] if ends else End.STOPPED
    return Progress.of(sink, (), end) if is_done else progress(end)
