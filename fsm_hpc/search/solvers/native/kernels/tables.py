# mypy: disable-error-code="no-untyped-def"
"""The best score of two literals, from sets of rows or from sums by value of both columns."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import (
    NOTHING,
    WITH_X,
    WITHOUT_X,
    best_interval,
    combine,
)
from fsm_hpc.search.solvers.native.kernels.intrinsics import lowest
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.profiles import (
    first_cut,
    last_cut,
    roles_of_cut,
)
from fsm_hpc.search.solvers.native.kernels.windows import answer_within
from fsm_hpc.search.solvers.native.kernels.words import (
    INTERVAL,
    NONE,
    ONE,
    POINT,
    WORD_BITS,
    rows_between,
    weight_of_both,
)


@part
def pair_with_point(question, data, memory, scratch, view):
    """The best score above the goal of a category x and a literal of y, if any.

    Only categories that can reach the goal are looked at, and only the rows that have them.
    """
    start = data.starts[question.x]
    best = question.goal
    for step in range(question.card_x - 1):
        code = question.card_x - 1 - step
        asked = question.mask & scratch.roles_x[start + code]
        if asked == 0:
            continue
        _hold(data, memory, view, question.x, code, code + 1)
        gain_x, loss_x = scratch.gain[start + code], scratch.loss[start + code]
        if question.kind_y == POINT and data.sets_from[question.y] >= 0:
            found = _best_set(question, data, memory, scratch, view, gain_x, loss_x, asked, best)
        else:
            found = _best_by_value(question, data, memory, scratch, view, gain_x - loss_x, asked)
        if found > best:
            best = found
            memory.where[0] = code
            memory.where[1] = code
            if question.any_will_do:
                return best
    return best


@part
def _hold(data, memory, view, x, low, high):
    """The rows of the hole on which a literal of x holds."""
    for word in range(view.gain_end):
        memory.gained_x[word] = rows_between(data, x, low, high, word, memory.gained[word])
    for word in range(view.loss_start, len(data.full)):
        memory.lost_x[word] = rows_between(data, x, low, high, word, memory.lost[word])


@part
def _best_set(question, data, memory, scratch, view, gain_x, loss_x, asked, best):
    """The best of the asked functions above the best so far, for one x, over categories of y."""
    start, at, gains, losses = (
        data.starts[question.y],
        data.sets_from[question.y],
        view.gain,
        view.loss,
    )
    max_in = NOTHING
    min_in = -NOTHING
    max_out = NOTHING
    min_out = -NOTHING
    for value in range(1, question.card_y):
        if asked & scratch.roles_y[start + value] == 0:
            continue
        rows = data.sets[at + value]
        both = weight_of_both(data, memory.gained_x, rows, 0, view.gain_end)
        gain_y, loss_y = scratch.gain[start + value], scratch.loss[start + value]
        if _most(both, gain_x, gain_y, loss_x, loss_y, gains, losses, asked) <= best:
            continue
        inside = both - weight_of_both(data, memory.lost_x, rows, view.loss_start, len(data.full))
        outside = gain_y - loss_y - inside
        max_in = max(max_in, inside)
        min_in = min(min_in, inside)
        max_out = max(max_out, outside)
        min_out = min(min_out, outside)
    return combine(max_in, min_in, max_out, min_out, gain_x - loss_x, gains - losses, asked)


@part
def _most(both, x, y, loss_x, loss_y, gains, losses, mask):
    """The most that the asked functions can reach, once the rows gained by both are known.

    Lost rows only subtract: at least 0 for a conjunction, for a disjunction at least those of the
    literal that loses more.
    """
    best = NOTHING
    if mask & 1:
        best = max(best, both)
    if mask & 2:
        best = max(best, x - both)
    if mask & 4:
        best = max(best, y - both)
    if mask & 8:
        best = max(best, gains - x - y + both)
    if mask & 16:
        best = max(best, gains - both - max(losses - loss_x, losses - loss_y))
    if mask & 32:
        best = max(best, gains - x + both - max(losses - loss_x, loss_y))
    if mask & 64:
        best = max(best, gains - y + both - max(loss_x, losses - loss_y))
    if mask & 128:
        best = max(best, x + y - both - max(loss_x, loss_y))
    return best


@part
def _best_by_value(question, data, memory, scratch, view, in_total, asked):
    """The best of the asked functions for one x, from sums by value of y where x holds."""
    inside, total, card, floor = (
        scratch.inside,
        view.gain - view.loss,
        question.card_y,
        question.floor_y,
    )
    sums = scratch.net[data.starts[question.y] :]
    for value in range(card):
        inside[value] = 0
    _scatter(data, memory.gained_x, 0, view.gain_end, question.values_y, inside, 1)
    _scatter(data, memory.lost_x, view.loss_start, len(data.full), question.values_y, inside, -1)
    if question.kind_y == INTERVAL:
        if data.has_windows:
            return answer_within(inside, sums, question, data, scratch, in_total, total, asked)
        return best_interval(inside, sums, card, floor, in_total, total, asked)
    if question.kind_y == POINT:
        return _best_category(inside, sums, card, in_total, total, asked)
    limits = memory.limits[question.y]
    first = max(first_cut(limits, asked), floor)
    last = min(last_cut(limits, asked, card), card - question.top_y)
    if first > last:
        return NOTHING
    return _best_cut(inside, sums, card, first, last, in_total, total, asked)


@part
def _scatter(data, words, start, end, values, sums, sign):
    """Add what the rows of a set weigh to the sum of their value."""
    for word in range(start, end):
        rest = words[word]
        while rest != NONE:
            row = (word << WORD_BITS) + lowest(rest)
            sums[values[row]] += sign * abs(data.weights[row])
            rest &= rest - ONE


@part
def _best_category(inside, sums, card, in_total, total, asked):
    """The best of the asked functions over the categories of y."""
    max_in = NOTHING
    min_in = -NOTHING
    max_out = NOTHING
    min_out = -NOTHING
    for value in range(1, card):
        max_in = max(max_in, inside[value])
        min_in = min(min_in, inside[value])
        max_out = max(max_out, sums[value] - inside[value])
        min_out = min(min_out, sums[value] - inside[value])
    return combine(max_in, min_in, max_out, min_out, in_total, total, asked)


@part
def pair_of_pivots(question, data, memory, scratch):
    """The best score above the goal of two pivots, if any, from a table by value of x and y."""
    x, y, weights, rows = question.values_x, question.values_y, memory.row_weights, memory.rows
    card_x, card_y, mask = question.card_x, question.card_y, question.mask
    cells, inside = scratch.cells, scratch.inside
    limits_x, limits_y = memory.limits[question.x], memory.limits[question.y]
    start_x = data.starts[question.x]
    sums = scratch.net[data.starts[question.y] :]
    total = question.gains - question.losses
    for cell in range(card_x * card_y):
        cells[cell] = 0
    for value in range(card_y):
        inside[value] = 0
    for k in range(question.rows):
        cells[x[rows[k]] * card_y + y[rows[k]]] += weights[k]
    best = question.goal
    for step in range(question.top_x, card_x + 1 - question.floor_x):
        low = card_x - step
        if step > 0:
            row = cells[low * card_y :]
            for value in range(card_y):
                inside[value] += row[value]
        asked = mask & roles_of_cut(limits_x, low)
        if asked == 0:
            continue
        first = max(first_cut(limits_y, asked), question.floor_y)
        last = min(last_cut(limits_y, asked, card_y), card_y - question.top_y)
        if first > last:
            continue
        in_total = scratch.gain[start_x + low] - scratch.loss[start_x + low]
        found = _best_cut(inside, sums, card_y, first, last, in_total, total, asked)
        if found > best:
            best = found
            memory.where[0] = low
            memory.where[1] = max(low, card_x - 1)
            if question.any_will_do:
                return best
    return best


@part
def _best_cut(inside, sums, card, first, last, in_total, total, asked):
    """The same as `answer` for a pivot, over the cuts from `first` to `last` only."""
    max_in = 0
    min_in = 0
    max_out = 0
    min_out = 0
    if asked & WITH_X:
        run = 0
        for value in range(last, card):
            run += inside[value]
        max_in = run
        min_in = run
        for step in range(last - first):
            run += inside[last - 1 - step]
            max_in = max(max_in, run)
            min_in = min(min_in, run)
    if asked & WITHOUT_X:
        run = 0
        for value in range(last, card):
            run += sums[value] - inside[value]
        max_out = run
        min_out = run
        for step in range(last - first):
            run += sums[last - 1 - step] - inside[last - 1 - step]
            max_out = max(max_out, run)
            min_out = min(min_out, run)
    return combine(max_in, min_in, max_out, min_out, in_total, total, asked)
