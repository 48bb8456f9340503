"""Do searches end by themselves, and is what they choose any good?

    python -m benchmarks.stops cells        18 cells of paper_plateau: what ended each fold
    python -m benchmarks.stops estimator    the default FormulaClassifier on scikit-learn's tables
    python -m benchmarks.stops iris         iris versicolor in cross-validation, seed by seed

Small: `cells --datasets hepatitis --methods median --folds 2`, `estimator --tables iris`,
`iris --seeds 1`. Budgets are wall time, so other work on the machine counts against them. Cells are
folds of the study paper_plateau in `--results`, where the repository has them: those that are
there are told, the others run (`--results FOLDER` for all of them anew). Measurements are kept in
`--out` as soon as they are made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as tables
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import DATASETS, METHODS
from fsm_hpc import FormulaClassifier
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study.compose import compose
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.run import run_fold

CELL_DATASETS = tuple(name for name in DATASETS if name != "student_dropout")
BUDGET_H = 0.1
MOST_BY_BUDGET = 0.1  # of the folds
MOST_S = 70.0  # for a default fit, whose own limit is 60
LEAST_ACCURACY = 0.9
DIGIT = 8  # against the other nine; the one that is taken for another most often
Table = tuple[str, Any, Any]


# ---------------------------------------------------------------------------------------- cells


def cells(results: Path, datasets: Sequence[str], methods: Sequence[str], folds: int) -> None:
    """Every cell with nothing set but the budget and the solver, one fold after the other."""
    print(f"what ended the folds, scan.budget_h={BUDGET_H:g}, {folds} folds a cell")
    print(f"{'cell':24} {'seconds':>9} {'longest':>8} {'by budget':>9}  stop reasons")
    done: list[FoldResult] = []
    for dataset in datasets:
        for method in methods:
            ran = [_fold(results, dataset, method, fold) for fold in range(folds)]
            print(_cell_line(f"{dataset} {method}", ran), flush=True)
            done += ran
    spent = sum(map(is_by_budget, done))
    print(
        f"ended by the budget: {spent} of {len(done)} folds, {spent / len(done):.1%}, "
        f"wanted at most {MOST_BY_BUDGET:.0%}"
    )


def _fold(results: Path, dataset: str, method: str, fold: int) -> FoldResult:
    place = ("+experiment=paper_plateau", f"results_dir={results}")
    words = (f"dataset={dataset}", f"method={method}", f"fold={fold}", f"scan.budget_h={BUDGET_H}")
    done = run_fold(compose([*place, *words]))
    assert done is not None  # nobody asks it to stop
    return done


def is_by_budget(done: FoldResult) -> bool:
    return done.stop_reason == StopReason.TIMEOUT.value or not done.proved


def _cell_line(name: str, ran: Sequence[FoldResult]) -> str:
    seconds = [done.seconds.total for done in ran]
    reasons = Counter(done.stop_reason for done in ran).most_common()
    told = ", ".join(f"{count} {reason}" for reason, count in reasons)
    spent = sum(map(is_by_budget, ran))
    return f"{name:24} {sum(seconds):9.1f} {max(seconds):8.1f} {spent:9}  {told}"


# ------------------------------------------------------------------------------------ estimator


def estimator(cache: ResultCache, chosen: Sequence[str]) -> None:
    """Seconds of a default fit, each class against the rest."""
    print(f"the default FormulaClassifier().fit, wanted within {MOST_S:g} s")
    print(f"{'table':24} {'rows':>5} {'columns':>7} {'seconds':>8} {'cut':>5} proved  stop reason")
    longest = 0.0
    for name, x, y in _tables(chosen):
        kept = cache.once(f"estimator {name}", partial(fitted, x, y))
        longest = max(longest, kept["seconds"])
        shape = f"{x.shape[0]:5} {x.shape[1]:7}"
        flags = f"{kept['cut']!s:>5} {kept['proved']!s:>6}"
        print(
            f"{name:24} {shape} {kept['seconds']:8.1f} {flags}  {kept['stop_reason']}: "
            f"{kept['formula']}",
            flush=True,
        )
    print(f"longest: {longest:.1f} s")


def _tables(chosen: Sequence[str]) -> Iterator[Table]:
    for name in chosen:
        if name == "made_up":
            yield name, *made_up()
            continue
        table = getattr(tables, f"load_{name}")()
        only = {"digits": [DIGIT], "breast_cancer": [1]}
        for number in only.get(name, range(len(table.target_names))):
            yield f"{name} {table.target_names[number]}", table.data, table.target == number


def made_up(rows: int = 2_000, columns: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Real numbers, a rule over three of them, and a tenth of the answers turned round."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    rule = (x[:, 3] > 0.2) & (x[:, 7] < 0.9) | (x[:, 12] > 1.3)
    return x, rule ^ (rng.random(rows) < 0.1)


def fitted(x: Any, y: Any) -> Results:
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told in `cut` and `proved`
        model = FormulaClassifier().fit(x, y)
    return {
        "seconds": time.monotonic() - started,
        "stop_reason": model.stop_reason_,
        "cut": model.timed_out_,
        "proved": model.proved_,
        "formula": str(model.formula_),
    }


# ----------------------------------------------------------------------------------------- iris


def iris(cache: ResultCache, seeds: int) -> None:
    """Accuracy of ten folds, for each seed of folds and splits."""
    print(f"iris versicolor, ten folds, wanted at least {LEAST_ACCURACY:.0%} for each seed")
    shares = []
    for seed in range(seeds):
        kept = cache.once(f"iris {seed}", partial(versicolor, seed))
        shares.append(kept["accuracy"])
        print(f"seed {seed}: {kept['accuracy']:.1%} in {kept['seconds']:.1f} s", flush=True)
    print(f"worst: {min(shares):.1%}")


def versicolor(seed: int) -> Results:
    table = tables.load_iris()
    folds = KFold(10, shuffle=True, random_state=seed)
    started = time.monotonic()
    model = FormulaClassifier(random_state=seed)
    scores = cross_val_score(model, table.data, table.target == 1, cv=folds)
    return {"accuracy": float(scores.mean()), "seconds": time.monotonic() - started}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stops", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    steps = ("cells", "estimator", "iris")
    parser.add_argument("steps", nargs="*", help=f"{', '.join(steps)}; all if none")
    parser.add_argument("--datasets", nargs="*", default=CELL_DATASETS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--folds", type=int, default=10, help="the first so many of ten")
    everything = ("iris", "wine", "breast_cancer", "digits", "made_up")
    parser.add_argument("--tables", nargs="*", default=everything)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--results", type=Path, default=Path("results"), help="of the cells")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    args = parser.parse_args()
    cache = ResultCache(args.out / "stops.json")
    wanted = args.steps or steps
    unknown = sorted(set(wanted) - set(steps))
    if unknown:
        parser.error(f"expected {', '.join(steps)}, found {', '.join(unknown)}")
    if "cells" in wanted:
        cells(args.results, args.datasets, args.methods, args.folds)
    if "estimator" in wanted:
        estimator(cache, args.tables)
    if "iris" in wanted:
        iris(cache, args.seeds)


if __name__ == "__main__":
    main()
