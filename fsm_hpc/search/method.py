"""How a fold is learnt: which propositions a formula may have, or which baseline."""

from __future__ import annotations

from enum import Enum


class Method(Enum):
    """How a fold is learnt: a formula method with its propositions, or a baseline."""

    MEDIAN = "median"
    PIVOT = "pivot"
    INTERVAL = "interval"
    RANDOM_FOREST = "random_forest"
    XGBOOST = "xgboost"

    @property
    def finds_formula(self) -> bool:
        return self in (Method.MEDIAN, Method.PIVOT, Method.INTERVAL)
