# mypy: disable-error-code="no-untyped-def"
"""The best cuts of two columns, by branch and bound over ranges of both."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import NOTHING
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.profiles import first_cut, last_cut
from fsm_hpc.search.solvers.native.kernels.words import POINT, weight_of_three

# of a range of cuts: the first and the last cut of x and of y, what the hole gains and loses where
# both hold, for each pair of them; and of which of these that is known (bits)
X1, X2, Y1, Y2, GAIN, LOSS, KNOWN = 0, 1, 2, 3, 4, 8, 12
FIELDS = 13


@part
def pair_with_cut(question, data, memory, scratch, view):
    """The best score above the goal of a literal of x and a pivot, if any.

    Of equal scores the one with the highest cut, or category, of x. `where`: that one.
    """
    is_point = question.kind_x == POINT
    start, best = data.starts[question.x], question.goal
    for step in range(question.card_x - 1 if is_point else 1):
        first, last, mask = question.floor_x, question.card_x - question.top_x, question.mask
        if is_point:
            first = question.card_x - 1 - step
            last = first
            mask &= scratch.roles_x[start + first]
        if mask:
            best = _best_in(question, data, memory, scratch, view, mask, best, first, last)
            if question.any_will_do and best > question.goal:
                return best
    return best


@part
def _best_in(question, data, memory, scratch, view, mask, goal, first, last):
    """The same with the literal of x between two of them."""
    ranges, limits = scratch.ranges, memory.limits[question.y]
    first_y = max(first_cut(limits, mask), question.floor_y)
    last_y = min(last_cut(limits, mask, question.card_y), question.card_y - question.top_y)
    best = goal
    held = -1
    ranges[0, X1] = first
    ranges[0, X2] = last
    ranges[0, Y1] = first_y
    ranges[0, Y2] = last_y
    ranges[0, KNOWN] = 0
    stacked = 1 if first <= last and first_y <= last_y else 0
    while stacked:
        stacked -= 1
        here = ranges[stacked]
        _count_corners(question, data, memory, scratch, view, here)
        bound = _bound(question, data, scratch, view, mask, here)
        if bound < best or (bound == best and here[X2] <= held) or bound <= goal:
            continue
        wide_x, wide_y = here[X2] - here[X1], here[Y2] - here[Y1]
        if wide_x == 0 and wide_y == 0:
            best = bound
            held = here[X1]
            memory.where[0] = held
            memory.where[1] = held if question.kind_x == POINT else max(held, question.card_x - 1)
            if question.any_will_do:
                return best
            continue
        _halve(ranges, stacked, X1 if wide_x >= wide_y else Y1)
        stacked += 2
    return best


@part
def _halve(ranges, at, low):
    """Put the halves of a range where it was: the upper one on top."""
    high = low + 1
    middle = (ranges[at, low] + ranges[at, high]) // 2
    for field in range(FIELDS):
        ranges[at + 1, field] = ranges[at, field]
    ranges[at, high] = middle
    ranges[at + 1, low] = middle + 1
    ranges[at, KNOWN] = 0b0011 if low == X1 else 0b0101
    ranges[at + 1, KNOWN] = 0b1100 if low == X1 else 0b1010


@part
def _count_corners(question, data, memory, scratch, view, here):
    """What the hole gains and loses where both literals hold, at each corner of a range."""
    for corner in range(4):
        if here[KNOWN] >> corner & 1:
            continue
        if corner & 1 and here[Y1] == here[Y2]:
            here[GAIN + corner] = here[GAIN + corner - 1]
            here[LOSS + corner] = here[LOSS + corner - 1]
            continue
        if corner & 2 and here[X1] == here[X2]:
            here[GAIN + corner] = here[GAIN + corner - 2]
            here[LOSS + corner] = here[LOSS + corner - 2]
            continue
        x = data.sets[_set_of(data, memory, scratch, question.x, here[X1 + (corner >> 1)])]
        y = data.sets[_set_of(data, memory, scratch, question.y, here[Y1 + (corner & 1)])]
        words = len(data.full)
        here[GAIN + corner] = weight_of_three(data, memory.gained, x, y, 0, view.gain_end)
        here[LOSS + corner] = weight_of_three(data, memory.lost, x, y, view.loss_start, words)


@part
def _set_of(data, memory, scratch, column, cut):
    """The set of rows that a cut, or a category, has."""
    value = scratch.cut_at[data.starts[column] + cut] if memory.merged[column] else cut
    return data.sets_from[column] + value


@part
def _bound(question, data, scratch, view, mask, here):
    """No cuts in these ranges score higher with the asked functions.

    A quadrant of two cuts gains at most what the widest one in the ranges gains, and loses at
    least what the narrowest one loses; its complement the other way round.
    """
    at_x, at_y = data.starts[question.x], data.starts[question.y]
    x1, x2, y1, y2 = at_x + here[X1], at_x + here[X2], at_y + here[Y1], at_y + here[Y2]
    gain, loss, total = scratch.gain, scratch.loss, view.gain - view.loss
    best = NOTHING
    for quadrant in range(4):
        asked = mask >> quadrant & 0b10001
        if asked == 0:
            continue
        if quadrant == 0:
            wide_gain, wide_loss = here[GAIN], here[LOSS]
            gain_left, loss_left = here[GAIN + 3], here[LOSS + 3]
        elif quadrant == 1:
            wide_gain, wide_loss = gain[x1] - here[GAIN + 1], loss[x1] - here[LOSS + 1]
            gain_left, loss_left = gain[x2] - here[GAIN + 2], loss[x2] - here[LOSS + 2]
        elif quadrant == 2:
            wide_gain, wide_loss = gain[y1] - here[GAIN + 2], loss[y1] - here[LOSS + 2]
            gain_left, loss_left = gain[y2] - here[GAIN + 1], loss[y2] - here[LOSS + 1]
        else:
            wide_gain = view.gain - gain[x2] - gain[y2] + here[GAIN + 3]
            wide_loss = view.loss - loss[x2] - loss[y2] + here[LOSS + 3]
            gain_left = view.gain - gain[x1] - gain[y1] + here[GAIN]
            loss_left = view.loss - loss[x1] - loss[y1] + here[LOSS]
        if asked & 1:
            best = max(best, wide_gain - loss_left)
        if asked & 16:
            best = max(best, total - gain_left + wide_loss)
    return best
