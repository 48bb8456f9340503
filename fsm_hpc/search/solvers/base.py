"""The contract of every solver: the fewest errors within a size, with a proof."""

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
    """Why a solver ended."""

    PROVED = "proved"  # nothing within the size has fewer errors, or as few and is smaller
    TIMEOUT = "timeout"  # the deadline passed
    STOPPED = "stopped"  # a stop was requested
    OUT_OF_MEMORY = "out_of_memory"  # the memory limit was reached
    TOO_LARGE = "too_large"  # the solver cannot number the formulas of a size


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The best known formula, and what is proved about it.

    `proved_length`: no formula of that size or less has fewer errors than the incumbent, or as few
    and is smaller; for an incumbent that is longer itself it claims nothing. `lower_bound`: no
    formula within the length being solved has fewer errors. `frontier`: the state of the search of
    the next size, from a solver that reports it.
    """

    formula: Formula | None = None
    errors: int | None = None
    proved_length: int = 0
    lower_bound: int = 0
    frontier: Frontier | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a solver for one length bound."""

    formula: Formula
    errors: int
    lower_bound: int  # no formula within the length has fewer errors than this
    proved_length: int  # the largest bound up to which optimality is proved
    end: End
    solver: str  # the solver that proved or found it
    frontier: Frontier | None = None  # to resume from, if it is not proved

    @property
    def proved(self) -> bool:
        return self.end is End.PROVED

    @property
    def incumbent(self) -> Incumbent:
        """The incumbent for the next call."""
        return Incumbent(
            self.formula, self.errors, self.proved_length, self.lower_bound, self.frontier
        )


@dataclass(frozen=True, slots=True)
class Control:
    """Limits of a search and the receiver of progress; solvers check it about every 0.1 s."""

    deadline: float | None = None  # on the clock of clock.monotonic()
    stop: threading.Event = field(default_factory=threading.Event)
    memory_mb: float | None = None
    report: Callable[[Incumbent], None] = lambda incumbent: None
    give_up: threading.Event = field(default_factory=threading.Event)  # acts like a passed deadline
    needs_proof: bool = True  # False: a solver may search for better formulas only

    def reason_to_end(self, used_mb: float | None = None) -> End | None:
        """The reason to end now; None while the search may continue."""
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

    One instance serves one caller; it may cache data of a problem between calls.
    """

    @property
    def name(self) -> str: ...

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest.

        `start` is a formula to beat and what is already proved about it. Always returns a formula;
        `end` states whether it is proved, or why not.
        """
        ...

    def close(self) -> None:
        """Release processes and memory; the solver remains usable."""
