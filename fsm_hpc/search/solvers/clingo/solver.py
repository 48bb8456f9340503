"""Find the best formula with answer set programming modulo difference logic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.search.checking import usable_start
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.shortest import check_length
from fsm_hpc.search.solvers.base import Control, End, Incumbent, Outcome
from fsm_hpc.search.solvers.clingo import parts
from fsm_hpc.search.solvers.clingo.facts import Instance
from fsm_hpc.search.solvers.clingo.process import ClingoProcess
from fsm_hpc.search.solvers.clingo.worker import AnswerSet, Exhausted, Failed, Job
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.simple import best_simple, constants, worth_of

CHECK_S = 0.05  # interval between checks of the control


@dataclass(frozen=True, slots=True)
class _Best:
    """The best formula so far; of equally good ones the shorter is better."""

    formula: Formula
    errors: int

    def is_beaten_by(self, formula: Formula, errors: int) -> bool:
        return (errors, formula.size) < (self.errors, self.formula.size)

    def errors_to_reach(self, size: int) -> int:
        """The most errors with which a formula of that size would be better."""
        return self.errors if size < self.formula.size else self.errors - 1


class ClingoDl:
    """Runs clingo with its difference logic theory in a process of its own."""

    name = "clingo_dl"

    def __init__(self, threads: int = 1, encoding: Encoding = Encoding.FAST) -> None:
        self._threads = threads
        self._encoding = encoding
        self._process = ClingoProcess()
        self._instance: Instance | None = None
        self.conflicts = 0  # of all completed searches

    def solve(self, problem: Problem, length: int, start: Incumbent, control: Control) -> Outcome:
        """The formula of size <= `length` with the fewest errors, among those the smallest."""
        check_length(problem, length)
        search = _Search(self, problem, length, start, control)
        end = search.plain() if self._encoding is Encoding.PLAIN else search.size_by_size()
        return search.outcome(end)

    def close(self) -> None:
        self._process.end()

    @property
    def worker_pid(self) -> int | None:
        """The process of clingo; None while it does not run."""
        return self._process.pid

    def instance(self, problem: Problem) -> Instance:
        """The facts of a problem, cached until the next problem."""
        if self._instance is None or self._instance.problem is not problem:
            self._instance = Instance(problem, merged=self._encoding is Encoding.FAST)
        return self._instance

    def job(self, instance: Instance, length: int, bound: int | None) -> Job:
        problem = instance.problem
        return Job(
            entry=str(parts.entry(problem, self._encoding)),
            parts=tuple(map(str, parts.beside(problem, self._encoding))),
            facts=f"{instance.facts}\n{parts.connectives(problem, self._encoding)}",
            constants=self._constants(problem, length),
            options=self._options(),
            has_thresholds=problem.method is not Method.MEDIAN,
            bound=bound,
        )

    def messages(self, job: Job, control: Control, take: Callable[[AnswerSet], None]) -> End | None:
        """Run a job to its end (None), or until the control ends it."""
        self._process.start(job)
        while True:
            message = self._process.next_message(CHECK_S)
            if isinstance(message, AnswerSet):
                take(message)
            elif isinstance(message, Exhausted):
                self.conflicts += message.conflicts
                return None
            elif isinstance(message, Failed):
                return self._failure(message)
            if end := control.reason_to_end(self._process.memory_mb):
                self._process.end()
                return end

    def _constants(self, problem: Problem, length: int) -> dict[str, int]:
        constants = {"l": length}
        if self._encoding is Encoding.FAST:
            constants["least"] = length
        if problem.constraints.binds:
            constants["leaves"] = parts.leaves(problem, length)
        return constants

    def _options(self) -> tuple[str, ...]:
        if self._encoding is Encoding.PLAIN:
            return (f"--parallel-mode={self._threads},compete",)  # clingo's default
        return (f"--parallel-mode={self._threads},split", "--heuristic=Domain")

    def _failure(self, failed: Failed) -> End:
        self._process.end()
        if failed.is_memory:
            return End.OUT_OF_MEMORY
        raise RuntimeError(f"the clingo-dl process ended with an error: {failed.message}")


class _Search:
    """One call of `solve`: the best formula so far, and the search steps."""

    def __init__(
        self, solver: ClingoDl, problem: Problem, length: int, start: Incumbent, control: Control
    ) -> None:
        self._solver = solver
        self._problem = problem
        self._length = length
        self._control = control
        start = usable_start(problem, start)
        self._best, self._proved_length = _first(problem, length, start)
        self._lower_bound = max(problem.fewest_errors, start.lower_bound)

    def size_by_size(self) -> End:
        """Search every size that is not proved yet for better formulas."""
        instance = self._solver.instance(self._problem)
        for size in range(self._proved_length + 1, self._length + 1):
            if end := self._control.reason_to_end():
                return end
            for formula in constants(self._problem, size):
                self._take(formula)
            bound = self._best.errors_to_reach(size)
            if bound >= self._lower_bound:
                job = self._solver.job(instance, size, bound - instance.offset)
                if end := self._solver.messages(job, self._control, self._take_model):
                    return end
            self._proved_length = size
        return End.PROVED

    def plain(self) -> End:
        """Solve the paper's program for the bound, without a start."""
        if end := self._control.reason_to_end():
            return end
        job = self._solver.job(self._solver.instance(self._problem), self._length, None)
        end = self._solver.messages(job, self._control, self._take_model)
        self._proved_length = self._proved_length if end else self._length
        return end or End.PROVED

    def outcome(self, end: End) -> Outcome:
        is_proved = end is End.PROVED
        return Outcome(
            formula=self._best.formula,
            errors=self._best.errors,
            lower_bound=self._best.errors if is_proved else self._lower_bound,
            proved_length=self._proved_length,
            end=end,
            solver=self._solver.name,
        )

    def _take_model(self, model: AnswerSet) -> None:
        self._take(self._solver.instance(self._problem).formula(model.sequence, model.thresholds))

    def _take(self, formula: Formula) -> None:
        """Keep and report a formula if it is better."""
        errors = self._problem.errors(formula)
        if self._best.is_beaten_by(formula, errors):
            self._best = _Best(formula, errors)
            self._control.report(Incumbent(formula, errors, self._proved_length, self._lower_bound))


def _first(problem: Problem, length: int, start: Incumbent) -> tuple[_Best, int]:
    """A formula to beat, and the size up to which it is proved to be the best."""
    # perhaps no literal or constant meets the constraints
    single = best_simple(problem, length, worth_of(problem)) or problem.shortest
    best = _Best(single, problem.errors(single))
    if start.formula is None or start.errors is None or start.formula.size > length:
        return best, 0
    errors = start.errors
    # if the formula exceeds the proved length, shorter ones may be as good
    proved = start.proved_length if start.formula.size <= start.proved_length else 0
    if proved or best.is_beaten_by(start.formula, errors):
        best = _Best(start.formula, errors)
    return best, min(proved, length)
