"""Measure the solvers: native against clingo-dl, how far native gets, and how its cost grows.

    python -m benchmarks.solvers ratios     both solvers on eight instances
    python -m benchmarks.solvers reach      the largest bound proved on every table, by method
    python -m benchmarks.solvers scaling    time against rows, bound and threads, as figures

Every measurement is kept in `--out` as soon as it is made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.encodings import problem_of
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.system.files import write_json

INSTANCES = (
    ("breast_cancer", "pivot", 6),
    ("heart_disease", "pivot", 4),
    ("heart_disease", "median", 6),
    ("german_credit", "pivot", 4),
    ("german_credit", "median", 4),
    ("diabetes", "pivot", 3),
    ("breast_cancer", "interval", 4),
    ("hepatitis", "interval", 4),
)
DATASETS = (
    *("bank", "breast_cancer", "diabetes", "german_credit"),
    *("heart_disease", "hepatitis", "student_dropout"),
)
METHODS = ("median", "pivot", "interval")
REACH_S = (60.0, 300.0)
REPEATS = 15
Results = dict[str, Any]


class Notebook:
    """Measurements by name, on disk after each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: Results = json.loads(path.read_text()) if path.exists() else {}

    def once(self, name: str, measure: Callable[[], Results]) -> Results:
        if name not in self.results:
            self.results[name] = measure()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._path, self.results)
        kept: Results = self.results[name]
        return kept


# --------------------------------------------------------------------------------------- ratios


def timed(make: Callable[[], Solver], problem: Problem, length: int, limit_s: float) -> Results:
    """Time of a new solver to the proved optimum."""
    solver = make()
    started = time.monotonic()
    control = Control(deadline=started + limit_s)
    outcome: Outcome = solver.solve(problem, length, Incumbent(), control)
    seconds = time.monotonic() - started
    solver.close()
    return {
        "seconds": seconds,
        "proved": outcome.proved,
        "errors": outcome.errors,
        "size": outcome.formula.size,
    }


def repeated(problem: Problem, length: int, threads: int) -> Results:
    """Native with warm caches: the median of several runs, each by a new solver."""
    make = partial(Native, threads)
    timed(make, problem, length, math.inf)
    runs = [timed(make, problem, length, math.inf) for _ in range(REPEATS)]
    return sorted(runs, key=lambda run: run["seconds"])[REPEATS // 2]


def ratios(notebook: Notebook, threads: int, limit_s: float) -> None:
    """Native against both encodings: the rules of the paper, and the faster ones shipped."""
    print(
        f"seconds to proved optimum, {threads} threads, fold 0 training part, at most {limit_s:g}"
    )
    logs: dict[Encoding, list[float]] = {Encoding.PLAIN: [], Encoding.FAST: []}
    columns = "".join(f" | {encoding.value:>8} {'ratio':>8}" for encoding in logs)
    print(f"{'instance':26} errors size   native{columns}")
    for dataset, method, length in INSTANCES:
        name = f"{dataset} {method} {length}"
        problem = problem_of(dataset, method)
        ours = notebook.once(
            f"native {name} {threads}", partial(repeated, problem, length, threads)
        )
        row = f"{name:26} {ours['errors']:6} {ours['size']:4} {ours['seconds']:8.4f}"
        for encoding, ratios_so_far in logs.items():
            make = partial(ClingoDl, threads, encoding)
            measure = partial(timed, make, problem, length, limit_s)
            theirs = notebook.once(f"clingo_dl {encoding.value} {name} {threads}", measure)
            _compare(name, ours, theirs)
            ratio = theirs["seconds"] / ours["seconds"]
            ratios_so_far.append(math.log(ratio))
            mark = "" if theirs["proved"] else ">="
            row += (
                f" | {mark + format(theirs['seconds'], '.1f'):>8} {mark + format(ratio, '.0f'):>8}"
            )
        print(row, flush=True)
    for encoding, values in logs.items():
        mean = math.exp(sum(values) / len(values))
        print(f"geometric mean of the ratios to clingo-dl, {encoding.value} encoding: {mean:.0f}")


def _compare(name: str, ours: Results, theirs: Results) -> None:
    same = (ours["errors"], ours["size"]) == (theirs["errors"], theirs["size"])
    if theirs["proved"] and not same:
        raise SystemExit(f"{name}: native {ours} and clingo-dl {theirs} disagree")


# ---------------------------------------------------------------------------------------- reach


def reached(dataset: str, method: str, threads: int, limit_s: float) -> Results:
    """Seconds after which each bound was proved."""
    problem = problem_of(dataset, method)
    solver = Native(threads)
    started = time.monotonic()
    control = Control(deadline=started + limit_s)
    start = Incumbent()
    bounds: list[Results] = []
    while True:
        outcome = solver.solve(problem, len(bounds) + 1, start, control)
        if not outcome.proved:
            break
        bounds.append({"seconds": time.monotonic() - started, "errors": outcome.errors})
        start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length)
        if outcome.errors == problem.fewest_errors:
            break
    is_last = bounds[-1]["errors"] == problem.fewest_errors
    return {"bounds": bounds, "perfect": is_last}


def reach(notebook: Notebook, threads: int, chosen: Sequence[str], limit_s: float) -> None:
    Native(threads).solve(problem_of("hepatitis", "median"), 3, Incumbent(), Control())
    Native(threads).solve(problem_of("hepatitis", "pivot"), 3, Incumbent(), Control())
    limits = [limit for limit in REACH_S if limit <= limit_s] or [limit_s]
    title = " and ".join(f"{limit:g} s" for limit in limits)
    print(f"largest bound proved within {title}, {threads} threads, fold 0 training part")
    print(f"{'':16}" + "".join(f"{method:>24}" for method in METHODS))
    for dataset in chosen:
        cells = []
        for method in METHODS:
            name = f"reach {dataset} {method} {threads} {limit_s:g}"
            found = notebook.once(name, partial(reached, dataset, method, threads, limit_s))
            cells.append(_cell(found, limits))
        print(f"{dataset:16}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def _cell(found: Results, limits: Sequence[float]) -> str:
    """`7 (275) / 8 (270)`: bound and errors for every limit; `all`: longer cannot be better."""
    parts = []
    for limit in limits:
        within = [b for b in found["bounds"] if b["seconds"] <= limit]
        is_all = found["perfect"] and len(within) == len(found["bounds"])
        parts.append(f"{'all' if is_all else len(within)} ({within[-1]['errors']})")
    return " / ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solvers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("steps", nargs="*", default=[], help="ratios, reach, scaling; all if none")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds per measurement")
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/solvers.json"))
    parser.add_argument("--figures", type=Path, default=Path("docs/figures"))
    args = parser.parse_args()
    notebook = Notebook(args.out)
    steps = args.steps or ["ratios", "reach", "scaling"]
    if "ratios" in steps:
        ratios(notebook, args.threads, args.limit)
    if "reach" in steps:
        reach(notebook, args.threads, args.datasets, args.limit)
    if "scaling" in steps:
        from benchmarks.solver_scaling import scaling

        scaling(notebook, args.threads, args.limit, args.figures)


if __name__ == "__main__":
    main()
