"""An estimator of several classes: one of two classes for each against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fsm_hpc.formulas.formula import Truth
from fsm_hpc.models.model import Model
from fsm_hpc.models.several import Several, combine
from fsm_hpc.models.weighing import RowWeights
from fsm_hpc.system import clock


def fit(estimator: Any, X: Any, y: Any, target: Any, weights: RowWeights) -> None:  # noqa: N803
    """Fit each class against the rest; the time limit is for all of them together."""
    import pandas as pd

    labels = np.ravel(np.asarray(y))
    rules: list[Model] = []
    paths = []
    started = clock.monotonic()
    for place, one in enumerate(estimator.classes_.tolist()):
        left = len(estimator.classes_) - place
        made = _against_rest(estimator, started, left)
        made._sample = weights.sample  # the weights of the rows have those of the classes in them
        made.fit(X, labels == one, weights.whole)
        rules.append(replace(made.model_, classes=(f"not {one}", one), target=str(target)))
        paths.append(made.path_.assign(**{"class": one}))
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(made, name):
            setattr(estimator, name, getattr(made, name))
    estimator._sources = made._sources
    labels = labels[weights.kept]
    table = estimator._table(X if weights.keeps_all else _safe_indexing(X, weights.kept))
    truths = {rule.classes[1]: rule.formula.evaluate(table) for rule in rules}
    take(estimator, combine(str(target), rules, labels, truths))
    estimator.path_ = pd.concat(paths, ignore_index=True)


def take(estimator: Any, made: Several) -> None:
    """What a fitted estimator of several classes tells."""
    estimator.model_ = made
    estimator.formulas_ = made.formulas
    estimator.size_ = sum(rule.formula.size for rule in made.rules)
    estimator.errors_ = made.errors
    estimator.proved_ = made.proved
    estimator.cut_ = any(rule.cut for rule in made.rules)


def predict(estimator: Any, table: Mapping[str, Any]) -> NDArray[Any]:
    made = estimator.model_
    return np.asarray(estimator.classes_[_places(estimator)[made.decide(_truths(made, table))]])


def shares(estimator: Any, table: Mapping[str, Any]) -> NDArray[np.float64]:
    """The share of each class where its own formula says the same, scaled to a sum of one.

    The predicted class gets no less than any other.
    """
    made = estimator.model_
    truths = _truths(made, table)
    places = _places(estimator)
    found = np.zeros((len(truths[0]), len(places)))
    for place, rule, truth in zip(places.tolist(), made.rules, truths, strict=True):
        no, yes = rule.shares
        found[:, place] = np.where(truth, yes, 1.0 - no)
    rows, chosen = np.arange(len(found)), places[made.decide(truths)]
    found[rows, chosen] = found.max(axis=1) * 1.000001 + 1e-9
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _against_rest(estimator: Any, started: float, left: int) -> Any:
    """An estimator like this one, with its part of the time."""
    parameters = estimator.get_params(deep=False)
    limit, splits = parameters["time_limit_s"], parameters["splits"]
    if limit is not None:
        spent = clock.monotonic() - started
        parameters["time_limit_s"] = max(0.01, (limit - spent) / left)
    if not hasattr(splits, "split") and not isinstance(splits, Integral):
        parameters["splits"] = estimator.splits = list(splits)  # each class needs them again
    if isinstance(parameters["class_weight"], Mapping):
        parameters["class_weight"] = None  # weights of rows have it
    return type(estimator)(**parameters)


def _truths(made: Several, table: Mapping[str, Any]) -> list[Truth]:
    return [rule.formula.evaluate(table) for rule in made.rules]


def _places(estimator: Any) -> NDArray[np.int64]:
    """Where the class of each rule stands among the classes of the estimator."""
    known = estimator.classes_.tolist()
    return np.array([known.index(one) for one in estimator.model_.classes], dtype=np.int64)
