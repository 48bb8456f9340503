"""What to expect of a model on new rows: its predictions for rows that folds held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from fsm_hpc.study.measures import wilson
from fsm_hpc.study.result import FoldResult

Interval = tuple[float, float]


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
        "balanced_accuracy": _balanced(found, len(classes)),
    }
    per_class = [_of_class(found, place) for place in range(len(classes))]
    if len(classes) == 2:
        return whole | per_class[1] | {"confusion": _confusion(found)}
    named = zip(classes, per_class, strict=True)
    return whole | {"classes": [{"class": name} | measures for name, measures in named]}


def _share(right: int, rows: int) -> dict[str, Any]:
    return {"value": right / rows if rows else None, "interval": wilson(right, rows)}


def _of_class(found: HeldOut, place: int) -> dict[str, Any]:
    mine, said = found.labels == place, found.predicted == place
    right = int(np.count_nonzero(mine & said))
    together = int(mine.sum() + said.sum())
    f1 = 2 * right / together if together else None
    return {
        "precision": _share(right, int(said.sum())),
        "recall": _share(right, int(mine.sum())),
        "f1": {"value": f1, "interval": None},
    }


def _balanced(found: HeldOut, count: int) -> dict[str, Any]:
    """The mean recall; the widths of independent intervals add as squares."""
    recalls = [_of_class(found, place)["recall"] for place in range(count)]
    if any(recall["value"] is None for recall in recalls):
        return {"value": None, "interval": None}
    mean = sum(recall["value"] for recall in recalls) / count
    below = sqrt(sum((r["value"] - r["interval"][0]) ** 2 for r in recalls)) / count
    above = sqrt(sum((r["interval"][1] - r["value"]) ** 2 for r in recalls)) / count
    return {"value": mean, "interval": (max(0.0, mean - below), min(1.0, mean + above))}


def _confusion(found: HeldOut) -> dict[str, int]:
    truth = {"true": found.labels == found.predicted, "false": found.labels != found.predicted}
    said = {"positive": found.predicted == 1, "negative": found.predicted == 0}
    return {
        f"{right}_{answer}": int(np.count_nonzero(truth[right] & said[answer]))
        for right, answer in (
            ("true", "positive"),
            ("false", "positive"),
            ("true", "negative"),
            ("false", "negative"),
        )
    }


def stability(results: Sequence[FoldResult]) -> dict[str, Any]:
    """The formulas of the folds, and how often each column and each threshold comes back."""
    formulas = Counter(result.formula for result in results if result.formula)
    columns: Counter[str] = Counter()
    thresholds: dict[str, Counter[str]] = {}
    for propositions in map(set, _propositions(results)):
        columns.update({proposition.column for proposition in propositions})
        for proposition in propositions:
            if proposition.cuts:
                text = " to ".join(map(str, proposition.cuts))
                thresholds.setdefault(proposition.column, Counter())[text] += 1
    return {
        "formulas": [{"formula": text, "folds": count} for text, count in formulas.most_common()],
        "columns": dict(columns.most_common()),
        "cuts": {column: dict(counts.most_common()) for column, counts in thresholds.items()},
    }


def _propositions(results: Sequence[FoldResult]) -> Iterator[Iterator[Any]]:
    return (parse(result.formula).propositions() for result in results if result.formula)
