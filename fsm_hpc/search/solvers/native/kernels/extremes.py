# mypy: disable-error-code="no-untyped-def"
"""A bound on two columns from what the best literals of each allow, in a few additions."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import NOTHING
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.words import INTERVAL, SUFFIX

# What a literal is in a function: part of a conjunction or a disjunction, as it is or negated.
IN_AND, NOT_IN_AND, IN_OR, NOT_IN_OR = range(4)
# Where the extremes of the four roles begin: gain less loss; the loss alone (for a disjunction the
# gain); and what counts the one of the two that both literals share only half.
NET, ALONE, HALF = 0, 4, 8
EXTREMES = 12


@part
def extremes(gain, loss, kind, card, floor, view, goal, out):
    """The greatest of each over the literals of a column that may serve in that role."""
    gains, losses = view.gain, view.loss
    if kind == INTERVAL:
        _net_of_intervals(gain, loss, card, floor, gains, losses, out)
        room = gains - goal
        out[ALONE + IN_AND] = -_least(loss, gain, goal, floor, card)
        out[ALONE + NOT_IN_AND] = _most(loss, gain, room, floor, card) - losses
        out[ALONE + IN_OR] = _most(gain, loss, room, floor, card)
        out[ALONE + NOT_IN_OR] = gains - _least(gain, loss, losses - room, floor, card)
        return
    for at in range(EXTREMES):
        out[at] = NOTHING
    first = floor if kind == SUFFIX else 1
    last = card + 1 if kind == SUFFIX else card
    for value in range(first, last):
        has, costs = gain[value], loss[value]
        _count(has, costs, IN_AND, IN_OR, gains, goal, out)
        _count(gains - has, losses - costs, NOT_IN_AND, NOT_IN_OR, gains, goal, out)


@part
def _count(has, costs, in_and, in_or, gains, goal, out):
    """One literal, as `useful` has it: in a conjunction, and in a disjunction."""
    if has >= goal:
        out[NET + in_and] = max(out[NET + in_and], has - costs)
        out[ALONE + in_and] = max(out[ALONE + in_and], -costs)
        out[HALF + in_and] = max(out[HALF + in_and], has - 2 * costs)
    if gains - costs >= goal:
        out[NET + in_or] = max(out[NET + in_or], has - costs)
        out[ALONE + in_or] = max(out[ALONE + in_or], has)
        out[HALF + in_or] = max(out[HALF + in_or], 2 * has - costs)


@part
def _net_of_intervals(gain, loss, card, floor, gains, losses, out):
    """The greatest and the least sum of neighbours, with gains and losses counted three ways."""
    for way in range(3):
        times_gain = 2 if way == 2 else 1
        times_loss = 2 if way == 1 else 1
        low = times_gain * gain[floor] - times_loss * loss[floor]
        high = low
        top = 0
        bottom = 0
        for value in range(floor + 1, card + 1):
            here = times_gain * gain[value] - times_loss * loss[value]
            top = max(top, here - low)
            bottom = min(bottom, here - high)
            low = min(low, here)
            high = max(high, here)
        rest = times_gain * gains - times_loss * losses - bottom
        if way == 0:
            out[NET + IN_AND] = top
            out[NET + IN_OR] = top
            out[NET + NOT_IN_AND] = rest
            out[NET + NOT_IN_OR] = rest
        elif way == 1:
            out[HALF + IN_AND] = top
            out[HALF + NOT_IN_AND] = rest
        else:
            out[HALF + IN_OR] = top
            out[HALF + NOT_IN_OR] = rest


@part
def _least(of, having, need, floor, card):
    """The least sum of an interval where the other sum is at least what is needed."""
    if need <= 0:
        return 0
    best = -NOTHING
    low = floor
    for high in range(floor + 1, card + 1):
        while low < high and having[high] - having[low + 1] >= need:
            low += 1
        if having[high] - having[low] >= need:
            best = min(best, of[high] - of[low])
    return best


@part
def _most(of, having, room, floor, card):
    """The greatest sum of an interval where the other sum is no more than there is room for."""
    if room < 0:
        return NOTHING
    best = 0
    low = floor
    for high in range(floor + 1, card + 1):
        while having[high] - having[low] > room:
            low += 1
        best = max(best, of[high] - of[low])
    return best


@part
def within_reach(x, y, mask, losses, goal):
    """Functions (bits) of two columns that may exceed the goal.

    A conjunction gains at most what either literal gains, hence at most half of what both gain,
    and loses at least what both lose together beyond all that there is to lose. A disjunction
    gains at most what both gain together, and loses at least what either loses.
    """
    out = 0
    for f in range(8):
        if mask >> f & 1 == 0:
            continue
        i = (IN_AND if f < 4 else IN_OR) + (0 if f < 2 or f > 5 else 1)
        j = (IN_AND if f < 4 else IN_OR) + (0 if f == 0 or f == 2 or f == 5 or f == 7 else 1)
        above = goal - losses if f < 4 else goal
        if (
            x[NET + i] + y[ALONE + j] > above
            and x[ALONE + i] + y[NET + j] > above
            and x[HALF + i] + y[HALF + j] > 2 * above + 1
        ):
            out |= 1 << f
    return out
