"""Which other models `fit` evaluates on the folds of a rule."""

from __future__ import annotations

from enum import Enum


class Compare(Enum):
    """Names of groups of models, from which the card says who is ahead."""

    NONE = "none"
    SIMPLE = "simple"  # a tree of depth 3 and logistic regression
    ALL = "all"  # these and XGBoost

    @property
    def names(self) -> tuple[str, ...]:
        simple = ("a tree of depth 3", "logistic regression")
        return {Compare.NONE: (), Compare.SIMPLE: simple, Compare.ALL: (*simple, "XGBoost")}[self]
