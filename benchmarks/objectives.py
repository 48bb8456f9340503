"""What balanced classes buy: formulas of both objectives on all tables, and small trees beside."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare
from fsm_hpc.study.run import run_fold

TABLES = (
    *("bank", "breast_cancer", "diabetes", "german_credit", "heart_disease", "hepatitis"),
    "student_dropout",
)
OBJECTIVES = ("accuracy", "balanced")
FOLDS = 10
DEPTH = 3  # of the tree beside


@dataclass(frozen=True, slots=True)
class Score:
    """What the held-out rows of a fold say."""

    accuracy: float
    balanced: float


def formula(words: Sequence[str]) -> Score:
    """Of the fold's formula; a fold that is done is read from disk."""
    done = run_fold(compose(words))
    assert done is not None
    return Score(done.accuracy.test, done.confusion.balanced_accuracy or 0.0)


def tree(words: Sequence[str], objective: str) -> Score:
    """Of a decision tree on the same rows."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.tree import DecisionTreeClassifier

    fold = prepare(compose(words))
    values, labels = fold.dataset.table().to_numpy(np.float64), fold.dataset.labels
    weight = None if objective == "accuracy" else objective
    model = DecisionTreeClassifier(max_depth=DEPTH, class_weight=weight, random_state=42)
    model.fit(values[fold.rows.fitted], labels[fold.rows.fitted])
    said, true = model.predict(values[fold.rows.test]), labels[fold.rows.test]
    return Score(accuracy_score(true, said), balanced_accuracy_score(true, said))


def words_of(table: str, objective: str, fold: int, length: int, place: Path) -> list[str]:
    study = f"objective_{objective}_{length}"
    named = [f"dataset={table}", "method=pivot", "solver=native", f"objective={objective}"]
    return [
        *(*named, f"fold={fold}", f"scan.max_length={length}"),
        *(f"study={study}", f"results_dir={place}"),
    ]


def line(table: str, length: int, place: Path) -> str:
    """Means over folds, for both objectives, and how far the balanced formula is from its tree."""
    cells, balanced = [], {}
    for objective in OBJECTIVES:
        words = [words_of(table, objective, fold, length, place) for fold in range(FOLDS)]
        found = {
            "formula": [formula(w) for w in words],
            "tree": [tree(w, objective) for w in words],
        }
        for who, scores in found.items():
            shares = [(score.accuracy, score.balanced) for score in scores]
            accuracy, mean = 100 * np.mean(shares, axis=0)
            cells.append(f"{accuracy:6.1f} {mean:6.1f}")
            balanced[objective, who] = np.array([score.balanced for score in scores])
    gain = balanced["balanced", "formula"] - balanced["accuracy", "formula"]
    beside = balanced["balanced", "formula"] - balanced["balanced", "tree"]
    error = beside.std(ddof=1) / np.sqrt(FOLDS)
    more = f"{100 * gain.mean():+6.1f} | {100 * beside.mean():+6.1f} {100 * error:4.1f}"
    return f"{table:<16} | {' | '.join(cells)} | {more}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--length", type=int, default=5, help="the longest formula")
    parser.add_argument("--place", type=Path, default=Path("results/benchmarks"))
    chosen = parser.parse_args(arguments)
    print(
        f"accuracy and balanced accuracy of held-out rows in percent, mean of {FOLDS} folds, "
        f"pivot, formulas up to length {chosen.length}, trees of depth {DEPTH}"
    )
    print("gain: of balanced accuracy, by objective=balanced; to tree: against the balanced tree,")
    print("mean difference over folds and its standard error")
    wide = f"{'objective=accuracy':^31} | {'objective=balanced':^31}"
    print(f"{'':<16} | {wide} |        |")
    heads = " | ".join([f"{who:^13}" for who in ("formula", "tree")] * 2)
    print(f"{'table':<16} | {heads} |   gain | to tree")
    for table in chosen.tables:
        print(line(table, chosen.length, chosen.place), flush=True)


if __name__ == "__main__":
    main()
