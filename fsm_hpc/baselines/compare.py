"""The other models that `fit` evaluates on the folds of a rule."""

from __future__ import annotations

from enum import Enum

from fsm_hpc.search.method import Method


class Compare(Enum):
    """A group of models to compare a rule with."""

    NONE = "none"
    SIMPLE = "simple"  # a tree of depth 3 and logistic regression
    ALL = "all"  # these and XGBoost

    @property
    def methods(self) -> dict[str, Method]:
        """Model name, as messages have it -> its baseline."""
        known = {
            "a tree of depth 3": Method.TREE,
            "logistic regression": Method.LOGISTIC_REGRESSION,
            "XGBoost": Method.XGBOOST,
        }
        count = {Compare.NONE: 0, Compare.SIMPLE: 2, Compare.ALL: 3}[self]
        return dict(list(known.items())[:count])
