"""Search all units of a bound for families within the slack: threads, time, and where to go on."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
import numpy as np

from fsm_hpc.search.near_optimal.cell_enumeration import CellEnumerator
from fsm_hpc.search.near_optimal.families import RawFamily, Searched, Space, Stretch
from fsm_hpc.search.near_optimal.memory import data_of, found_of, out_of, work_of
from fsm_hpc.search.solvers.base import Control, End
from fsm_hpc.search.solvers.native.kernels.near_units import (
    DONE,
    DROP,
    HALTED,
    PAUSE,
    search_units,
)
from fsm_hpc.search.solvers.native.table import Array

SLICE_S = 0.05  # what a thread takes at a time should last about so long
LOOK_S = 0.02
TOLD_EVERY_S = 1.0
TOLD_COST = 20  # what telling took is so many times less than the pause before it is told again


@dataclass(frozen=True, slots=True)
class Progress:
    """Families found so far, what every row was told by their members, and what is left."""

    families: tuple[RawFamily, ...]
    votes: Array  # by distinct row: members that say yes
    left: tuple[Stretch, ...]
    end: End = End.PROVED  # or why it came back before its end
    is_full: bool = False  # it came back because there were more families than wanted

    @property
    def is_complete(self) -> bool:
        return not self.left

    @property
    def count(self) -> int:
        return sum(family.count for family in self.families)


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


@dataclass
class _Shared:
    """What threads take from and give to."""

    left: deque[Stretch]
    families: list[RawFamily]
    votes: Array
    most: int | None  # families that are wanted
    lock: threading.Lock = field(default_factory=threading.Lock)
    flag: Array = field(default_factory=lambda: np.zeros(2, np.int32))
    failure: list[BaseException] = field(default_factory=list)
    taken: dict[int, Stretch] = field(default_factory=dict)  # by thread: what it is at
    has_begun: bool = False

    def take(self, me: int, count: int) -> Stretch | None:
        """At most so many of the next units; None when there are none."""
        with self.lock:
            if self.flag.any() or not self.left:
                return None
            self.has_begun = True
            one = self.left.popleft()
            end = min(one.end, one.start + count)
            if end < one.end:
                self.left.appendleft(Stretch(one.plan, end, one.end))
            self.taken[me] = msgspec.structs.replace(one, end=end)
            return self.taken[me]

    def give(
        self, me: int, families: Sequence[RawFamily], votes: Array, rest: Stretch | None
    ) -> None:
        """What was found in units, and what is left of them."""
        with self.lock:
            self.families.extend(families)
            self.votes += votes
            del self.taken[me]
            if rest is not None:
                self.taken[me] = rest
            if self.is_full:
                self.flag[DROP] = True

    @property
    def is_full(self) -> bool:
        return self.most is not None and len(self.families) > self.most

    def leave(self, me: int) -> None:
        """Put back what is not done."""
        with self.lock:
            rest = self.taken.pop(me, None)
            if rest is not None:
                self.left.append(rest)


def nothing_yet(space: Space) -> Progress:
    return Progress((), np.zeros(len(space.table.rows), np.int64), tuple(space.everything()))


def enumerate_families(
    space: Space,
    errors: int,
    threads: int,
    control: Control,
    start: Progress | None = None,
    most: int | None = None,
    told: Told = lambda progress: None,
    pause_s: float = math.inf,
) -> Progress:
    """All families with a member of at most so many errors; `told` hears how far it is.

    After `pause_s` it comes back as soon as the families at hand are searched: what takes longer
    than that would never end if it were dropped.
    """
    start = start or nothing_yet(space)
    goal = space.table.positives - errors
    shared = _Shared(deque(start.left), list(start.families), start.votes.copy(), most)
    workers = [
        threading.Thread(target=_guarded, args=(space, goal, shared), daemon=True)
        for _ in range(max(1, threads))
    ]
    reason, began, teller = control.reason_to_end(), time.monotonic(), Teller(told)
    end = reason or End.STOPPED
    shared.flag[DROP] = reason is not None
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            workers[0].join(LOOK_S)
            reason = control.reason_to_end()
            if reason is not None and not shared.flag[DROP]:
                end = reason
                shared.flag[DROP] = True
            if shared.has_begun and time.monotonic() - began >= pause_s:
                shared.flag[PAUSE] = True
            teller.look(lambda: _snapshot(shared, End.STOPPED))
    except BaseException:  # Ctrl-C, say: no thread goes on alone
        shared.flag[DROP] = True
        raise
    if shared.failure:
        raise shared.failure[0]
    return _snapshot(shared, end)


def in_order(families: Iterable[RawFamily]) -> tuple[RawFamily, ...]:
    """The same order whoever found them first."""
    return tuple(sorted(families, key=lambda f: (-f.score, f.plan, f.columns)))


def _snapshot(shared: _Shared, end: End) -> Progress:
    with shared.lock:
        left = tuple(
            sorted([*shared.left, *shared.taken.values()], key=lambda one: (one.plan, one.start))
        )
        is_over = not left
        return Progress(
            in_order(shared.families),
            shared.votes.copy(),
            left,
            End.PROVED if is_over else end,
            shared.is_full and not is_over,
        )


def _guarded(space: Space, goal: int, shared: _Shared) -> None:
    """A thread's life; its failure is told by the caller's thread."""
    me = threading.get_ident()
    try:
        if space.cells is None:
            _work(_BoxEnumerator(space, goal, shared.flag), shared, me)
        else:
            _work(CellEnumerator(space.cells, goal, shared.flag), shared, me)
    except BaseException as failure:  # it is raised again where it can be heard
        shared.failure.append(failure)
        shared.flag[DROP] = True
    finally:
        shared.leave(me)


class _Enumerator(Protocol):
    """Searches units in one thread; what is found comes piece by piece."""

    def search(self, piece: Stretch) -> Iterator[Searched]: ...


def _work(enumerator: _Enumerator, shared: _Shared, me: int) -> None:
    """Take units, search them, give what was found."""
    count = 1
    while (piece := shared.take(me, count)) is not None:
        started = time.monotonic()
        for searched in enumerator.search(piece):
            shared.give(me, *searched)
        took = time.monotonic() - started
        if took < SLICE_S:
            count *= 2
        elif took > 2 * SLICE_S:
            count = max(1, count // 2)


class _BoxEnumerator:
    """Searches boxes of cuts."""

    def __init__(self, space: Space, goal: int, flag: Array) -> None:
        self._space, self._goal, self._flag = space, goal, flag
        variables = space.variables
        self._data = data_of(space.table)
        self._work = work_of(space.table, variables)
        self._found = found_of(space.table, variables)
        self._out = out_of(space.table, variables)

    def search(self, piece: Stretch) -> Iterator[Searched]:
        plan = self._space.plans[piece.plan].arrays
        place = np.array([piece.start, piece.x, piece.y], np.int64)
        status = -1
        while status not in (DONE, HALTED):
            self._out.used[0] = 0
            self._out.votes[:] = 0
            status = search_units(
                self._data,
                plan,
                place,
                piece.end,
                self._goal,
                self._flag,
                self._work,
                self._found,
                self._out,
            )
            start, x, y = place.tolist()
            rest = None if status == DONE else Stretch(piece.plan, start, piece.end, x, y)
            yield Searched(self._families(piece.plan), self._out.votes, rest)

    def _families(self, plan: int) -> list[RawFamily]:
        """The families in the buffer."""
        out = self._out
        variables = self._space.plans[plan].function.variables
        return [
            RawFamily(
                plan,
                tuple(out.columns[n, :variables].tolist()),
                int(out.counts[n]),
                int(out.best[n]),
                tuple(map(tuple, out.ranges[n, :variables].tolist())),
                tuple(map(tuple, out.cuts[n, :variables].tolist())),
            )
            for n in range(int(out.used[0]))
        ]
