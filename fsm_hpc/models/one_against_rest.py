"""An estimator of several classes: one of two classes for each against the rest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from fsm_hpc.formulas.formula import Truth
from fsm_hpc.models.model import Model
from fsm_hpc.models.several import Several, combine, whole_weights
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
        made._named = (f"not {one}", one)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `fit` warns, by class
            made.fit(X, pd.Series(labels == one, name=str(target)), weights.whole)
        rules.append(replace(made.model_, classes=made._named, target=str(target)))
        paths.append(made.path_.assign(**{"class": one}))
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(made, name):
            setattr(estimator, name, getattr(made, name))
    estimator._sources = made._sources
    labels = labels[weights.kept]
    table = estimator._table(X if weights.keeps_all else _safe_indexing(X, weights.kept))
    truths = {rule.classes[1]: rule.formula.evaluate(table) for rule in rules}
    counted = whole_weights(labels, weights.given, weights.objective)
    made_of_all = combine(str(target), rules, labels, truths, counted, weights.sample)
    take(estimator, made_of_all)
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
    """The shares of the classes among the fitted rows that get the same answer."""
    made = estimator.model_
    observed = np.array(made.class_shares)[made.decide(_truths(made, table))]
    return np.asarray(observed[:, np.argsort(_places(estimator))])


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
