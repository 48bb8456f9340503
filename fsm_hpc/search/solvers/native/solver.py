"""The native solver behind the contract of all solvers: size by size, canonical, interruptible."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.checking import usable_start
from fsm_hpc.search.frontier import EVERYTHING, Frontier, Leader, UnitRange
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import check_length
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.native.engine_choice import choose_engine
from fsm_hpc.search.solvers.native.kernels.ranking import MAX_SCORE
from fsm_hpc.search.solvers.native.local_search import LocalSearch, Pace
from fsm_hpc.search.solvers.native.parts import Helpers
from fsm_hpc.search.solvers.native.search import POLL_S, Run, Search, Target
from fsm_hpc.search.solvers.native.spread import Spread, search_with_helpers
from fsm_hpc.search.solvers.native.table import KernelTable
from fsm_hpc.search.solvers.native.work import numbering
from fsm_hpc.search.solvers.simple import MISSING_SIZE, constants, missing_constants

SMALL = 20_000  # rows that are prepared within milliseconds
LOCAL_ONLY_S = 60.0  # for the local search where a size is too large, and no time limit is set
REPORT_EVERY_S = 1.0  # progress of a size
MOST_KEPT = 8  # problems in the cache
KEPT_CELLS = 1 << 25  # of their tables, in every thread
log = logging.getLogger(__name__)


@dataclass(slots=True)
class ProblemCache:
    """Tables, search state and proved optima of one problem, kept from length to length."""

    problem: Problem
    table: KernelTable
    search: Search
    local: LocalSearch
    optima: list[Leader | None] = field(default_factory=list)  # of the bounds 1, 2, ...

    @staticmethod
    def of(problem: Problem, threads: int) -> ProblemCache:
        largest = max(problem.positives, problem.weight - problem.positives)
        if largest >= MAX_SCORE:
            most = f"{MAX_SCORE - 1:,} rows"
            raise UserError(f"expected at most {most} for solver=native, found {problem.rows:,}")
        table = KernelTable(problem)
        search = Search(choose_engine(table), threads, numbering(problem))
        return ProblemCache(problem, table, search, LocalSearch(problem, table))

    @property
    def ceiling(self) -> int:
        """The score that no formula of any size exceeds."""
        return self.problem.positives - self.problem.fewest_errors

    @property
    def last(self) -> Leader | None:
        """The optimum of the largest bound that is proved; None where no formula is so small."""
        return self.optima[-1] if self.optima else None

    def errors(self, leader: Leader) -> int:
        return self.problem.positives - leader.score


class Native:
    """Proves optima by branch and bound over contexts, free literals solved in closed form."""

    name = "native"

    def __init__(self, threads: int = 1, helpers: Helpers | None = None) -> None:
        self._threads = threads
        self._helpers = helpers
        self._share = threads
        self._known: OrderedDict[str, ProblemCache] = OrderedDict()  # the most recent one last

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest."""
        check_length(problem, length)
        end = self._prepare(problem, control)
        known = self._known.get(problem.fingerprint)
        if known is None:
            return _unprepared(problem, length, start, end or End.STOPPED)
        known.search.share = self._share
        start = usable_start(problem, start)
        return _Solve(known, length, start, control, self._helpers).outcome()

    def knowledge(self, problem: Problem) -> ProblemCache:
        """The cached data of a problem."""
        self._prepare(problem, Control())
        return self._known[problem.fingerprint]

    def share(self, threads: int) -> None:
        """Use only so many of the threads from now on, also in a search that is running."""
        self._share = max(1, threads)
        for known in self._known.values():
            known.search.share = self._share

    def close(self) -> None:
        self._known.clear()

    def _prepare(self, problem: Problem, control: Control) -> End | None:
        """Prepare the problem, unless the time limit has passed; the reason to end, if any.

        A request to stop ends this at once; a deadline does not, since the best literal needs the
        same columns.
        """
        if problem.fingerprint in self._known:
            self._known.move_to_end(problem.fingerprint)
            return None
        if (end := control.reason_to_end()) is not None:
            return end
        self._forget(problem)
        if problem.rows < SMALL:
            self._known[problem.fingerprint] = ProblemCache.of(problem, self._threads)
            return None
        preparing = ThreadPoolExecutor(1)  # the end of the process waits for it
        future = preparing.submit(ProblemCache.of, problem, self._threads)
        preparing.shutdown(wait=False)
        while not future.done():
            wait([future], timeout=POLL_S)
            if (end := control.reason_to_end()) not in (None, End.TIMEOUT):
                return end
        self._known[problem.fingerprint] = future.result()
        return None

    def _forget(self, problem: Problem) -> None:
        """Drop the oldest problems; the splits of a scan stay where they are small."""
        most = KEPT_CELLS // max(1, problem.rows * len(problem.columns) * self._threads)
        while len(self._known) >= min(MOST_KEPT, max(1, most)):
            self._known.popitem(last=False)


