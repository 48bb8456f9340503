"""Which formula of a Rashomon set becomes the rule."""

from __future__ import annotations

from enum import Enum


class RuleChoice(Enum):
    """How a rule is chosen among near-optimal formulas."""

    OPTIMUM = "optimum"  # the fewest errors, as the search found it
    CONSENSUS = "consensus"  # the most agreement with all of them on the fitted rows
    SIMPLEST = "simplest"  # the smallest size, of those the fewest errors
    GIVEN = "given"  # the one that the user names
