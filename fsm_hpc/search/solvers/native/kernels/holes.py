# mypy: disable-error-code="no-untyped-def"
"""The best literal, or pair of literals, to fill a hole with, for all cuts at once."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

# How a column is cut: category or Boolean (value = code), pivot (value >= cut), interval.
POINT, SUFFIX, INTERVAL = range(3)
NOTHING = -(1 << 30)
WITH_X = 0b00110011  # functions of a pair that ask for `x and y`, the others for `not x and y`
WITHOUT_X = 0b11001100
ALONE = 4  # the mark of a value that no run takes in
ROWS_OF_A_VALUE = 16  # from here on all values of a column are told apart


@part
def localise(data, memory, scratch, column, count, gained, merge):
    """Number the values; with `merge`, only those that the rows have, neighbours of one sign alike.

    Between rows of one sign the score is monotone in the cut, so one at their ends is as good;
    that may be the one beyond all rows, hence `merge` wants the literal that holds nowhere. Where
    rows are many to a value, few neighbours are of one sign, and all values keep their numbers.
    Where that literal is no answer, the highest cut holds at its rows anyway: these stay apart.
    """
    ranks, items, local = data.ranks[column], memory.rows, scratch.local[column]
    marks, card, floor = scratch.marks, data.cards[column], data.floors[column]
    kind = data.kinds[column]
    if data.is_strict:
        memory.tops[column] = 0
    has_windows = data.is_strict and kind == INTERVAL  # ends that have support are told apart
    if kind == POINT or has_windows or not merge or card * ROWS_OF_A_VALUE < count:
        for k in range(count):
            local[k] = ranks[items[k]]
        if data.is_strict and kind == SUFFIX:
            for k in range(count):
                memory.tops[column] |= local[k] == card - 1
        return card
    for value in range(card):
        marks[value] = 0
    for k in range(gained):
        marks[ranks[items[k]]] = 1
    for k in range(gained, count):
        marks[ranks[items[k]]] |= 2
    if floor:
        marks[0] = 0
    if data.is_strict and marks[card - 1]:
        memory.tops[column] = 1
        marks[card - 1] |= ALONE
    blocks = floor
    before = 3
    for value in range(floor, card):
        sign = marks[value]
        if sign == 0:
            continue
        if sign == 3 or sign != before:
            blocks += 1
        marks[value] = blocks - 1
        before = sign
    for k in range(count):
        local[k] = marks[ranks[items[k]]]
    return blocks


@part
def single(question, memory, scratch, empty):
    """The best score of one literal: mask bit 0 as it is, bit 1 negated; `where`: its cut.

    `empty`: the literal may hold on none of the rows. In a relaxed hole that is a choice, since
    rows where it holds may be left out; in an exact one, formulas of less size score the same.
    """
    local, weights, sums = scratch.local[question.x], memory.row_weights, scratch.sums
    kind, card, mask, floor = question.kind_x, question.card_x, question.mask, question.floor_x
    total = 0
    for value in range(card):
        sums[value] = 0
    for k in range(question.rows):
        sums[local[k]] += weights[k]
        total += weights[k]
    best = NOTHING
    low = 0
    high = 0
    start_max = 0
    start_min = 0
    top = 0
    bottom = 0
    run = 0
    for step in range(card - floor):
        value = card - 1 - step if kind == SUFFIX else step + floor
        if kind == POINT:
            if value == 0:
                continue
            top = sums[value]
            bottom = top
            start_max = value
            start_min = value
        elif kind == SUFFIX:
            run += sums[value]
            top = run
            bottom = run
            start_max = value
            start_min = value
        else:
            if step == 0 or top <= 0:
                top = 0
                start_max = value
            if step == 0 or bottom >= 0:
                bottom = 0
                start_min = value
            top += sums[value]
            bottom += sums[value]
        if mask & 1 and top > best:
            best = top
            low = start_max
            high = value
        if mask & 2 and total - bottom > best:
            best = total - bottom
            low = start_min
            high = value
    memory.where[0] = low
    memory.where[1] = high
    if empty and kind != POINT and question.top_x == 0:
        nowhere = max(0 if mask & 1 else NOTHING, total if mask & 2 else NOTHING)
        if nowhere > best:
            best = nowhere
            memory.where[0] = card
            memory.where[1] = card
    return best


@subroutine
def answer(inside, sums, card, floor, kind, in_total, total, mask, top=0):
    """The best of the asked functions of x and y, for one x, over all literals of y.

    `inside`: sums by value of y where x holds; `sums`: the same over all rows.
    """
    a = 0
    b = 0
    # a literal that holds on no row, see `single`
    empty = NOTHING if kind == POINT or top else 0
    max_in = empty
    min_in = -empty
    max_out = empty
    min_out = -empty
    if kind == SUFFIX:
        for step in range(card - floor):
            value = card - 1 - step
            a += inside[value]
            b += sums[value] - inside[value]
            max_in = max(max_in, a)
            min_in = min(min_in, a)
            max_out = max(max_out, b)
            min_out = min(min_out, b)
    elif kind == POINT:
        for value in range(1, card):
            a = inside[value]
            b = sums[value] - a
            max_in = max(max_in, a)
            min_in = min(min_in, a)
            max_out = max(max_out, b)
            min_out = min(min_out, b)
    else:
        a2 = 0
        b2 = 0
        for value in range(floor, card):
            here = inside[value]
            there = sums[value] - here
            a = max(a, 0) + here
            a2 = min(a2, 0) + here
            b = max(b, 0) + there
            b2 = min(b2, 0) + there
            max_in = max(max_in, a)
            min_in = min(min_in, a2)
            max_out = max(max_out, b)
            min_out = min(min_out, b2)
    return combine(max_in, min_in, max_out, min_out, in_total, total, mask)


@part
def combine(max_in, min_in, max_out, min_out, in_total, total, mask):
    """The best among the asked functions, given the extremes of `x and y` and `not x and y`."""
    best = NOTHING
    if mask & 1:
        best = max(best, max_in)
    if mask & 2:
        best = max(best, in_total - min_in)
    if mask & 4:
        best = max(best, max_out)
    if mask & 8:
        best = max(best, total - in_total - min_out)
    if mask & 16:
        best = max(best, total - min_in)
    if mask & 32:
        best = max(best, total - in_total + max_in)
    if mask & 64:
        best = max(best, total - min_out)
    if mask & 128:
        best = max(best, in_total + max_out)
    return best
