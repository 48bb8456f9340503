"""Add size and scores to ensembles of version 0.2: python -m scripts.refit_baselines NAME.

Version 0.2 stored the tuned parameters of a baseline, but not its symbols and probabilities. The
script refits such a fold with its stored parameters on the same rows, which takes seconds where
tuning takes minutes. It changes a result only if the refitted model repeats the stored confusion
matrix; times stay those of the tuning. It lists other folds and leaves them unchanged.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from fsm_hpc.baselines import load
from fsm_hpc.baselines.base import Task
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold import Fold, prepare
from fsm_hpc.study.measures import Confusion, scores_of
from fsm_hpc.study.result import FoldResult


def refitted(fold: Fold, done: FoldResult) -> FoldResult | None:
    """The result with size and scores; None if the model predicts other classes than before."""
    dataset, rows = fold.dataset, fold.rows
    values = dataset.table().to_numpy(dtype=np.float64)
    method, model = fold.config.method.name, dict(done.model or {})
    task = Task(values, dataset.labels, method, done.seed, 1, threading.Event(), lambda _: None)
    fitted = load(method).fit(task, rows.fitted, model["parameters"])
    labels = dataset.labels[rows.test]
    if fitted is None or _confusion(fitted.predict(values[rows.test]), labels) != done.confusion:
        return None
    size = {name: count for name, count in asdict(fitted.size).items() if count is not None}
    scores = scores_of(labels, fitted.scores(values[rows.test]))
    return replace(done, model=model | size, scores=scores)


def _confusion(predicted: Truth, labels: Truth) -> Confusion:
    pairs = ((True, True), (True, False), (False, False), (False, True))
    return Confusion(*(int(np.sum((predicted == p) & (labels == t))) for p, t in pairs))


def lacking(study: Path) -> list[tuple[FoldPaths, FoldResult]]:
    """Baselines without size or scores, the smallest models first."""
    known = [(paths, result.read(paths.result)) for _, paths in StudyPaths(study).folds_on_disk()]
    chosen = [
        (paths, done)
        for paths, done in known
        if done is not None
        and done.model is not None
        and (done.scores is None or "symbols" not in done.model)
    ]
    return sorted(chosen, key=lambda pair: (pair[1].model or {}).get("nodes") or 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.refit_baselines", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", help="name of the study")
    parser.add_argument("overrides", nargs="*", help="data_dir=FOLDER")
    parser.add_argument("--results", type=Path, default=Path("results"))
    given = parser.parse_args(arguments)
    different = 0
    for paths, done in lacking(given.results / given.name):
        settings = [f"dataset={done.dataset}", f"method={done.method}", f"fold={done.fold}"]
        folders = [f"results_dir={given.results}", f"study={given.name}"]
        changed = refitted(prepare(compose([*folders, *settings, *given.overrides])), done)
        if changed is None:
            print(f"{paths.id}: the refitted model differs; unchanged", file=sys.stderr)
            different += 1
        else:
            result.save(paths.result, changed)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
