"""Search all units of a bound for families within the slack; report progress and resume."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fsm_hpc.search.frontier import EVERYTHING, Frontier, UnitRange
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.sink import RawFamily, Sink
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.search import Run, Search, Target
from fsm_hpc.search.solvers.native.spread import Query, Spread, search_with_helpers
from fsm_hpc.search.solvers.native.work import numbering

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
    def of(sink: Sink, left: tuple[UnitRange, ...], end: End | None) -> Progress:
        """The state of a search; `left` is read before the families, which may be newer."""
        end = (end or End.STOPPED) if left else End.PROVED
        return Progress(sink.in_order, left, end, bool(left) and sink.is_full)


NOTHING_YET = Progress()
OnProgress = Callable[[Progress], None]


class ProgressReporter:
    """Reports progress at intervals, a large set less often; keeps the reason to end early."""

    def __init__(self, control: Control, on_progress: OnProgress) -> None:
        self.end: End | None = None
        self._control, self._on_progress = control, on_progress
        self._due = time.monotonic() + REPORT_EVERY_S

    def is_over(self, progress: Callable[[], Progress]) -> bool:
        started = time.monotonic()
        if started >= self._due:
            self._on_progress(progress())
            cost = REPORT_COST * (time.monotonic() - started)
            self._due = started + max(REPORT_EVERY_S, cost)
        self.end = self.end or self._control.reason_to_end()
        return self.end is not None


def search_for(space: Space, errors: int, sink: Sink, threads: int) -> Search:
    """The search of all units; formulas with at most so many errors go to the sink."""
    engine = space.units.engine(space.table.positives - errors, sink)
    return Search(engine, max(1, threads), numbering(space.problem))


def enumerate_families(
    space: Space,
    errors: int,
    threads: int,
    control: Control,
    start: Progress = NOTHING_YET,
    most: int | None = None,
    on_progress: OnProgress = lambda progress: None,
    helpers: Helpers | None = None,
    query: Query | None = None,
) -> Progress:
    """All families with a member of at most so many errors.

    `helpers` take part after a head start; `query` is the same search in their processes.
    """
    sink = Sink(start.families, most)
    if not space.units.groups:
        return Progress.of(sink, (), End.PROVED)
    if (reason := control.reason_to_end()) is not None:
        return Progress.of(sink, start.left, reason)
    search = search_for(space, errors, sink, threads)
    reporter = ProgressReporter(control, on_progress)
    part = Frontier(search.numbering, space.bound, None, 0, start.left)

    def progress(run: Run | Spread) -> Progress:
        return Progress.of(sink, (run.frontier() or part).left, reporter.end)

    run, is_done = search_with_helpers(
        space.problem,
        search,
        Target(space.bound, None, 0),
        part,
        helpers,
        lambda run: sink.is_full or reporter.is_over(lambda: progress(run)),
        query=query,
    )
    return Progress.of(sink, (), End.PROVED) if is_done else progress(run)
