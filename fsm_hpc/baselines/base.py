"""The interface of a baseline: how it is fitted, and what a fitted model reports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Truth
from fsm_hpc.search.method import Method

Values = NDArray[np.float64]
Parameters = dict[str, Any]
Grid = Mapping[str, Sequence[Any]]
Suggest = Callable[[Any], Parameters]  # the parameters of one Optuna trial


@dataclass(frozen=True, slots=True)
class Size:
    """How large a model is; `symbols` counts tests and connectives, as the size of a formula."""

    symbols: int
    trees: int | None = None
    nodes: int | None = None


def joined(tests: int, **counts: int) -> Size:
    """The size of a model that joins its tests or terms by one operator each: sums, ensembles."""
    return Size(max(2 * tests - 1, 0), **counts)


class FittedModel(Protocol):
    """A fitted model of two classes."""

    @property
    def size(self) -> Size: ...

    @property
    def claims_optimality(self) -> bool | None:
        """Whether the package claims that its model is optimal; None: it makes no such claims."""

    def predict(self, rows: Values) -> Truth: ...

    def scores(self, rows: Values) -> Values:
        """The estimated probability of the positive class."""


@dataclass(frozen=True, slots=True)
class Task:
    """What every fit of one fold shares."""

    values: Values
    labels: Truth
    method: Method
    seed: int
    threads: int
    stop: threading.Event
    weighed: Callable[[NDArray[np.int64]], Values | None] = lambda rows: None  # rows to weights
    time_limit_s: float | None = None  # of one fit, for packages that take such a limit

    def accuracy(self, model: FittedModel, rows: NDArray[np.int64]) -> float:
        """The share of these rows, or of their weight, that a model classifies correctly."""
        is_correct = model.predict(self.values[rows]) == self.labels[rows]
        return float(np.average(is_correct, weights=self.weighed(rows)))

    def check_unweighted(self, rows: NDArray[np.int64]) -> None:
        """Refuse weights on behalf of a package that cannot use them."""
        if self.weighed(rows) is not None:
            raise UserError(
                f"method={self.method.value} cannot weigh rows; use objective=accuracy without "
                "dataset.weight, or another method"
            )


class Baseline(Protocol):
    """One module of this package: the parameters that tuning tries, and a fit.

    A module with `estimator(seed, parameters)`, an unfitted estimator of scikit-learn's interface,
    also supports more than two classes: `fit` compares rules with it.
    """

    estimator: Callable[[int, Parameters], Any]

    @property
    def SPACE(self) -> Grid | Suggest:  # noqa: N802
        """The parameters to try: a grid where they are few, which is tried as a whole."""

    def fit(
        self, task: Task, fitted: NDArray[np.int64], parameters: Parameters
    ) -> FittedModel | None:
        """The model of these rows; None when `task.stop` was set."""


@dataclass(frozen=True, slots=True)
class Probabilistic:
    """A fitted estimator with scikit-learn's `predict_proba`, classes False and True."""

    estimator: Any
    size: Size
    claims_optimality: bool | None = None

    def predict(self, rows: Values) -> Truth:
        return np.asarray(self.estimator.predict(rows), dtype=bool)

    def scores(self, rows: Values) -> Values:
        shares = np.asarray(self.estimator.predict_proba(rows), dtype=np.float64)
        if shares.shape[1] > 1:
            return shares[:, 1]
        return np.full(len(rows), float(self.estimator.classes_[0]))  # one class alone


@dataclass(frozen=True, slots=True)
class Constant:
    """The model of rows that have one class alone, which most packages refuse."""

    label: bool
    claims_optimality: bool | None = None
    size: Size = Size(0)

    def predict(self, rows: Values) -> Truth:
        return np.full(len(rows), self.label)

    def scores(self, rows: Values) -> Values:
        return np.full(len(rows), float(self.label))


def has_one_class(labels: Truth) -> bool:
    return bool(labels.all() or not labels.any())


def fit_weighted(
    estimator: Any, rows: Values, labels: NDArray[Any], weights: Values | None
) -> None:
    """Fit an estimator, or a pipeline whose last step takes the weights."""
    steps = getattr(estimator, "steps", None)
    name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
    estimator.fit(rows, labels, **({} if weights is None else {name: weights}))


def fit_probabilistic(
    task: Task, fitted: NDArray[np.int64], estimator: Any, size: Callable[[Any], Size]
) -> FittedModel | None:
    """Fit an estimator with `predict_proba`; `size` measures it afterwards."""
    rows, labels, weights = task.values[fitted], task.labels[fitted], task.weighed(fitted)
    if has_one_class(labels):
        return Constant(bool(labels[0]))
    fit_weighted(estimator, rows, labels.astype(int), weights)
    return None if task.stop.is_set() else Probabilistic(estimator, size(estimator))
