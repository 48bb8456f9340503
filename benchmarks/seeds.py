"""How far the figures of a cell move with chance alone: with the folds, and with the tuning.

    python -m benchmarks.seeds folds      formula methods on the folds of other seeds
    python -m benchmarks.seeds refits     baselines on those folds, with the kept parameters
    python -m benchmarks.seeds swaps      baselines of the study with each other's parameters
    python -m benchmarks.seeds tuning     baselines tuned anew on the folds of the study
    python -m benchmarks.seeds table      what is kept; nothing is run

`folds` runs whole folds under the product's own end of a scan (`+experiment=paper_plateau`), where
one of them takes seconds, or does so with `--longest` below its 10. `refits` tunes nothing: fold k
of another seed gets the parameters that fold k of results/paper was tuned to, so that what moves is
the rows. `swaps` gives all ten folds of the study the parameters of one of them, its number being
the seed: what moves is what tuning chose. Both are kinder than the paper's procedure, as the rows
that parameters were chosen on are partly held-out ones here. `tuning` gives Optuna and the model
another seed, with the 100 trials of the study. One seed of a cell is one measurement, kept in
`--out` as soon as it is made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev, stdev

import numpy as np
from numpy.typing import NDArray

from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import DATASETS
from fsm_hpc.baselines import load, tuning
from fsm_hpc.baselines.base import Task
from fsm_hpc.report.collect import finds_formula
from fsm_hpc.report.tables import paper
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold import Fold, prepare
from fsm_hpc.study.run import run_fold

OUT = Path("results/benchmarks/seeds.json")
FOLDS = range(10)
SEED = 42  # of the studies
BASELINES = ("random_forest", "xgboost")
QUICK = (  # ten folds take seconds of processor time
    *("hepatitis median", "hepatitis pivot", "hepatitis interval"),
    *("heart_disease median", "heart_disease interval"),
    *("diabetes median", "breast_cancer median"),
)
DRAWS = 20_000
MIDDLE = (2.5, 97.5)  # percent
SMALL = tuple(f"{name} {method}" for name in ("hepatitis", "heart_disease") for method in BASELINES)
Measure = Callable[[str, str, int], Results]


def folds(dataset: str, method: str, seed: int, longest: int = 10) -> Results:
    """The ten folds of a seed, each run as a study runs it."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["+experiment=paper_plateau", f"results_dir={folder}", f"seed={seed}"]
        words += [f"dataset={dataset}", f"method={method}", f"scan.max_length={longest}"]
        done = [run_fold(compose([*words, f"fold={fold}"])) for fold in FOLDS]
    ended = [one for one in done if one is not None]  # all of them: nobody asks them to stop
    return {
        "right": [one.accuracy.test for one in ended],
        "size": [one.size for one in ended],
        "longest": longest,
    }


def refits(dataset: str, method: str, seed: int) -> Results:
    """The ten folds of a seed with the parameters of the kept ones, refitted."""
    return {"right": [_refitted(_fold(dataset, method, fold, seed), fold) for fold in FOLDS]}


def swaps(dataset: str, method: str, seed: int) -> Results:
    """The ten folds of the study, all with the parameters of the one that `seed` names."""
    return {"right": [_refitted(_fold(dataset, method, fold, SEED), seed) for fold in FOLDS]}


def _refitted(made: Fold, tuned_on: int) -> float:
    """The share of a fold's held-out rows that is right with the parameters of a kept fold."""
    place = StudyPaths(Path("results/paper")).fold(made.config.id._replace(fold=tuned_on))
    kept = result.read(place.result)
    assert kept is not None
    assert kept.model is not None
    values = made.dataset.table().to_numpy(dtype=np.float64)
    chosen = made.config.method.name
    task = Task(values, made.dataset.labels, chosen, made.config.seed, 1, threading.Event())
    model = load(chosen).fit(task, made.rows.fitted, kept.model["parameters"])
    assert model is not None  # nobody asks it to stop
    return task.accuracy(model, made.rows.test)


def tuned(dataset: str, method: str, seed: int) -> Results:
    """The ten folds of the study, tuned with another seed."""
    right = []
    for fold in FOLDS:
        made = _fold(dataset, method, fold, SEED)
        trials = made.config.method.trials
        assert trials is not None
        with tempfile.TemporaryDirectory() as folder:
            fitted = tuning.fit(
                made.dataset,
                made.rows,
                made.config.method.name,
                trials=trials,
                seed=seed,
                threads=1,
                record=Path(folder) / "trials.json",
                stop=threading.Event(),
                on_trial=lambda count, best: None,
            )
        assert fitted is not None
        right.append(float(np.mean(fitted.test == made.dataset.labels[made.rows.test])))
    return {"right": right}


