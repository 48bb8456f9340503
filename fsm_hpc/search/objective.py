"""What a formula is to be best at: all rows alike, both classes alike, or what errors cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from fsm_hpc.errors import UserError
from fsm_hpc.system.settings import Scope, setting


class ObjectiveName(Enum):
    """What counts as an error, and how much."""

    ACCURACY = "accuracy"  # every row the same
    BALANCED = "balanced"  # both classes the same, however many rows they have
    COSTS = "costs"  # what each kind of error is said to cost


@dataclass(frozen=True, slots=True)
class Objective:
    """conf/objective: what a formula is to be best at."""

    name: ObjectiveName = setting(
        ObjectiveName.ACCURACY, "what counts as an error", changes=Scope.ALL, legacy="accuracy"
    )
    false_positive: float | None = setting(
        None, "what it costs to call a false row true", changes=Scope.ALL, legacy=None
    )
    false_negative: float | None = setting(
        None, "what it costs to call a true row false", changes=Scope.ALL, legacy=None
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
        """The share of what counts that a formula gets right, by its name."""
        weighted = "weighted " if has_row_weights else ""
        if self.name is ObjectiveName.BALANCED:
            return f"balanced {weighted}accuracy"
        if self.name is ObjectiveName.COSTS:
            return "cost-weighted accuracy"
        return f"{weighted}accuracy"


ACCURACY = Objective()
