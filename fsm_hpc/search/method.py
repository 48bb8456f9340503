"""Methods of a study: formulas with their propositions, and the models they are compared with."""

from __future__ import annotations

from enum import Enum


class Method(Enum):
    """A formula method with its propositions, or a baseline (one adapter in `baselines`)."""

    MEDIAN = "median"
    PIVOT = "pivot"
    INTERVAL = "interval"
    RANDOM_FOREST = "random_forest"
    XGBOOST = "xgboost"
    TREE = "tree"
    TUNED_TREE = "tuned_tree"
    LOGISTIC_REGRESSION = "logistic_regression"
    EBM = "ebm"
    FIGS = "figs"
    RULEFIT = "rulefit"
    STREED = "streed"
    CONTREE = "contree"
    PYTREES = "pytrees"

    @property
    def finds_formula(self) -> bool:
        return self in (Method.MEDIAN, Method.PIVOT, Method.INTERVAL)
