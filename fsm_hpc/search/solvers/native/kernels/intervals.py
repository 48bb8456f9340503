# mypy: disable-error-code="no-untyped-def"
"""The best pair of interval literals, by branch and bound over the ends of the first one."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, answer
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part

GROWING = 0b11000011  # functions that hold on more rows when x does
SHRINKING = 0b00111100


@part
def pair_of_intervals(question, memory, scratch):
    """The best score above the goal, or something not above it when there is none.

    `cells` and `losses` hold gains and losses by value of y over the rows with x below a value;
    `ends` is the stack of ranges for the ends of x.
    """
    gains, losses, ends = scratch.cells, scratch.losses, scratch.ends
    inside, sums = scratch.inside, scratch.sums
    mask, any_will_do, goal = question.mask, question.any_will_do, question.goal
    card_x, card_y = question.card_x, question.card_y
    total = _fill(question, memory, scratch)
    top = card_x * card_y
    for value in range(card_y):
        sums[value] = gains[top + value] - losses[top + value]
        inside[value] = 0
    best = answer(inside, sums, card_y, INTERVAL, 0, total, mask)
    if any_will_do and best > goal:
        return best
    best = max(best, goal)
    ends[0, 0] = 0
    ends[0, 1] = card_x - 1
    ends[0, 2] = 0
    ends[0, 3] = card_x - 1
    stacked = 1
    while stacked:
        stacked -= 1
        low1, low2, high1, high2 = (
            ends[stacked, 0],
            ends[stacked, 1],
            ends[stacked, 2],
            ends[stacked, 3],
        )
        found = _bound(low1, low2, high1, high2, card_y, mask, gains, losses, inside, sums, total)
        if found <= best:
            continue
        if low1 == low2 and high1 == high2:
            best = found
            memory.where[0] = low1
            memory.where[1] = high1
            if any_will_do:
                return best
            continue
        stacked = _halve(ends, stacked, low1, low2, high1, high2)
    return best


@part
def _fill(question, memory, scratch):
    x, y, weights = scratch.local[question.x], scratch.local[question.y], memory.row_weights
    gains, losses = scratch.cells, scratch.losses
    card_x, card_y = question.card_x, question.card_y
    for cell in range((card_x + 1) * card_y):
        gains[cell] = 0
        losses[cell] = 0
    total = 0
    for k in range(question.rows):
        cell = (x[k] + 1) * card_y + y[k]
        total += weights[k]
        if weights[k] > 0:
            gains[cell] += weights[k]
        else:
            losses[cell] -= weights[k]
    for cell in range(card_y, (card_x + 1) * card_y):
        gains[cell] += gains[cell - card_y]
        losses[cell] += losses[cell - card_y]
    return total


@kernel
def _bound(low1, low2, high1, high2, card_y, mask, gains, losses, inside, sums, total):
    """No x with its ends in these ranges scores higher.

    A function that grows with x gains at most the positive rows of the widest x and loses at
    least the negative ones of the narrowest; one that shrinks with x the other way round.
    """
    wide = (high2 + 1) * card_y
    wide_from = low1 * card_y
    narrow = max(high1 + 1, low2) * card_y
    narrow_from = low2 * card_y
    best = -(1 << 30)
    if mask & GROWING:
        in_total = 0
        for value in range(card_y):
            here = gains[wide + value] - gains[wide_from + value]
            here -= losses[narrow + value] - losses[narrow_from + value]
            inside[value] = here
            in_total += here
        best = answer(inside, sums, card_y, INTERVAL, in_total, total, mask & GROWING)
    if mask & SHRINKING:
        in_total = 0
        for value in range(card_y):
            here = gains[narrow + value] - gains[narrow_from + value]
            here -= losses[wide + value] - losses[wide_from + value]
            inside[value] = here
            in_total += here
        best = max(best, answer(inside, sums, card_y, INTERVAL, in_total, total, mask & SHRINKING))
    return best


@part
def _halve(ends, at, low1, low2, high1, high2):
    """Put the halves of a box on the stack, without intervals that end before they begin."""
    by_low = low2 - low1 >= high2 - high1
    for half in range(2):
        a1, a2, b1, b2 = low1, low2, high1, high2
        if by_low:
            middle = (low1 + low2) // 2
            if half == 0:
                a1 = middle + 1
            else:
                a2 = middle
        else:
            middle = (high1 + high2) // 2
            if half == 0:
                b2 = middle
            else:
                b1 = middle + 1
        a2 = min(a2, b2)
        b1 = max(b1, a1)
        if a1 <= a2 and b1 <= b2:
            ends[at, 0] = a1
            ends[at, 1] = a2
            ends[at, 2] = b1
            ends[at, 3] = b2
            at += 1
    return at
