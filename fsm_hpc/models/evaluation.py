"""What to expect of a model on new rows: its predictions for rows that folds held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from fsm_hpc.data.folds import FoldRows
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import combine
from fsm_hpc.models.combine import Places
from fsm_hpc.models.learn import coverage
from fsm_hpc.models.model import first_that_holds
from fsm_hpc.models.tasks import ClassTask
from fsm_hpc.study.fold import problem_of
from fsm_hpc.study.measures import Confusion, intervals, wilson
from fsm_hpc.study.result import FoldResult


@dataclass(frozen=True)
class HeldOut:
    """Rows that folds held out, with their classes and predictions, by place."""

    rows: Places
    labels: Places
    predicted: Places
    folds: int = 0

    @property
    def correct(self) -> Places:
        return np.asarray(self.labels == self.predicted, np.int64)


def held_out(
    tasks: Sequence[ClassTask], labels: Places, results: Sequence[Sequence[FoldResult]]
) -> HeldOut | None:
    """The predictions of all folds; None where the classes were not held out alike."""
    parts = []
    for number, of_fold in enumerate(results):
        parted = [task.fold_rows(number) for task in tasks]
        if any(not np.array_equal(one.test, parted[0].test) for one in parted):
            return None  # folds that keep the share of each class differ between the classes
        parts.append((parted[0].test, _predicted(tasks, labels, of_fold, parted[0])))
    if not parts:
        return None
    rows, predicted = (np.concatenate(column) for column in zip(*parts, strict=True))
    return HeldOut(rows, labels[rows], predicted, len(parts))


def _predicted(
    tasks: Sequence[ClassTask], labels: Places, results: Sequence[FoldResult], rows: FoldRows
) -> Places:
    """What the rules of a fold predict for the rows that it holds out."""
    truths = [
        parse(result.formula or "").evaluate({c.name: c.values for c in task.dataset.columns})
        for task, result in zip(tasks, results, strict=True)
    ]
    if len(tasks) == 1:
        return truths[0][rows.test].astype(np.int64)
    problem = problem_of(tasks[0].dataset, tasks[0].config, rows.fitted)
    weights = combine.whole_weights(labels[rows.fitted], problem.given, problem.objective)
    fitted = [truth[rows.fitted] for truth in truths]
    of_class = [labels[rows.fitted] == place for place in range(len(tasks))]
    precisions = [
        coverage(truth, mine, problem.sample).precision or 0.0
        for truth, mine in zip(fitted, of_class, strict=True)
    ]
    order, otherwise = combine.order_and_default(precisions, labels[rows.fitted], fitted, weights)
    return first_that_holds([truths[at][rows.test] for at in order], order, otherwise)


def figures(labels: Places, classes: Sequence[str], found: HeldOut | None) -> dict[str, Any]:
    """Measures on held-out rows with 95 % intervals, beside the share of the largest class."""
    majority = float(np.bincount(labels).max() / len(labels))
    if found is None:
        return {"folds": 0, "majority": majority}
    whole: dict[str, Any] = {
        "folds": found.folds,
        "rows": len(found.rows),
        "majority": majority,
        "accuracy": _share(int(found.correct.sum()), len(found.rows)),
    }
    matrices = [
        Confusion.of(found.labels == place, found.predicted == place)  # against all others
        for place in range(len(classes))
    ]
    per_class = [_of_class(matrix) for matrix in matrices]
    whole["balanced_accuracy"] = _mean([measures["recall"] for measures in per_class])
    if len(classes) == 2:
        return whole | per_class[1] | {"confusion": asdict(matrices[1])}
    named = zip(classes, per_class, strict=True)
    return whole | {"classes": [{"class": name} | measures for name, measures in named]}


def _share(right: int, rows: int) -> dict[str, Any]:
    return {"value": right / rows if rows else None, "interval": wilson(right, rows)}


def _of_class(matrix: Confusion) -> dict[str, Any]:
    ends = intervals(matrix)
    names = ("precision", "recall", "f1")
    return {n: {"value": getattr(matrix, n), "interval": ends.get(n)} for n in names}


def _mean(shares: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The widths of independent intervals add as squares."""
    if any(share["value"] is None for share in shares):
        return {"value": None, "interval": None}
    mean = sum(share["value"] for share in shares) / len(shares)
    below = sqrt(sum((s["value"] - s["interval"][0]) ** 2 for s in shares)) / len(shares)
    above = sqrt(sum((s["interval"][1] - s["value"]) ** 2 for s in shares)) / len(shares)
    return {"value": mean, "interval": (max(0.0, mean - below), min(1.0, mean + above))}


def stability(results: Sequence[FoldResult]) -> dict[str, Any]:
    """The formulas of the folds, and how often each column and each threshold comes back."""
    formulas = Counter(result.formula for result in results if result.formula)
    columns: Counter[str] = Counter()
    thresholds: dict[str, Counter[str]] = {}
    for propositions in map(set, _propositions(results)):
        columns.update({proposition.column for proposition in propositions})
        for proposition in propositions:
            if proposition.thresholds:
                text = " to ".join(map(str, proposition.thresholds))
                thresholds.setdefault(proposition.column, Counter())[text] += 1
    return {
        "formulas": [{"formula": text, "folds": count} for text, count in formulas.most_common()],
        "columns": dict(columns.most_common()),
        "cuts": {column: dict(counts.most_common()) for column, counts in thresholds.items()},
    }


def _propositions(results: Sequence[FoldResult]) -> Iterator[Iterator[Any]]:
    return (parse(result.formula).propositions() for result in results if result.formula)
