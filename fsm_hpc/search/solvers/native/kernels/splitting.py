# mypy: disable-error-code="no-untyped-def"
"""What a box leaves open on each row, and where to cut it in two."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.shapes import View
from fsm_hpc.search.solvers.native.kernels.states import (
    ACTIVE,
    ACTIVE_COUNT,
    ANTIHOLE,
    BASE,
    LIVE,
    LIVE_COUNT,
    TRUE,
)


@part
def classify(data, memory, boxed, start, count):
    """By row, what is known of each boxed variable, as base-3 digits."""
    digits, live, box = memory.digits, memory.live, memory.box
    for k in range(count):
        digits[k] = 0
    place = 1
    for i in range(boxed):
        values = data.ranks[memory.columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        for k in range(count):
            value = values[live[start + k]]
            digit = 0
            if low1 <= value <= high2:
                digit = 1 if low2 <= value <= high1 else 2
            digits[k] += place * digit
        place *= 3


@part
def settle(data, plan, memory, top):
    """Rows whose state is settled leave the list; the others count at their best.

    Of the rows that the hole decides, those that it gains come first.
    """
    live, digits, open_rows = memory.live, memory.digits, memory.open_rows
    rows, row_weights = memory.rows, memory.row_weights
    positive, negative, weights = plan.positive, plan.negative, data.weights
    start = memory.frames[top, LIVE]
    count = memory.frames[top, LIVE_COUNT]
    kept = start + count if start + 2 * count <= len(live) else -1
    keeps_all = kept < 0
    kept_count = 0
    settled = memory.frames[top, BASE]
    bound = 0
    gain = 0
    loss = 0
    plus = 0
    minus = 0
    unsettled = 0
    for k in range(count):  # without branches, which could not be foreseen: every row is written
        row = live[start + k]
        weight = weights[row]
        best, worst = positive[digits[k]], negative[digits[k]]
        state = best if weight > 0 else worst
        is_open = best != worst
        is_asked = state > TRUE
        counts = weight * ((state == TRUE) | (state == ANTIHOLE))
        is_settled = (state == TRUE) & (not is_open)
        settled += counts * is_settled
        bound += counts * (not is_settled)
        unsettled += is_open
        weight = -weight if state == ANTIHOLE else weight
        is_gained = is_asked & (weight > 0)
        is_lost = is_asked & (weight < 0)
        rows[plus] = row
        row_weights[plus] = weight
        plus += is_gained
        gain += weight * is_gained
        memory.lost_rows[minus] = row
        memory.lost_weights[minus] = weight
        minus += is_lost
        loss -= weight * is_lost
        memory.kept_rows[kept_count] = row
        open_rows[kept_count] = is_open
        kept_count += keeps_all | is_open | is_asked
    for k in range(minus):
        rows[plus + k] = memory.lost_rows[k]
        row_weights[plus + k] = memory.lost_weights[k]
    if not keeps_all:
        for k in range(kept_count):
            live[kept + k] = memory.kept_rows[k]
    return View(
        kept, kept_count, settled, bound + settled, gain, loss, plus + minus, plus, unsettled
    )


@part
def branch(data, memory, scratch, boxed, top, view, hopeful):
    """Put both halves of the box on the stack, with the rows and holes that are left to them."""
    frames, boxes = memory.frames, memory.boxes
    kept, kept_count, settled = view.kept, view.kept_count, view.settled
    if kept < 0:
        kept = frames[top, LIVE]
        kept_count = frames[top, LIVE_COUNT]
        settled = frames[top, BASE]
    active = frames[top, ACTIVE] + frames[top, ACTIVE_COUNT]
    target, middle = _place_to_split(data, memory, boxed, kept, kept_count, scratch.marks)
    i = 4 * (target // 2) + 2 * (target % 2)
    for half in range(2):
        node = top + 1 - half
        for field in range(4 * boxed):
            boxes[node, field] = memory.box[field]
        if half == 0:
            boxes[node, i + 1] = middle
        else:
            boxes[node, i] = middle + 1
        _trim(boxes[node], 4 * (target // 2))
        frames[node, LIVE] = kept
        frames[node, LIVE_COUNT] = kept_count
        frames[node, ACTIVE] = active
        frames[node, ACTIVE_COUNT] = hopeful
        frames[node, BASE] = settled


@part
def _trim(box, i):
    """No interval ends before it begins."""
    box[i + 1] = min(box[i + 1], box[i + 3])
    box[i + 2] = max(box[i + 2], box[i])


@part
def _place_to_split(data, memory, boxed, start, count, marks):
    """Where to cut the box in two: variable * 2 + end, and the last value of the first half."""
    target = _end_to_split(data, memory, boxed, start, count)
    i = target // 2
    values = data.ranks[memory.columns[i]]
    begin = memory.box[4 * i] if target % 2 == 0 else memory.box[4 * i + 2] + 1
    end = memory.box[4 * i + 1] if target % 2 == 0 else memory.box[4 * i + 3] + 1
    for value in range(begin, end):
        marks[value - begin] = 0
    total = 0
    for k in range(count):
        if memory.open_rows[k]:
            row = memory.live[start + k]
            value = values[row]
            if begin <= value < end:
                marks[value - begin] += abs(data.weights[row])
                total += abs(data.weights[row])
    run = 0
    at = begin
    while at < end - 1:
        run += marks[at - begin]
        if 2 * run >= total:
            break
        at += 1
    # low end: a cut at `at` or below takes row `at` in; high end: `at - 1` or below leaves it out
    return target, (at if target % 2 == 0 else at - 1)


@part
def _end_to_split(data, memory, boxed, start, count):
    """The end of a variable's interval that leaves the most weight open."""
    box = memory.box
    best = 0
    target = 0
    for i in range(boxed):
        values = data.ranks[memory.columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        left = 0
        right = 0
        for k in range(count):
            if memory.open_rows[k]:
                row = memory.live[start + k]
                value = values[row]
                if low1 <= value < low2:
                    left += abs(data.weights[row])
                if high1 < value <= high2:
                    right += abs(data.weights[row])
        if left > best:
            best = left
            target = 2 * i
        if right > best:
            best = right
            target = 2 * i + 1
    return target
