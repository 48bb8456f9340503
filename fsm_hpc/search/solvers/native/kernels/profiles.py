# mypy: disable-error-code="no-untyped-def"
"""What each literal of a column gains and loses in a hole, and which functions it may serve."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.extremes import extremes
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.words import POINT, SUFFIX

# Cuts of a pivot that may serve a function, by what the literal does in it:
MOST_OF_AND, LEAST_OF_AND_NOT, LEAST_OF_OR, MOST_OF_OR_NOT = range(4)
ALL = 0b11111111


@part
def useful(gain, loss, gains, losses, goal, as_x):
    """Functions of a pair (bits) that can reach the goal given one of its two literals.

    A conjunction gains at most what its literal gains; a disjunction loses at least what it loses.
    """
    out = 0
    if gain >= goal:
        out |= 0b0011 if as_x else 0b0101
    if gains - gain >= goal:
        out |= 0b1100 if as_x else 0b1010
    if gains - loss >= goal:
        out |= 0b11000000 if as_x else 0b10100000
    if gains - (losses - loss) >= goal:
        out |= 0b00110000 if as_x else 0b01010000
    return out


@part
def profile(data, memory, scratch, column, view, goal):
    """The functions that each literal of a column may serve, and what the best of them allow."""
    start, kind, card = data.starts[column], data.kinds[column], memory.cards[column]
    gain, loss = scratch.gain[start:], scratch.loss[start:]
    gains, losses = view.gain, view.loss
    if kind == SUFFIX:
        _limit(gain, loss, card, gains, losses, goal, memory.limits[column])
    extremes(gain, loss, kind, card, data.floors[column], view, goal, memory.extremes[column])
    memory.roles[column, 0] = ALL
    memory.roles[column, 1] = ALL
    if kind == POINT:
        roles_x, roles_y = scratch.roles_x[start:], scratch.roles_y[start:]
        as_x = 0
        as_y = 0
        for value in range(1, card):
            roles_x[value] = useful(gain[value], loss[value], gains, losses, goal, True)
            roles_y[value] = useful(gain[value], loss[value], gains, losses, goal, False)
            as_x |= roles_x[value]
            as_y |= roles_y[value]
        memory.roles[column, 0] = as_x
        memory.roles[column, 1] = as_y


@part
def _limit(gain, loss, card, gains, losses, goal, limits):
    """The same as `useful` for all cuts of a pivot: the higher, the less they gain and lose."""
    low = 0
    while low < card and gain[low + 1] >= goal:
        low += 1
    limits[MOST_OF_AND] = low
    while low > 0 and gains - gain[low - 1] >= goal:
        low -= 1
    while low < card and gains - gain[low] < goal:
        low += 1
    limits[LEAST_OF_AND_NOT] = low
    low = card
    while low > 0 and gains - loss[low - 1] >= goal:
        low -= 1
    limits[LEAST_OF_OR] = low
    while low < card and gains - (losses - loss[low + 1]) >= goal:
        low += 1
    while low > 0 and gains - (losses - loss[low]) < goal:
        low -= 1
    limits[MOST_OF_OR_NOT] = low


@part
def roles_of_cut(limits, cut):
    """Functions (bits) of a pair that a cut of x may serve."""
    out = 0
    if cut <= limits[MOST_OF_AND]:
        out |= 0b0011
    if cut >= limits[LEAST_OF_AND_NOT]:
        out |= 0b1100
    if cut >= limits[LEAST_OF_OR]:
        out |= 0b11000000
    if cut <= limits[MOST_OF_OR_NOT]:
        out |= 0b00110000
    return out


@part
def first_cut(limits, asked):
    """The lowest cut of y that may serve one of the functions."""
    if asked & 0b01010101:
        return 0
    if asked & 0b1010 == 0:
        return limits[LEAST_OF_OR]
    if asked & 0b10100000 == 0:
        return limits[LEAST_OF_AND_NOT]
    return min(limits[LEAST_OF_OR], limits[LEAST_OF_AND_NOT])


@part
def last_cut(limits, asked, card):
    """The highest cut of y that may serve one of the functions."""
    if asked & 0b10101010:
        return card
    if asked & 0b0101 == 0:
        return limits[MOST_OF_OR_NOT]
    if asked & 0b01010000 == 0:
        return limits[MOST_OF_AND]
    return max(limits[MOST_OF_OR_NOT], limits[MOST_OF_AND])
