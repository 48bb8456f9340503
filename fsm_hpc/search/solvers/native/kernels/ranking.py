# mypy: disable-error-code="no-untyped-def"
"""The order of solutions: the higher score first, then the earlier unit."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part

UNIT_BITS = 38  # of a unit's number; the rest of a word holds the score
UNITS = (1 << UNIT_BITS) - 1
MAX_SCORE = 1 << (62 - UNIT_BITS)
DONE, PAUSED, STOPPED = range(3)  # how a kernel comes back
AT, BEGUN, STACKED, NODES, SCORED = range(5)  # of a thread's control
UNIT, ENTRY, MASK, SCORE, LOW, HIGH = range(6)  # of a thread's incumbent


@part
def rank_of(score, unit):
    """Solutions in order: the higher score, then the earlier unit."""
    return (score << UNIT_BITS) + (UNITS - unit)


@part
def incumbent_rank(best):
    """The rank that a solution has to exceed."""
    top = best[0]
    for slot in range(1, len(best)):
        top = max(top, best[slot])
    return top


@part
def goal_above(threshold, settled, unit):
    """The score that is not enough beside what is settled, to exceed the threshold."""
    goal = (threshold >> UNIT_BITS) - settled
    return goal - 1 if rank_of(goal + settled, unit) > threshold else goal


@part
def set_incumbent(thread, shared, unit, entry, mask, score, low, high):
    """Make a solution this thread's incumbent."""
    thread.incumbent[UNIT] = unit
    thread.incumbent[ENTRY] = entry
    thread.incumbent[MASK] = mask
    thread.incumbent[SCORE] = score
    thread.incumbent[LOW] = low
    thread.incumbent[HIGH] = high
    shared.best[shared.slot] = rank_of(score, unit)
