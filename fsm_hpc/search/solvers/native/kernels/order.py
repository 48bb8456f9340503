# mypy: disable-error-code="no-untyped-def"
"""The order of solutions: the higher score first, then the earlier unit."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import kernel

UNIT_BITS = 38  # of a unit's number; the rest of a word holds the score
UNITS = (1 << UNIT_BITS) - 1
MAX_SCORE = 1 << (62 - UNIT_BITS)
DONE, PAUSED, STOPPED = range(3)  # how a kernel comes back
AT, OPEN, STACKED, NODES, ASKED = range(5)  # of its `control`


@kernel
def rank_of(score, unit):
    """Solutions in order: the higher score, then the earlier unit."""
    return (score << UNIT_BITS) + (UNITS - unit)


@kernel
def leader(best):
    top = best[0]
    for slot in range(1, len(best)):
        top = max(top, best[slot])
    return top
