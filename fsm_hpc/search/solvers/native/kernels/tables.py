# mypy: disable-error-code="no-untyped-def"
"""The best score of two literals from sums by value of both columns."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import (
    INTERVAL,
    WITH_X,
    WITHOUT_X,
    answer,
    combine,
)
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.profiles import (
    first_cut,
    last_cut,
    roles_of_cut,
    useful,
)
from fsm_hpc.search.solvers.native.kernels.windows import answer_within


@part
def pair_with_point(question, data, memory, scratch):
    """The best score above the goal of a category x and a literal of y, if any.

    Only categories that can reach the goal are looked at, and only the rows that have them.
    """
    y, weights, inside = scratch.local[question.y], memory.row_weights, scratch.inside
    ordered, begins = scratch.ordered[question.x], scratch.begins
    start, card_y = data.starts[question.x], question.card_y
    sums = scratch.net[data.starts[question.y] :]
    total = question.gains - question.losses
    best = question.goal
    for step in range(question.card_x - 1):
        code = question.card_x - 1 - step
        asked = question.mask & useful(
            scratch.gain[start + code],
            scratch.loss[start + code],
            question.gains,
            question.losses,
            question.goal + 1,
            True,
        )
        if asked == 0:
            continue
        for value in range(card_y):
            inside[value] = 0
        for at in range(begins[start + code], begins[start + code + 1]):
            k = ordered[at]
            inside[y[k]] += weights[k]
        in_total = scratch.net[start + code]
        if data.is_strict and question.kind_y == INTERVAL:
            found = answer_within(inside, sums, question, data, scratch, in_total, total, asked)
        else:
            found = answer(
                inside,
                sums,
                card_y,
                question.floor_y,
                question.kind_y,
                in_total,
                total,
                asked,
                question.top_y,
            )
        if found > best:
            best = found
            memory.where[0] = code
            memory.where[1] = code
            if question.any_will_do:
                return best
    return best


@part
def pair_of_pivots(question, data, memory, scratch):
    """The best score above the goal of two pivots, if any, from a table by value of x and y."""
    x, y, weights = scratch.local[question.x], scratch.local[question.y], memory.row_weights
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
        cells[x[k] * card_y + y[k]] += weights[k]
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
