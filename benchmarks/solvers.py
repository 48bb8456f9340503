"""Measure the solvers: native against clingo-dl, how far native gets, and how its cost grows.

    python -m benchmarks.solvers ratios     both solvers on eight instances
    python -m benchmarks.solvers reach      the largest bound proved on every table, by method
    python -m benchmarks.solvers long       processor time of long searches; with --against also
                                            that of another checkout, in turns, and of trees
    python -m benchmarks.solvers trees      native's bounds beside ConTree's optimal trees
    python -m benchmarks.solvers scaling    time against rows, columns, bound, threads, as figures

`ratios` and the threads of `scaling` are wall time and want an idle machine; all else is processor
time, which other work on the machine changes little. Every measurement is kept in `--out` as soon
as it is made; the same command goes on from there. `trees` and `long` measure
pycontree, pytrees-rs and pystreed where they are installed.
"""

from __future__ import annotations

import argparse
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks import long_searches
from benchmarks.encodings import problem_of
from benchmarks.result_cache import ResultCache, Results
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent, Outcome, Solver
from fsm_hpc.search.solvers.clingo.solver import ClingoDl
from fsm_hpc.search.solvers.names import Encoding
from fsm_hpc.search.solvers.native import Native

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
STEPS = ("ratios", "reach", "long", "trees", "scaling")
REACH_S = (120.0, 600.0)  # of processor time: what two cores do in one minute and in five
TREES_AT = ("bank", "student_dropout", "german_credit", "heart_disease")
TREE_DEPTHS = (2, 3)
REPEATS = 15


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


def ratios(cache: ResultCache, threads: int, limit_s: float) -> None:
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
        ours = cache.once(f"native {name} {threads}", partial(repeated, problem, length, threads))
        row = f"{name:26} {ours['errors']:6} {ours['size']:4} {ours['seconds']:8.4f}"
        for encoding, ratios_so_far in logs.items():
            make = partial(ClingoDl, threads, encoding)
            measure = partial(timed, make, problem, length, limit_s)
            theirs = cache.once(f"clingo_dl {encoding.value} {name} {threads}", measure)
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


@contextmanager
def processor_limit(limit_s: float) -> Iterator[Control]:
    """A control that asks a solver to stop once this process has used so much time."""
    control, over, until = Control(), threading.Event(), time.process_time() + limit_s

    def watch() -> None:
        while time.process_time() < until:
            if over.wait(0.1):
                return
        control.stop.set()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield control
    finally:
        over.set()
        watcher.join()


def reached(dataset: str, method: str, threads: int, limit_s: float, last: int = 99) -> Results:
    """Processor seconds after which each bound was proved."""
    problem = problem_of(dataset, method)
    solver = Native(threads)
    started = time.process_time()
    start = Incumbent()
    bounds: list[Results] = []
    with processor_limit(limit_s) as control:
        while len(bounds) < last:
            outcome = solver.solve(problem, len(bounds) + 1, start, control)
            if not outcome.proved:
                break
            spent = time.process_time() - started
            bounds.append({"seconds": spent, "errors": outcome.errors})
            start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length)
            if outcome.errors == problem.fewest_errors:
                break
    is_last = bounds[-1]["errors"] == problem.fewest_errors
    return {"bounds": bounds, "perfect": is_last}


def reach(cache: ResultCache, chosen: Sequence[str], limit_s: float) -> None:
    _load_kernels(1)
    limits = [limit for limit in REACH_S if limit <= limit_s] or [limit_s]
    title = " and ".join(f"{limit:g} s" for limit in limits)
    print(f"largest bound proved within {title} of processor time, fold 0 training part")
    print(f"{'':16}" + "".join(f"{method:>24}" for method in METHODS))
    for dataset in chosen:
        cells = []
        for method in METHODS:
            name = f"reach {dataset} {method} {limit_s:g}"
            found = cache.once(name, partial(reached, dataset, method, 1, limit_s))
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


def _load_kernels(threads: int) -> None:
    for method in METHODS:
        Native(threads).solve(problem_of("hepatitis", method), 3, Incumbent(), Control())


# ----------------------------------------------------------------------------------------- long


def long(cache: ResultCache, against: str | None, rounds: int, chosen: Sequence[str]) -> None:
    """All bounds up to the last one: what a change to the kernels is held against."""
    if against is not None:
        long_searches.compare(against, rounds, chosen)
        long_searches.beside(chosen)
        return
    _load_kernels(1)
    print("processor seconds for all bounds up to this one, one thread, fold 0 training part")
    for one in long_searches.INSTANCES:
        if one.dataset in chosen and one.slack is None:
            measure = partial(reached, one.dataset, one.method, 1, math.inf, one.last)
            last = cache.once(f"long {one.name}", measure)["bounds"][-1]
            print(f"{one.name:26} {last['seconds']:8.2f}   {last['errors']} errors", flush=True)


# ---------------------------------------------------------------------------------------- trees


def grown(dataset: str, depth: int) -> Results:
    """ConTree's optimal tree of that depth on the rows that native's pivots are fitted on."""
    import pandas as pd
    from pycontree import ConTree  # not a package that this project asks for

    problem = problem_of(dataset, "pivot")
    rows = pd.DataFrame({name: values.astype(float) for name, values in problem.table.items()})
    labels = problem.labels.astype(int)
    tree = ConTree(max_depth=depth, time_limit=600)
    started = time.process_time()
    tree.fit(rows, labels)
    seconds = time.process_time() - started
    return {"seconds": seconds, "errors": int((tree.predict(rows) != labels).sum())}


def trees(cache: ResultCache) -> None:
    """Another problem (cuts in a tree), but what a user would try instead."""
    _load_kernels(1)
    heads = "".join(f" | {f'tree of depth {depth}':>16} errors" for depth in TREE_DEPTHS)
    print("processor seconds, one thread, pivot, fold 0 training part")
    print(f"{'':16} bounds 1-6 errors{heads}")
    for dataset in TREES_AT:
        ours = partial(reached, dataset, "pivot", 1, 600.0, 6)
        last = cache.once(f"beside trees {dataset}", ours)["bounds"][-1]
        line = f"{dataset:16} {last['seconds']:10.2f} {last['errors']:6}"
        for depth in TREE_DEPTHS:
            kept = cache.once(f"tree {dataset} {depth}", partial(grown, dataset, depth))
            line += f" | {kept['seconds']:16.2f} {kept['errors']:6}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solvers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("steps", nargs="*", default=[], help=f"{', '.join(STEPS)}; all if none")
    parser.add_argument("--threads", type=int, default=2, help="for ratios; else one")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds per measurement")
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--against", help="for long: a revision, or the folder of a checkout")
    parser.add_argument("--rounds", type=int, default=3, help="for long --against")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/solvers.json"))
    parser.add_argument("--figures", type=Path, default=Path("docs/figures"))
    args = parser.parse_args()
    cache = ResultCache(args.out)
    steps = args.steps or STEPS
    if "ratios" in steps:
        ratios(cache, args.threads, args.limit)
    if "reach" in steps:
        reach(cache, args.datasets, args.limit)
    if "long" in steps:
        long(cache, args.against, args.rounds, args.datasets)
    if "trees" in steps:
        trees(cache)
    if "scaling" in steps:
        from benchmarks.solver_scaling import scaling

        scaling(cache, args.limit, args.figures)


if __name__ == "__main__":
    main()
