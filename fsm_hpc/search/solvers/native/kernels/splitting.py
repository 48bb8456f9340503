# mypy: disable-error-code="no-untyped-def"
"""What a box leaves open on each row, and where to cut it in two."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.intrinsics import popcount
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.shapes import View
from fsm_hpc.search.solvers.native.kernels.states import (
    ACTIVE,
    ACTIVE_COUNT,
    ANTIHOLE,
    BASE,
    HOLE,
    LIVE,
    LIVE_COUNT,
    TRUE,
)
from fsm_hpc.search.solvers.native.kernels.words import NONE, rows_between, weight_in


@part
def settle(data, plan, memory, top, is_mirrored):
    """Words whose rows are all settled leave the list; the others count at their best."""
    live, pieces, codes = memory.live, memory.pieces, memory.codes
    gained, lost, opened = memory.gained, memory.lost, memory.opened
    start = memory.frames[top, LIVE]
    kept = start + memory.frames[top, LIVE_COUNT]
    kept_count = 0
    settled = memory.frames[top, BASE]
    bound = 0
    gain = 0
    loss = 0
    asked = 0
    gained_count = 0
    unsettled = 0
    for word in range(len(data.full)):
        gained[word] = NONE
        lost[word] = NONE
        opened[word] = NONE
    for at in range(start, kept):
        word = live[at]
        is_positive = word < data.positives
        true = NONE
        hole = NONE
        antihole = NONE
        open_rows = NONE
        side, count = _take_apart(data, plan, memory, word)
        for k in range(count):
            rows, code = pieces[side, k], codes[side, k]
            best, worst = plan.positive[code], plan.negative[code]
            state = best if is_positive else worst
            if best != worst:
                open_rows |= rows
            if state == TRUE:
                true |= rows
            elif state == HOLE:
                hole |= rows
            elif state == ANTIHOLE:
                antihole |= rows
        plus, minus = (hole, antihole) if is_positive else (antihole, hole)
        score = weight_in(data, word, true | antihole)
        score = score if is_positive else -score
        if plus | minus | open_rows == NONE:
            settled += score
            continue
        live[kept + kept_count] = word
        kept_count += 1
        bound += score
        gained[word] = plus
        lost[word] = minus
        opened[word] = open_rows
        if plus != NONE:
            gain += weight_in(data, word, plus)
            gained_count += popcount(plus)
        if minus != NONE:
            loss += weight_in(data, word, minus)
        asked += popcount(plus | minus)
        unsettled += popcount(open_rows)
    return View(
        kept,
        kept_count,
        settled,
        bound + settled,
        gain,
        loss,
        asked,
        gained_count,
        unsettled,
        len(data.full) if is_mirrored else data.positives,
        0 if is_mirrored else data.positives,
    )


@part
def _take_apart(data, plan, memory, word):
    """The rows of a word by what is known of each boxed variable, as base-3 digits."""
    pieces, codes, box = memory.pieces, memory.codes, memory.box
    full = data.full[word]
    pieces[0, 0] = full
    codes[0, 0] = 0
    count = 1
    side = 0
    place = 1
    for i in range(len(plan.after)):
        column = memory.columns[i]
        may = rows_between(data, column, box[4 * i], box[4 * i + 3] + 1, word, full)
        must = rows_between(data, column, box[4 * i + 1], box[4 * i + 2] + 1, word, may)
        into = 1 - side
        found = 0
        for k in range(count):
            rows, code = pieces[side, k], codes[side, k]
            pieces[into, found] = rows & ~may
            codes[into, found] = code
            found += rows & ~may != NONE
            pieces[into, found] = rows & must
            codes[into, found] = code + place
            found += rows & must != NONE
            pieces[into, found] = rows & may & ~must
            codes[into, found] = code + 2 * place
            found += rows & may & ~must != NONE
        count = found
        side = into
        place *= 3
    return side, count


@part
def branch(data, memory, boxed, top, view, hopeful):
    """Put both halves of the box on the stack, with the words and holes that are left to them."""
    frames, boxes = memory.frames, memory.boxes
    active = frames[top, ACTIVE] + frames[top, ACTIVE_COUNT]
    target, middle = _place_to_split(data, memory, boxed, view)
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
        frames[node, LIVE] = view.kept
        frames[node, LIVE_COUNT] = view.kept_count
        frames[node, ACTIVE] = active
        frames[node, ACTIVE_COUNT] = hopeful
        frames[node, BASE] = view.settled


@part
def _trim(box, i):
    """No interval ends before it begins."""
    box[i + 1] = min(box[i + 1], box[i + 3])
    box[i + 2] = max(box[i + 2], box[i])


@part
def _place_to_split(data, memory, boxed, view):
    """Where to cut the box in two: variable * 2 + end, and the last value of the first half."""
    target = _end_to_split(data, memory, boxed, view)
    i = target // 2
    column = memory.columns[i]
    begin = memory.box[4 * i] if target % 2 == 0 else memory.box[4 * i + 2] + 1
    end = memory.box[4 * i + 1] if target % 2 == 0 else memory.box[4 * i + 3] + 1
    total = _open_between(data, memory, view, column, begin, end)
    low = begin  # the first value up to which half of the weight lies
    high = end - 1
    while low < high:
        at = (low + high) // 2
        if 2 * _open_between(data, memory, view, column, begin, at + 1) >= total:
            high = at
        else:
            low = at + 1
    # low end: a cut at `low` or below takes row `low` in; high end: `low - 1` leaves it out
    return target, (low if target % 2 == 0 else low - 1)


@part
def _end_to_split(data, memory, boxed, view):
    """The end of a variable's interval that leaves the most weight open."""
    box = memory.box
    best = 0
    target = 0
    for i in range(boxed):
        column = memory.columns[i]
        for end in range(2):
            low = box[4 * i] if end == 0 else box[4 * i + 2] + 1
            high = box[4 * i + 1] if end == 0 else box[4 * i + 3] + 1
            weight = _open_between(data, memory, view, column, low, high) if low < high else 0
            if weight > best:
                best = weight
                target = 2 * i + end
    return target


@part
def _open_between(data, memory, view, column, low, high):
    """What the open rows with a value from low to high - 1 weigh."""
    total = 0
    for at in range(view.kept, view.kept + view.kept_count):
        word = memory.live[at]
        rows = memory.opened[word]
        if rows != NONE:
            total += weight_in(data, word, rows_between(data, column, low, high, word, rows))
    return total
