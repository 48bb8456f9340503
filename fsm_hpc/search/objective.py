"""The objective of a search: accuracy, balanced accuracy, or costs of errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from fsm_hpc.errors import UserError
from fsm_hpc.system.settings import Scope, setting


class ObjectiveName(Enum):
    """How errors are weighted."""

    ACCURACY = "accuracy"  # every row the same
    BALANCED = "balanced"  # both classes the same, whatever their number of rows
    COSTS = "costs"  # given costs of false positives and false negatives


@dataclass(frozen=True, slots=True)
class Objective:
    """conf/objective: how errors are weighted."""

    name: ObjectiveName = setting(
        ObjectiveName.ACCURACY, "what counts as an error", changes=Scope.ALL, legacy="accuracy"
    )
    false_positive: float | None = setting(
        None, "cost of predicting true for a false row", changes=Scope.ALL, legacy=None
    )
    false_negative: float | None = setting(
        None, "cost of predicting false for a true row", changes=Scope.ALL, legacy=None
    )

    def __post_init__(self) -> None:
        is_costs = self.name is ObjectiveName.COSTS
        for key in ("false_positive", "false_negative"):
            cost = getattr(self, key)
            if cost is None and is_costs:
                raise UserError(f"objective=costs: expected objective.{key}, found none")
            if cost is not None and not is_costs:
                raise UserError(f"objective.{key}: expected objective=costs with it")
            if cost is not None and not (math.isfinite(cost) and cost > 0):
                raise UserError(f"objective.{key}: expected more than 0, found {cost}")

    def measure(self, has_row_weights: bool = False) -> str:
        """The name of the measure: the share of weight that a formula classifies correctly."""
        weighted = "weighted " if has_row_weights else ""
        if self.name is ObjectiveName.BALANCED:
            return f"balanced {weighted}accuracy"
        if self.name is ObjectiveName.COSTS:
            return "cost-weighted accuracy"
        return f"{weighted}accuracy"


ACCURACY = Objective()
