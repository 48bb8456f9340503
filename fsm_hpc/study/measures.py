"""Metrics of held-out rows: accuracy and others, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from fsm_hpc.system.value_types import Count, NonNegative, Share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows by label and prediction."""

    true_positive: Count
    false_positive: Count
    true_negative: Count
    false_negative: Count

    @staticmethod
    def of(labels: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Confusion:
        parts = (predicted & labels, predicted & ~labels, ~predicted & ~labels, ~predicted & labels)
        return Confusion(*(int(part.sum()) for part in parts))

    @property
    def rows(self) -> int:
        return self.positives + self.negatives

    @property
    def positives(self) -> int:
        return self.true_positive + self.false_negative

    @property
    def negatives(self) -> int:
        return self.true_negative + self.false_positive

    @property
    def majority(self) -> float | None:
        """The share of the more frequent class, which is the accuracy of always predicting it."""
        return _share(max(self.positives, self.negatives), self.rows)

    @property
    def accuracy(self) -> float | None:
        return _share(self.true_positive + self.true_negative, self.rows)

    @property
    def recall(self) -> float | None:
        """The share of the positive rows that are predicted positive."""
        return _share(self.true_positive, self.positives)

    @property
    def specificity(self) -> float | None:
        """The share of the negative rows that are predicted negative."""
        return _share(self.true_negative, self.negatives)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean recall of both classes; undefined if a class has no rows."""
        if self.recall is None or self.specificity is None:
            return None
        return (self.recall + self.specificity) / 2

    @property
    def precision(self) -> float | None:
        """The share of the rows predicted positive that are positive."""
        return _share(self.true_positive, self.true_positive + self.false_positive)

    @property
    def f1(self) -> float | None:
        wrong = self.false_positive + self.false_negative
        return _share(2 * self.true_positive, 2 * self.true_positive + wrong)

    def measures(self) -> dict[str, float | None]:
        """Every metric by name; None if undefined."""
        return {name: getattr(self, name) for name, m in METRICS.items() if not m.needs_scores}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of the held-out rows: its label in tables, and which values are better."""

    label: str
    caption: str
    better: Callable[..., Any] | None = max  # None: does not depend on the method
    unit: str = "percent"  # of a hundred times the value
    needs_scores: bool = False  # computed from probabilities, not from the confusion matrix

    def gain(self, value: float, other: float) -> float:
        """The difference to another value in hundredths, positive if it is better."""
        return 100 * (other - value if self.better is min else value - other)


METRICS = {
    "accuracy": Metric("accuracy", "Test accuracy"),
    "balanced_accuracy": Metric("balanced accuracy", "Balanced accuracy of the held-out rows"),
    "precision": Metric("precision", "Precision on the held-out rows"),
    "recall": Metric("recall", "Recall on the held-out rows"),
    "f1": Metric("F1 score", "F1 score on the held-out rows"),
    "majority": Metric(
        "majority", "Share of the more frequent class among the held-out rows", better=None
    ),
    "auc": Metric("AUC", "Area under the ROC curve of the held-out rows", needs_scores=True),
    "log_loss": Metric(
        "log-loss",
        "Log-loss of the held-out rows",
        better=min,
        unit="hundredths of a nat",
        needs_scores=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Scores:
    """Metrics of predicted probabilities; None if the held-out rows have one class."""

    auc: Share | None
    log_loss: NonNegative


def scores_of(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> Scores:
    """The metrics of predicted probabilities of the positive class."""
    import numpy as np

    least = np.finfo(np.float64).eps
    certain = np.clip(np.where(labels, probabilities, 1 - probabilities), least, 1 - least)
    return Scores(_auc(labels, probabilities), float(-np.log(certain).mean()))


def _auc(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float | None:
    """The share of pairs of a positive and a negative row in the right order; ties count half."""
    import numpy as np

    values, codes = np.unique(probabilities, return_inverse=True)
    no, yes = (np.bincount(codes[labels == side], minlength=len(values)) for side in (False, True))
    if not no.sum() or not yes.sum():
        return None
    below = np.cumsum(no) - no
    return float((yes * (below + no / 2)).sum() / (no.sum() * yes.sum()))


def smoothed_shares(predicted: NDArray[np.bool_], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """The share of positive rows among those predicted negative and positive.

    One row of each class is added (Laplace), so that no share is 0 or 1.
    """
    parts = labels[~predicted], labels[predicted]
    negative, positive = ((int(part.sum()) + 1) / (len(part) + 2) for part in parts)
    return negative, positive


def intervals(matrix: Confusion) -> dict[str, tuple[float, float] | None]:
    """95 % confidence intervals by metric."""
    right = matrix.true_positive + matrix.true_negative
    called = matrix.true_positive + matrix.false_positive
    return {
        "accuracy": wilson(right, matrix.rows),
        "balanced_accuracy": _balanced_interval(matrix),
        "precision": wilson(matrix.true_positive, called),
        "recall": wilson(matrix.true_positive, matrix.positives),
    }


def wilson(right: int, rows: int) -> tuple[float, float] | None:
    """Wilson's 95 % interval of a share."""
    if rows == 0:
        return None
    share, square = right / rows, _Z * _Z
    middle = (share + square / (2 * rows)) / (1 + square / rows)
    half = _Z * sqrt(share * (1 - share) / rows + square / (4 * rows * rows)) / (1 + square / rows)
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def _balanced_interval(matrix: Confusion) -> tuple[float, float] | None:
    """Combines the independent intervals of both classes: their squared widths add up."""
    parts = [
        (wilson(right, rows), right / rows if rows else 0.0)
        for right, rows in (
            (matrix.true_positive, matrix.positives),
            (matrix.true_negative, matrix.negatives),
        )
    ]
    if matrix.balanced_accuracy is None or any(part[0] is None for part in parts):
        return None
    below = sqrt(sum((share - ends[0]) ** 2 for ends, share in parts if ends)) / 2
    above = sqrt(sum((ends[1] - share) ** 2 for ends, share in parts if ends)) / 2
    middle = matrix.balanced_accuracy
    return max(0.0, middle - below), min(1.0, middle + above)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
