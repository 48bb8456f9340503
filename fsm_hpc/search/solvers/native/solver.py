"""The native solver behind the contract of all solvers: size by size, canonical, interruptible."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Formula
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.native.bit_engine import BitEngine
from fsm_hpc.search.solvers.native.box_engine import BoxEngine
from fsm_hpc.search.solvers.native.decoder import Leader, build
from fsm_hpc.search.solvers.native.functions import functions
from fsm_hpc.search.solvers.native.kernels.holes import POINT
from fsm_hpc.search.solvers.native.kernels.order import MAX_SCORE
from fsm_hpc.search.solvers.native.search import LOOK_S, Search
from fsm_hpc.search.solvers.native.table import KernelTable

SMALL = 20_000  # rows that are taken in within milliseconds
LOWEST = -MAX_SCORE  # below every score
MOST_KEPT = 8  # problems that are known at a time
KEPT_CELLS = 1 << 25  # of their tables, in every thread


@dataclass(slots=True)
class Knowledge:
    """What is known about one problem; it lives on from length to length."""

    problem: Problem
    table: KernelTable
    search: Search
    positives: int
    optima: list[Leader] = field(default_factory=list)  # of the bounds 1, 2, ...

    @staticmethod
    def of(problem: Problem, threads: int) -> Knowledge:
        if problem.rows >= MAX_SCORE:
            most = f"{MAX_SCORE - 1:,} rows"
            raise UserError(f"expected at most {most} for solver=native, found {problem.rows:,}")
        table = KernelTable(problem)
        is_boolean = all(column.kind == POINT for column in table.columns)
        engine = BitEngine(table) if is_boolean else BoxEngine(table)
        search = Search(engine, threads)
        return Knowledge(problem, table, search, int(problem.labels.sum()))

    @property
    def ceiling(self) -> int:
        """The score that no formula of any size exceeds."""
        return self.positives - self.problem.fewest_errors

    def errors(self, leader: Leader) -> int:
        return self.positives - leader.score


class Native:
    """Proves optima by branch and bound over contexts, holes answered in closed form."""

    name = "native"

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._share = threads
        self._known: OrderedDict[str, Knowledge] = OrderedDict()  # the last one was asked last

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest."""
        end = self._prepare(problem, control)
        known = self._known.get(problem.fingerprint)
        if known is None:
            return _unprepared(problem, length, start, end or End.STOPPED)
        known.search.share = self._share
        return _Solve(known, length, start, control).outcome()

    def share(self, threads: int) -> None:
        """Use only so many of the threads from now on, also in a search that is running."""
        self._share = max(1, threads)
        for known in self._known.values():
            known.search.share = self._share

    def close(self) -> None:
        self._known.clear()

    def _prepare(self, problem: Problem, control: Control) -> End | None:
        """Get to know the problem; on a large one, even that may have to be given up."""
        if problem.fingerprint in self._known:
            self._known.move_to_end(problem.fingerprint)
            return None
        self._forget(problem)
        if problem.rows < SMALL:
            self._known[problem.fingerprint] = Knowledge.of(problem, self._threads)
            return None
        made: Future[Knowledge] = Future()
        threading.Thread(target=self._fulfil, args=(made, problem), daemon=True).start()
        while not made.done():
            wait([made], timeout=LOOK_S)
            if (end := control.reason_to_end()) is not None:
                return end
        self._known[problem.fingerprint] = made.result()
        return None

    def _forget(self, problem: Problem) -> None:
        """Keep what several splits of a scan come back to, as far as it is small."""
        most = KEPT_CELLS // max(1, problem.rows * len(problem.columns) * self._threads)
        while len(self._known) >= min(MOST_KEPT, max(1, most)):
            self._known.popitem(last=False)

    def _fulfil(self, promise: Future[Knowledge], problem: Problem) -> None:
        try:
            promise.set_result(Knowledge.of(problem, self._threads))
        except BaseException as failure:
            promise.set_exception(failure)


def _unprepared(problem: Problem, length: int, start: Incumbent, end: End) -> Outcome:
    """What can be said about a problem before it has been looked at."""
    if start.formula is not None and start.formula.size <= length:
        errors = problem.errors(start.formula)
        proved, bound = start.proved_length, start.lower_bound
        return Outcome(start.formula, errors, bound, min(proved, length), end, Native.name)
    if problem.booleans:
        formula = Atom(problem.booleans[0].proposition)
    else:
        formula = Atom(problem.numerics[0].proposition(0))
    return Outcome(formula, problem.errors(formula), 0, 0, end, Native.name)


