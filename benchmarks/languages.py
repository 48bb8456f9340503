"""What each language gives on the seven tables: size, held-out accuracy and processor time.

    python -m benchmarks.languages --limit 2

A fold's own procedure with native on one thread: lengths are searched on the training part until
`--longest`, or until the scan has used `--limit` seconds of processor time; the best on the
validation part is searched again on both, with as much time. Every fold is kept in `--out` as soon
as it is done; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import DATASETS, processor_limit
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare


@dataclass(frozen=True, slots=True)
class Effort:
    """How long formulas may be, and how long a search may take."""

    longest: int
    limit_s: float


def scanned(train: Problem, validation: Problem, effort: Effort) -> tuple[int, int]:
    """The smallest proved length of the best validation accuracy, and the largest proved one."""
    solver, start, accuracies = Native(1), Incumbent(), list[float]()
    with processor_limit(effort.limit_s) as control:
        while len(accuracies) < effort.longest:
            outcome = solver.solve(train, len(accuracies) + 1, start, control)
            if not outcome.proved:
                break
            accuracies.append(validation.accuracy(outcome.formula))
            start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length)
    return accuracies.index(max(accuracies)) + 1 if accuracies else 1, len(accuracies)


def measured(dataset: str, language: Language, fold: int, effort: Effort) -> Results:
    """One fold: the formula that it ends with, and what that took."""
    made = prepare(compose([f"dataset={dataset}", "method=pivot", f"fold={fold}"]))
    rows = made.rows
    parts = (rows.train, rows.validation, rows.fitted, rows.test)
    train, validation, fitted, test = (
        replace(made.problem(part), language=language) for part in parts
    )
    started = time.process_time()
    length, proved = scanned(train, validation, effort)
    with processor_limit(effort.limit_s) as control:
        found = Native(1).solve(fitted, length, Incumbent(), control)
    return {
        "formula": str(found.formula),
        "size": found.formula.size,
        "accuracy": test.accuracy(found.formula),
        "seconds": time.process_time() - started,
        "proved": found.proved,
        "scanned": proved,
    }


def cell(folds: Sequence[Results], longest: int) -> str:
    """Size, accuracy, and seconds, which have a + where time ended a scan or a proof."""
    size, accuracy, seconds = (
        fmean(float(one[key]) for one in folds) for key in ("size", "accuracy", "seconds")
    )
    is_whole = all(one["proved"] and one["scanned"] == longest for one in folds)
    shown = f"{size:.0f}" if size == int(size) else f"{size:.1f}"
    return f"{shown:>4} {100 * accuracy:5.1f} {seconds:5.1f}{' ' if is_whole else '+'}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.languages", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--folds", type=int, default=1, help="the first so many of ten")
    parser.add_argument("--longest", type=int, default=6)
    parser.add_argument("--limit", type=float, default=2.0, help="processor seconds of a search")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/languages.json"))
    given = parser.parse_args(arguments)
    cache, effort = ResultCache(given.out), Effort(given.longest, given.limit)
    ensure_compiled()  # before any clock runs
    print(f"pivot, {given.folds} of 10 folds, lengths to {effort.longest}: size, % right, seconds")
    print(f"{'':16}" + "".join(f"{language.value:>18}" for language in Language))
    for dataset in given.datasets:
        line = f"{dataset:16}"
        for language in Language:
            name = f"{dataset} {language.value} {effort.longest} {effort.limit_s:g}"
            folds = [
                cache.once(f"{name} {fold}", partial(measured, dataset, language, fold, effort))
                for fold in range(given.folds)
            ]
            line += f"{cell(folds, effort.longest):>18}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
