"""The states of a fold, and what they have in common."""

from __future__ import annotations

from enum import Enum


class FoldState(Enum):
    """What a fold has come to; docs/cluster.md explains each word."""

    DONE = "done"
    UNPROVED = "unproved"  # done: the final formula is the best found, not the best there is
    TIMEOUT = "timeout"  # done with what the scan's budget allowed; a larger one goes on
    OUT_OF_MEMORY = "out of memory"  # likewise, or killed without a result
    RUNNING = "running"
    QUEUED = "queued"
    UNKNOWN = "unknown"  # the scheduler does not say
    PARTIAL = "partial"  # begun, and nobody works on it
    LOST = "lost"  # its job is gone without a word
    CANCELLED = "cancelled"
    NEEDS_RESUME = "needs resume"  # its job was queued by another version, and computed nothing
    FAILED = "failed"
    CHANGED = "changed"  # the result is of other settings
    MISSING = "missing"  # never begun


LIVE = frozenset([FoldState.RUNNING, FoldState.QUEUED, FoldState.UNKNOWN])
ENDED = frozenset([FoldState.DONE, FoldState.UNPROVED, FoldState.TIMEOUT, FoldState.OUT_OF_MEMORY])
STUCK = frozenset(
    [
        FoldState.FAILED,
        FoldState.LOST,
        FoldState.CANCELLED,
        FoldState.NEEDS_RESUME,
        FoldState.OUT_OF_MEMORY,
    ]
)
