# mypy: disable-error-code="no-untyped-def"
"""What each literal of a column gains and loses in a hole, and which functions it may serve."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.extremes import extremes
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.kernels.kernel import part

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
def weigh(data, memory, scratch, column, view, goal):
    """Gains and losses of every literal of a localised column, and the functions it may serve.

    `net`: the sum of each value; `gain`, `loss`: of each literal, for a pivot of all values from it
    on, for an interval of all values below.
    """
    start, kind, card = data.starts[column], data.kinds[column], memory.cards[column]
    local, weights = scratch.local[column], memory.row_weights
    net, gain, loss = scratch.net[start:], scratch.gain[start:], scratch.loss[start:]
    gains, losses = view.gain, view.loss
    for value in range(card + 1):
        gain[value] = 0
        loss[value] = 0
    for k in range(view.gained):
        gain[local[k]] += weights[k]
    for k in range(view.gained, view.asked):
        loss[local[k]] -= weights[k]
    for value in range(card):
        net[value] = gain[value] - loss[value]
    if kind == SUFFIX:
        for step in range(card):
            value = card - 1 - step
            loss[value] += loss[value + 1]
            gain[value] += gain[value + 1]
        _limit(gain, loss, card, gains, losses, goal, memory.limits[column])
    elif kind == INTERVAL:  # of all values below
        before_gain = 0
        before_loss = 0
        for value in range(card + 1):
            here_gain, here_loss = gain[value], loss[value]
            gain[value] = before_gain
            loss[value] = before_loss
            before_gain += here_gain
            before_loss += here_loss
    extremes(gain, loss, kind, card, data.floors[column], view, goal, memory.extremes[column])
    memory.roles[column, 0] = ALL
    memory.roles[column, 1] = ALL
    if kind == POINT:
        as_x = 0
        as_y = 0
        for value in range(1, card):
            as_x |= useful(gain[value], loss[value], gains, losses, goal, True)
            as_y |= useful(gain[value], loss[value], gains, losses, goal, False)
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


@part
def sort_rows(data, memory, scratch, column, count):
    """The rows of a hole by their value in a column: value v from begins[v] to begins[v + 1]."""
    start, card = data.starts[column], memory.cards[column]
    local, begins, ordered = scratch.local[column], scratch.begins, scratch.ordered[column]
    for at in range(start, start + card + 1):
        begins[at] = 0
    for k in range(count):
        begins[start + local[k]] += 1
    total = 0
    for at in range(start, start + card + 1):
        total += begins[at]
        begins[at] = total
    for step in range(count):
        k = count - 1 - step
        at = start + local[k]
        begins[at] -= 1
        ordered[begins[at]] = k
