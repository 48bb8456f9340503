"""Time to proved optimum of the shipped encoding against the plain transcription of the paper."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Outcome
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare

INSTANCES = (
    ("breast_cancer", "pivot", 6),
    ("heart_disease", "pivot", 4),
    ("heart_disease", "median", 5),
    ("german_credit", "median", 4),
    ("german_credit", "pivot", 3),
    ("breast_cancer", "interval", 4),
)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one encoding took, and what it found."""

    seconds: float
    outcome: Outcome

    def __str__(self) -> str:
        return f"{'' if self.outcome.proved else '>='}{self.seconds:.2f}"

    @property
    def answer(self) -> str:
        return f"{self.outcome.errors}/{self.outcome.formula.size}"


def problem_of(dataset: str, method: str) -> Problem:
    """The training part of fold 0, as the scan sees it."""
    fold = prepare(compose([f"dataset={dataset}", f"method={method}", "fold=0"]))
    return fold.problem(fold.rows.train)


def time_bound(solver: ClingoDl, problem: Problem, length: int, limit_s: float) -> Timing:
    """Solve one bound from nothing, as the final solve of a fold does."""
    started = time.monotonic()
    outcome = solver.solve(problem, length, Incumbent(), Control(deadline=started + limit_s))
    return Timing(time.monotonic() - started, outcome)


def time_scan(solver: ClingoDl, problem: Problem, length: int, limit_s: float) -> Timing:
    """Solve every bound up to `length`, each from the one before, as the scan of a fold does."""
    started = time.monotonic()
    start = Incumbent()
    for bound in range(1, length + 1):
        outcome = solver.solve(problem, bound, start, Control(deadline=started + limit_s))
        if not outcome.proved:
            break
        start = Incumbent(outcome.formula, outcome.errors, bound)
    return Timing(time.monotonic() - started, outcome)


def compare(
    instances: Sequence[tuple[str, str, int]], threads: int, limit_s: float, is_scan: bool
) -> Iterator[tuple[str, Timing, Timing]]:
    """For each instance its name, the time of the shipped encoding and of the plain one."""
    measure = time_scan if is_scan else time_bound
    solvers = [ClingoDl(threads, encoding) for encoding in (Encoding.FAST, Encoding.PLAIN)]
    for dataset, method, length in instances:
        problem = problem_of(dataset, method)
        for solver in solvers:  # a process that is there and has read clingo, for both alike
            solver.solve(problem, 1, Incumbent(), Control(deadline=time.monotonic() + 1))
        fast, plain = (measure(solver, problem, length, limit_s) for solver in solvers)
        yield f"{dataset} {method} {length}", fast, plain
    for solver in solvers:
        solver.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encodings", description=__doc__)
    parser.add_argument("--threads", type=int, default=2, help="of clingo, for both encodings")
    parser.add_argument("--limit-s", type=float, default=600.0, help="for each instance")
    parser.add_argument("--scan", action="store_true", help="time all bounds up to the one named")
    options = parser.parse_args(arguments)
    print(f"threads {options.threads}, {'bounds 1 to the last' if options.scan else 'one bound'}")
    print(f"{'instance':28}{'errors/size':>12}{'shipped s':>12}{'plain s':>12}{'ratio':>9}")
    ratios = []
    for name, fast, plain in compare(INSTANCES, options.threads, options.limit_s, options.scan):
        ratios.append(plain.seconds / fast.seconds)
        is_least = "" if plain.outcome.proved else ">="
        ratio = f"{is_least}{ratios[-1]:.1f}"
        print(f"{name:28}{fast.answer:>12}{fast!s:>12}{plain!s:>12}{ratio:>9}", flush=True)
        if fast.outcome.proved and plain.outcome.proved and fast.answer != plain.answer:
            raise SystemExit(f"the encodings disagree: {fast.answer} and {plain.answer}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean of the ratios':64}{mean:>9.1f}")


if __name__ == "__main__":
    main()
