"""The search of a Rashomon set in the process of a helper."""

from __future__ import annotations

from dataclasses import dataclass

from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.enumeration import search_for
from fsm_hpc.search.near_optimal.families import Space
from fsm_hpc.search.near_optimal.sink import Sink
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.parts import SearchHost
from fsm_hpc.search.solvers.native.search import Search

_last: dict[tuple[str, int, int], Space] = {}  # the space of the last part


@dataclass(frozen=True, slots=True)
class FamilyQuery:
    """Families within a bound with at most so many errors, `slack` of them above the optimum."""

    bound: int
    errors: int
    slack: int

    def search_of(self, problem: Problem, host: SearchHost) -> Search:
        """The search of a part; its families go to a sink of its own."""
        ensure_compiled()
        key = problem.fingerprint, self.bound, self.slack
        if key not in _last:
            _last.clear()
            _last[key] = Space(problem, self.bound, self.slack)
        return search_for(_last[key], self.errors, Sink(), host.threads)