class _Solve:
    """One call of `solve`."""

    def __init__(self, known: Knowledge, length: int, start: Incumbent, control: Control) -> None:
        self._known = known
        self._length = length
        self._control = control
        self._end: End | None = None
        self._best = self._first_formula()
        self._hint: Leader | None = None
        if start.formula is not None and start.errors is not None:
            self._take_over(start.formula, start.errors, start.proved_length)

    def outcome(self) -> Outcome:
        known = self._known
        if any(optimum.formula.size > self._length for optimum in known.optima[: self._length]):
            known.optima.clear()  # taken over for longer ones only
        while len(known.optima) < self._length and self._end is None:
            if known.optima and known.optima[-1].score == known.ceiling:
                known.optima.append(known.optima[-1])  # longer cannot be better
            elif not self._is_over():
                self._next_size()
        if len(known.optima) >= self._length:
            best = known.optima[self._length - 1]
            errors = known.errors(best)
            return Outcome(best.formula, errors, errors, self._length, End.PROVED, Native.name)
        assert self._end is not None
        if known.optima and known.optima[-1].score >= self._best.score:
            self._best = known.optima[-1]
        bound = known.problem.fewest_errors
        return Outcome(
            self._best.formula,
            known.errors(self._best),
            bound,
            len(known.optima),
            self._end,
            Native.name,
        )

    # ------------------------------------------------------------------------------ one size

    def _next_size(self) -> None:
        """Prove the optimum of the next size, or find a reason to end."""
        known = self._known
        size = len(known.optima) + 1
        before = known.optima[-1] if known.optima else None
        to_beat = before.score if before else LOWEST
        hint = self._hint.score if self._hint and self._hint.formula.size <= size else None
        found = known.search.run(size, to_beat, hint, self._is_over, self._keep)
        if self._end is not None:
            return
        best = max(
            (f for f in (before, found, *self._constants(size)) if f is not None),
            key=lambda f: (f.score, f is found),
        )
        best = before if before and before.score >= best.score else best
        known.optima.append(best)
        self._report(best, size)

    def _constants(self, size: int) -> list[Leader]:
        """Formulas like `p or not p`, where no cut gives the constant."""
        table = self._known.table
        scores = {0: 0, 1: int(table.weights.sum())}
        atom = self._first_atom()
        return [
            Leader(build(f.tree, [atom]).canonical(), scores[f.table])
            for f in functions(size)
            if f.variables == 0
        ]

    def _keep(self, found: Leader) -> None:
        """A better formula turned up before its size is proved."""
        if found.score > self._best.score:
            self._best = found
            self._report(found, len(self._known.optima))

    # ---------------------------------------------------------------------------- beginnings

    def _first_atom(self) -> Atom:
        column = self._known.table.columns[0]
        low = 0 if column.numeric else 1
        return Atom(column.proposition(low, column.card - 1))

    def _first_formula(self) -> Leader:
        atom = self._first_atom()
        return self._as_found(atom, self._known.problem.errors(atom))

    def _take_over(self, formula: Formula, errors: int, proved_length: int) -> None:
        """An optimum to go on from, or else a score that some formula of its size has."""
        known = self._known
        found = self._as_found(formula, errors)
        if formula.size <= proved_length:
            while len(known.optima) < proved_length:
                known.optima.append(found)  # only the last one is asked for from here on
        else:
            self._hint = found
        if formula.size <= self._length and found.score > self._best.score:
            self._best = found

    def _as_found(self, formula: Formula, errors: int) -> Leader:
        return Leader(formula.canonical(), self._known.positives - errors)

    # -------------------------------------------------------------------------------- the rest

    def _is_over(self) -> bool:
        if self._end is None:
            self._end = self._control.reason_to_end()
        return self._end is not None

    def _report(self, found: Leader, proved_length: int) -> None:
        errors = self._known.errors(found)
        bound = self._known.problem.fewest_errors
        self._control.report(Incumbent(found.formula, errors, proved_length, bound))
