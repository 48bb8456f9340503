"""Compare a rule with other models on the same held-out rows: which is better, by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc import baselines
from fsm_hpc.baselines.base import fit_weighted
from fsm_hpc.search.method import Method
from fsm_hpc.system import serialization

Places = NDArray[np.int64]  # of each row: its class, by its place
Pair = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to fit on, and rows held out
_Z = 1.959963984540054  # of a 95 % interval
_BALANCED = "balanced accuracy"


@dataclass(frozen=True)
class OtherModel:
    """Another model: its value of the measure, and by how much it is better than the rule."""

    name: str
    value: float
    difference: float
    interval: tuple[float, float]

    @property
    def is_better(self) -> bool:
        return self.interval[0] > 0

    @property
    def is_worse(self) -> bool:
        return self.interval[1] < 0


@dataclass(frozen=True)
class Comparison:
    """A measure of the rule and of other models on the same held-out rows."""

    measure: str
    rule: float
    models: tuple[OtherModel, ...]

    def __str__(self) -> str:
        """One sentence about the best of the other models."""
        best = max(self.models, key=lambda other: other.value)
        low, high = (100 * end for end in best.interval)
        points = 100 * best.difference
        what = "more accurate" if self.measure == "accuracy" else f"ahead in {self.measure}"
        if best.is_worse:
            return (
                f"The rule is {-points:.1f} points {what} than {best.name}, the best of the other "
                f"models (95 % CI {-high:.1f} to {-low:.1f})."
            )
        if best.is_better:
            name = best.name[0].upper() + best.name[1:]
            return (
                f"{name} is {points:.1f} points {what} (95 % CI {low:.1f} to {high:.1f}); a single "
                "rule may not suit this table."
            )
        return (
            f"No other model is clearly ahead: {best.name} differs from the rule by {points:+.1f} "
            f"points (95 % CI {low:.1f} to {high:.1f})."
        )

    __repr__ = __str__


def of_figures(saved: Mapping[str, Any] | None) -> Comparison | None:
    """The comparison that model.json holds, if it has one."""
    if not saved or not saved.get("models"):
        return None
    return serialization.convert(Comparison, saved, "model.json")


def compare(
    labels: Places, rule: Places, others: Mapping[str, Places], is_balanced: bool
) -> Comparison:
    """The predictions of a rule and of other models for the same held-out rows."""
    weights = _weights(labels, is_balanced)
    correct = (rule == labels).astype(float)
    models = []
    for name, predicted in others.items():
        differences = (predicted == labels) - correct
        mean = float((weights * differences).sum())
        half = _Z * _standard_error(differences, labels, weights, is_balanced)
        value = float((weights * (predicted == labels)).sum())
        models.append(OtherModel(name, value, mean, (mean - half, mean + half)))
    measure = _BALANCED if is_balanced else "accuracy"
    return Comparison(measure, float((weights * correct).sum()), tuple(models))


def _weights(labels: Places, is_balanced: bool) -> NDArray[np.float64]:
    """Of each row, such that all sum to one and, if balanced, each class to the same."""
    if not is_balanced:
        return np.full(len(labels), 1 / len(labels))
    counts = np.bincount(labels)
    return np.asarray(1 / (np.count_nonzero(counts) * counts[labels]), np.float64)


def _standard_error(
    differences: NDArray[Any], labels: Places, weights: NDArray[np.float64], is_balanced: bool
) -> float:
    """Of a paired difference; where classes count alike, each is a sample of its own."""
    parts = [labels == place for place in np.unique(labels)] if is_balanced else [labels >= 0]
    variance = sum(
        float((weights[part] ** 2).sum() * np.var(differences[part], ddof=min(1, part.sum() - 1)))
        for part in parts
    )
    return sqrt(variance)


# ------------------------------------------------------------------------------------- the models


def predictions(
    table: NDArray[Any],
    labels: Places,
    pairs: Sequence[Pair],
    methods: Mapping[str, Method],
    class_weight: Any = None,
    weights: NDArray[np.float64] | None = None,
    seed: int = 42,
    is_over: Callable[[], bool] = lambda: False,
) -> dict[str, Places]:
    """Predict the held-out rows of all pairs, in their order, with each model.

    A model that has not finished all pairs when `is_over` returns True is left out.
    """
    predicted: dict[str, Places] = {}
    for name, method in methods.items():
        parts = []
        for fitted, test in pairs:
            if is_over():
                return predicted
            sample_weight = _sample_weight(class_weight, labels[fitted])
            if weights is not None:
                sample_weight = sample_weight * weights[fitted]
            model = _fitted(method, seed, table[fitted], labels[fitted], sample_weight)
            parts.append(model(table[test]))
        predicted[name] = np.concatenate(parts)
    return predicted


def _fitted(
    method: Method, seed: int, rows: NDArray[Any], labels: Places, weights: NDArray[np.float64]
) -> Callable[[NDArray[Any]], Places]:
    """Fit the estimator of a baseline; the result predicts rows."""
    classes, places = np.unique(labels, return_inverse=True)
    if len(classes) == 1:
        return lambda rows: np.full(len(rows), classes[0])
    model = baselines.load(method).estimator(seed, {})
    fit_weighted(model, rows, places, weights)  # XGBoost expects the classes 0, 1, ...
    return lambda rows: np.asarray(classes[model.predict(rows)])


def _sample_weight(class_weight: Any, labels: Places) -> NDArray[np.float64]:
    from sklearn.utils.class_weight import compute_sample_weight

    if isinstance(class_weight, Mapping):  # it may have classes that these rows lack
        class_weight = {at: class_weight.get(at, 1) for at in np.unique(labels).tolist()}
    return np.asarray(compute_sample_weight(class_weight, labels))
