"""The contract of every solver: the fewest errors within a size, and proof of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.frontier import Frontier
from fsm_hpc.search.problem import Problem
from fsm_hpc.system import clock
from fsm_hpc.system.machine import resident_mb


class End(Enum):
    """Why a solver came back."""

    PROVED = "proved"  # nothing within the size has fewer errors, or as few and is smaller
    TIMEOUT = "timeout"  # the deadline passed
    STOPPED = "stopped"  # someone asked it to stop
    OUT_OF_MEMORY = "out_of_memory"  # it would have grown past its memory limit
    TOO_LARGE = "too_large"  # a size has more formulas than it can number


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The best formula known, and what is proved about it.

    `proved_length`: no formula of that size or less has fewer errors than the incumbent, or as few
    and is smaller; for an incumbent that is longer itself it claims nothing. `lower_bound`: no
    formula within the length being solved has fewer errors. `frontier`: how far the search of the
    next size has come, from a solver that can tell.
    """

    formula: Formula | None = None
    errors: int | None = None
    proved_length: int = 0
    lower_bound: int = 0
    frontier: Frontier | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a solver for one length bound."""

    formula: Formula
    errors: int
    lower_bound: int  # no formula within the length has fewer errors than this
    proved_length: int  # the largest bound up to which optimality is proved
    end: End
    solver: str  # who proved it, or who found it
    frontier: Frontier | None = None  # to go on from, where it is not proved

    @property
    def proved(self) -> bool:
        return self.end is End.PROVED

    @property
    def incumbent(self) -> Incumbent:
        """What is known now, to go on from."""
        return Incumbent(
            self.formula, self.errors, self.proved_length, self.lower_bound, self.frontier
        )


@dataclass(frozen=True, slots=True)
class Control:
    """When to give up, and whom to tell about progress. Solvers look at it every 0.1 s or so."""

    deadline: float | None = None  # on the clock of clock.monotonic()
    stop: threading.Event = field(default_factory=threading.Event)
    memory_mb: float | None = None
    report: Callable[[Incumbent], None] = lambda incumbent: None
    give_up: threading.Event = field(default_factory=threading.Event)  # as if the deadline passed

    def reason_to_end(self, used_mb: float | None = None) -> End | None:
        """Why the solver has to come back now, or None while it may go on."""
        if self.stop.is_set():
            return End.STOPPED
        is_late = self.deadline is not None and clock.monotonic() >= self.deadline
        if is_late or self.give_up.is_set():
            return End.TIMEOUT
        if self.memory_mb is not None and (used_mb or resident_mb()) > self.memory_mb:
            return End.OUT_OF_MEMORY
        return None


class Solver(Protocol):
    """Finds the best formula within a size.

    One instance serves one caller; it may keep what it learnt about a problem between calls.
    """

    @property
    def name(self) -> str: ...

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest.

        `start` is a formula to beat and what is already proved about it. Always comes back with
        a formula; `end` says whether it is proved, and why not.
        """
        ...

    def close(self) -> None:
        """Give back processes and memory; the solver may be used again afterwards."""