def _fold(dataset: str, method: str, fold: int, seed: int) -> Fold:
    words = [f"dataset={dataset}", f"method={method}", f"fold={fold}", f"seed={seed}"]
    return prepare(compose(["+experiment=paper", *words]))


STEPS: dict[str, tuple[Measure, Sequence[str]]] = {
    "folds": (folds, QUICK),
    "refits": (refits, tuple(f"{name} {method}" for name in DATASETS[:-1] for method in BASELINES)),
    "swaps": (swaps, SMALL),
    "tuning": (tuned, SMALL),
}


# ----------------------------------------------------------------------------------------- table


def table(kept: Results, step: str) -> list[str]:
    """Mean accuracy of ten folds: over seeds, and the paper's beside it."""
    lines = [
        "| dataset | method | seeds | largest length | lowest | mean | highest | deviation "
        "| paper | paper's mean is |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for name, runs in cells(kept, step):
        dataset, method = name.split()
        means = [100 * fmean(one["right"]) for one in runs]
        theirs = paper.accuracy()[dataset, method][0]
        where = "within" if min(means) <= theirs <= max(means) else "outside"
        longest = max(one.get("longest", 10) for one in runs) if finds_formula(method) else "–"
        lines.append(
            f"| {dataset} | {method} | {len(means)} | {longest} | {min(means):.1f} "
            f"| {fmean(means):.1f} | {max(means):.1f} | {stdev(means):.1f} | {theirs:.1f} "
            f"| {where} |"
        )
    return lines if lines[2:] else ["No cell has been run with two seeds so far."]


def cells(kept: Results, step: str) -> Iterator[tuple[str, list[Results]]]:
    """Every cell that was run with several seeds, and its measurements."""
    for dataset, method in paper.accuracy():
        start = f"{step} {dataset} {method} "
        runs = [one for key, one in kept.items() if key.startswith(start)]
        if len(runs) > 1:
            yield f"{dataset} {method}", runs


def reshuffled(runs: Sequence[Results]) -> list[float]:
    """The middle 95 % of means of ten folds, each of which is of another shuffle of the rows."""
    return _middle(_drawn(_each_fold(runs)))


def _each_fold(runs: Sequence[Results]) -> list[float]:
    return [100 * value for one in runs for value in one["right"]]


def _drawn(right: Sequence[float]) -> NDArray[np.float64]:
    folds = np.random.default_rng(SEED).choice(right, (DRAWS, len(FOLDS)))
    return np.asarray(folds.mean(axis=1))


def _middle(drawn: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in np.percentile(drawn, MIDDLE)]


def reshuffled_table(kept: Results) -> list[str]:
    """The runs on other folds, put together anew: no fold shares its shuffle with another."""
    lines = [
        "| dataset | method | number of folds | deviation of one fold | middle 95 % of ten "
        "| paper | paper's mean is | share at least as far |",
        "|---|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, runs in (cell for step in ("folds", "refits") for cell in cells(kept, step)):
        dataset, method = name.split()
        right = _each_fold(runs)
        drawn, middle = _drawn(right), fmean(right)
        low, high = _middle(drawn)
        theirs = paper.accuracy()[dataset, method][0]
        where = "within" if low <= theirs <= high else "outside"
        as_far_off = np.mean(np.abs(drawn - middle) >= abs(theirs - middle))
        lines.append(
            f"| {dataset} | {method} | {len(right)} | {pstdev(right):.1f} "
            f"| {low:.1f} to {high:.1f} | {theirs:.1f} | {where} | {as_far_off:.1%} |"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeds", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("steps", nargs="+", choices=(*STEPS, "table"))
    parser.add_argument("--cells", nargs="+", metavar="'DATASET METHOD'", help="the quick ones")
    parser.add_argument("--seeds", type=int, default=10, help="from 0 on")
    parser.add_argument("--longest", type=int, default=10, help="length of a formula, of `folds`")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    cache = ResultCache(given.out)
    for step in (step for step in given.steps if step != "table"):
        measure, quick = STEPS[step]
        if step == "folds":
            measure = partial(folds, longest=given.longest)
        for name in given.cells or quick:
            for seed in range(given.seeds):
                dataset, method = name.split()
                cache.once(f"{step} {name} {seed}", partial(measure, dataset, method, seed))
    for step in STEPS:
        print(f"{step}\n" + "\n".join(table(cache.results, step)))
    print("reshuffled\n" + "\n".join(reshuffled_table(cache.results)))


if __name__ == "__main__":
    main()
