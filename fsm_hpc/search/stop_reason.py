"""Why a scan looked at no further length."""

from __future__ import annotations

from enum import Enum


class StopReason(Enum):
    """Why a scan looked at no further length."""

    EARLY_STOPPING = "early_stopping"  # validation accuracy below the best, patience times
    PERFECT = "perfect"  # no formula of any size makes fewer training errors
    EXHAUSTED = "exhausted"  # no longer formula can say anything new
    PLATEAU = "plateau"  # so many lengths in a row brought no new best validation accuracy
    MAX_LENGTH = "max_length"
    TIMEOUT = "timeout"  # the budget is spent: the best finished length is taken
    OUT_OF_MEMORY = "out_of_memory"  # likewise
    TOO_LARGE = "too_large"  # likewise, where the solver cannot number the formulas of a length