def _unprepared(problem: Problem, length: int, start: Incumbent, end: End) -> Outcome:
    """The outcome without a search: the start, or the shortest formula."""
    start = usable_start(problem, start)
    formula, proved, bound = start.formula, min(start.proved_length, length), start.lower_bound
    if formula is None or formula.size > length:
        formula = problem.shortest
        proved = bound = 0
    errors = problem.errors(formula)
    return Outcome(formula, errors, bound, proved, end, Native.name, start.frontier)


class _Solve:
    """One call of `solve`."""

    def __init__(
        self,
        known: ProblemCache,
        length: int,
        start: Incumbent,
        control: Control,
        helpers: Helpers | None = None,
    ) -> None:
        self._known = known
        self._helpers = helpers
        self._length = length
        self._control = control
        self._end: End | None = None
        shortest = known.problem.shortest
        self._best = self._leader(shortest)
        self._hint: Leader | None = None
        self._frontier: Frontier | None = None
        self._upper_bound: int | None = None  # the highest score that is left of the size
        self._report_at = 0.0
        self._pace = Pace(alone=not control.needs_proof)
        self._give_up_at: float | None = None  # where a size cannot be searched
        if start.formula is not None:
            self._take_over(start.formula, start.proved_length)
        if start.frontier is not None:
            self._resume(start.frontier)

    def outcome(self) -> Outcome:
        known, control = self._known, self._control
        if any(one and one.formula.size > self._length for one in known.optima[: self._length]):
            known.optima.clear()  # taken over for longer ones only
        while len(known.optima) < self._length and self._end is None:
            if known.last is not None and known.last.score == known.ceiling:
                known.optima.append(known.last)  # longer cannot be better
            elif len(known.optima) + 1 < known.problem.shortest.size:
                known.optima.append(None)
            elif not self._is_over():
                self._next_size() if control.needs_proof else self._watch(None)
        if len(known.optima) >= self._length:
            best = known.optima[self._length - 1]
            assert best is not None
            errors = known.errors(best)
            return Outcome(best.formula, errors, errors, self._length, End.PROVED, Native.name)
        assert self._end is not None
        if known.last is not None and known.last.score >= self._best.score:
            self._best = known.last
        best, proved_length = self._best, len(known.optima)
        errors, bound = known.errors(best), known.problem.fewest_errors
        if self._upper_bound is not None and proved_length + 1 == self._length:
            bound = max(bound, known.problem.positives - max(self._upper_bound, best.score))
        frontier = self._resume_point(best)
        return Outcome(best.formula, errors, bound, proved_length, self._end, Native.name, frontier)

    # ------------------------------------------------------------------------------ one size

    def _next_size(self) -> None:
        """Prove the optimum of the next size, or find a reason to end."""
        known = self._known
        size = len(known.optima) + 1
        before = known.last
        if size == MISSING_SIZE:  # the search may take these for formulas
            for constant in map(self._leader, missing_constants(known.problem)):
                before = constant if before is None or constant.score > before.score else before
        known_score = self._known_score(size)
        target = Target(size, before, known_score)
        run, is_done = search_with_helpers(
            known.problem,
            known.search,
            target,
            self._frontier,
            self._helpers,
            self._watch,
            self._keep,
        )
        if not is_done:
            self._frontier = run.frontier() or self._frontier
            self._upper_bound = run.upper_bound()
            return
        self._frontier = None
        found = run.leader
        fixed = map(self._leader, constants(known.problem, size))
        best = max(
            (f for f in (before, found, *fixed) if f is not None),
            key=lambda f: (f.score, f is found),
        )
        best = before if before and before.score >= best.score else best
        assert known_score is None or best.score >= known_score, "a known formula was not found"
        known.optima.append(best)
        known.local.learn(best.formula)
        self._report(best if best.score >= self._best.score else self._best, size)

    def _known_score(self, size: int) -> int | None:
        """The best score that a formula of at most this size is known to have."""
        local = self._known.local.best(size)
        hint = self._hint if self._hint and self._hint.formula.size <= size else None
        return max((one.score for one in (local, hint) if one is not None), default=None)

    def _watch(self, run: Run | Spread | None) -> bool:
        """Search locally, and report now and then how far the proof is; whether to stop."""
        self._search_locally()
        if isinstance(run, Run) and run.is_too_large:
            self._give_up_in_time()
        if time.monotonic() >= self._report_at:
            if self._report_at > 0.0:
                self._frontier = (run and run.frontier()) or self._frontier
                self._report(self._best, len(self._known.optima))
            self._report_at = time.monotonic() + REPORT_EVERY_S
        return self._is_over()

    def _give_up_in_time(self) -> None:
        """Warn that the size is too large; without a time limit end after a minute."""
        size = len(self._known.optima) + 1
        if self._give_up_at is None:
            self._give_up_at = time.monotonic() + LOCAL_ONLY_S
            log.warning(
                "size %d has more formulas than can be numbered: nothing longer than %d is "
                "proved, and only the local search goes on",
                size,
                size - 1,
            )
        if self._control.deadline is None and time.monotonic() >= self._give_up_at:
            self._end = self._end or End.TOO_LARGE

    def _search_locally(self) -> None:
        """Run the local search for its share of the time."""
        local = self._known.local
        self._pace.run(local, self._length, len(self._known.optima))
        found = local.best(self._length)
        if found is not None:
            self._keep(found)

    def _keep(self, found: Leader) -> None:
        """Keep and report a better formula, before its size is proved."""
        if found.score > self._best.score:
            self._best = found
            self._report(found, len(self._known.optima))

    # ---------------------------------------------------------------------------- beginnings

    def _take_over(self, formula: Formula, proved_length: int) -> None:
        """Take the start as a proved optimum, or else as a known score of its size."""
        known = self._known
        found = self._leader(formula)
        if formula.size <= proved_length:
            while len(known.optima) < proved_length:
                known.optima.append(found)  # only the last one is asked for from here on
        else:
            self._hint = found
            known.local.learn(formula)
        if formula.size <= self._length and found.score > self._best.score:
            self._best = found

    def _resume(self, frontier: Frontier) -> None:
        """Resume an interrupted search of the same problem."""
        known = self._known
        if frontier.numbering != known.search.numbering or frontier.size > self._length:
            return
        self._frontier = frontier
        if frontier.before is not None:
            while len(known.optima) < frontier.size - 1:
                known.optima.append(frontier.before)
        if frontier.leader is not None and frontier.leader.score > self._best.score:
            self._best = frontier.leader

    def _leader(self, formula: Formula) -> Leader:
        errors = self._known.problem.errors(formula)
        return Leader(formula.canonical(), self._known.problem.positives - errors)

    # -------------------------------------------------------------------------------- the rest

    def _is_over(self) -> bool:
        if self._end is None:
            self._end = self._control.reason_to_end()
        return self._end is not None

    def _report(self, found: Leader, proved_length: int) -> None:
        errors = self._known.errors(found)
        bound = self._known.problem.fewest_errors
        frontier = self._resume_point(found)
        self._control.report(Incumbent(found.formula, errors, proved_length, bound, frontier))

    def _resume_point(self, found: Leader) -> Frontier | None:
        """The frontier; before the next size has one, all of it, so that proofs are not lost."""
        size, before = len(self._known.optima) + 1, self._known.last
        if self._frontier is not None or found.formula.size < size or before is None:
            return self._frontier
        everything = (UnitRange(0, EVERYTHING),)
        return Frontier(self._known.search.numbering, size, before, None, everything)
