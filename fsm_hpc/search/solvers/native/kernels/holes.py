# mypy: disable-error-code="no-untyped-def"
"""The columns of a hole: values numbered anew, sums by literal, and the best single literal."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.intrinsics import lowest
from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine
from fsm_hpc.search.solvers.native.kernels.words import (
    INTERVAL,
    NONE,
    ONE,
    POINT,
    SUFFIX,
    WORD_BITS,
    weight_of_both,
)

NOTHING = -(1 << 30)
WITH_X = 0b00110011  # functions of a pair that ask for `x and y`, the others for `not x and y`
WITHOUT_X = 0b11001100
ALONE = 4  # the mark of a value that no run takes in
ROWS_OF_A_VALUE = 16  # from here on all values of a column are told apart
WORDS_OF_A_ROW = 8  # that are counted in the time that a row takes


@part
def list_rows(data, memory, view, box):
    """The rows that the hole decides, one by one: those that it gains, then those it loses."""
    if memory.listed[0] == box:
        return
    memory.listed[0] = box
    count = 0
    for side in range(2):
        words = memory.gained if side == 0 else memory.lost
        for at in range(view.kept, view.kept + view.kept_count):
            word = memory.live[at]
            rest = words[word]
            while rest != NONE:
                row = (word << WORD_BITS) + lowest(rest)
                weight = abs(data.weights[row])
                memory.rows[count] = row
                memory.row_weights[count] = weight if side == 0 else -weight
                count += 1
                rest &= rest - ONE


@part
def localise(data, memory, scratch, column, view, merge, box):
    """Number the values; with `merge`, only those that the rows have, neighbours of one sign alike.

    Between rows of one sign the score is monotone in the cut, so one at their ends is as good;
    that may be the one beyond all rows, which an interval has as the literal that holds nowhere. A
    pivot has none: its highest cut holds at its rows anyway, and these stay apart. Where rows are
    many to a value, few neighbours are of one sign, and all values keep their numbers.
    """
    card, floor, kind = data.cards[column], data.floors[column], data.kinds[column]
    count = view.asked
    # ends of windows, which have support, are told apart
    keeps_all = kind == POINT or (kind == INTERVAL and data.has_windows)
    memory.tops[column] = 0
    memory.merged[column] = merge and not keeps_all and card * ROWS_OF_A_VALUE >= count
    if not memory.merged[column]:
        return card
    list_rows(data, memory, view, box)
    ranks, items, marks = data.ranks[column], memory.rows, scratch.marks
    local, cut_at = scratch.local[column], scratch.cut_at[data.starts[column] :]
    for value in range(card):
        marks[value] = 0
    for k in range(view.gained):
        marks[ranks[items[k]]] = 1
    for k in range(view.gained, count):
        marks[ranks[items[k]]] |= 2
    if floor:
        marks[0] = 0
    if kind == SUFFIX and marks[card - 1]:
        memory.tops[column] = 1
        marks[card - 1] |= ALONE
    blocks = floor
    before = 3
    for value in range(floor, card):  # without branches, which could not be foreseen
        sign = marks[value]
        cut_at[blocks] = value
        blocks += (sign != 0) & ((sign == 3) | (sign != before))
        marks[value] = blocks - 1
        before = sign if sign != 0 else before
    for k in range(count):
        local[items[k]] = marks[ranks[items[k]]]
    cut_at[blocks] = card
    return blocks


@part
def sum_literals(data, memory, scratch, column, view, box):
    """`net`: the sum of each value; `gain`, `loss`: of each literal.

    A pivot's literal has all values from its own on; for an interval they are of all values below.
    """
    start, kind, card = data.starts[column], data.kinds[column], memory.cards[column]
    net, gain, loss = scratch.net[start:], scratch.gain[start:], scratch.loss[start:]
    words = view.gain_end + len(data.full) - view.loss_start
    is_cheap = kind == POINT or card * words < WORDS_OF_A_ROW * view.asked
    if is_cheap and not memory.merged[column] and data.sets_from[column] >= 0:
        _count_sets(data, memory, column, view, gain, loss)
        for value in range(card):
            net[value] = gain[value] - loss[value]
            if kind == SUFFIX:
                net[value] -= gain[value + 1] - loss[value + 1]
        if kind == INTERVAL:
            for value in range(card + 1):
                if value < card:
                    net[value] -= gain[value + 1] - loss[value + 1]
                gain[value] = view.gain - gain[value]
                loss[value] = view.loss - loss[value]
    else:
        list_rows(data, memory, view, box)
        local = scratch.local[column] if memory.merged[column] else data.ranks[column]
        weights, rows = memory.row_weights, memory.rows
        for value in range(card + 1):
            gain[value] = 0
            loss[value] = 0
        for k in range(view.gained):
            gain[local[rows[k]]] += weights[k]
        for k in range(view.gained, view.asked):
            loss[local[rows[k]]] -= weights[k]
        for value in range(card):
            net[value] = gain[value] - loss[value]
        if kind == SUFFIX:
            for step in range(card):
                value = card - 1 - step
                loss[value] += loss[value + 1]
                gain[value] += gain[value + 1]
        elif kind == INTERVAL:
            _sum_below(gain, card)
            _sum_below(loss, card)
    if kind == SUFFIX and card == data.cards[column]:
        memory.tops[column] |= gain[card - 1] + loss[card - 1] > 0


@part
def _count_sets(data, memory, column, view, gain, loss):
    """Gains and losses of each category, or of all values from each one on."""
    at, card = data.sets_from[column], data.cards[column]
    gain[0] = view.gain
    loss[0] = view.loss
    for value in range(1, card):
        rows = data.sets[at + value]
        gain[value] = weight_of_both(data, memory.gained, rows, 0, view.gain_end)
        loss[value] = weight_of_both(data, memory.lost, rows, view.loss_start, len(data.full))
    gain[card] = 0
    loss[card] = 0


@part
def _sum_below(sums, card):
    before = 0
    for value in range(card + 1):
        here = sums[value]
        sums[value] = before
        before += here


@part
def single(question, data, memory, scratch, empty):
    """The best score of one literal: mask bit 0 as it is, bit 1 negated; `where`: its cut.

    `empty`: the literal may hold on none of the rows. In a relaxed hole that is a choice, since
    rows where it holds may be left out; in an exact one, formulas of less size score the same.
    """
    sums = scratch.net[data.starts[question.x] :]
    kind, card, mask, floor = question.kind_x, question.card_x, question.mask, question.floor_x
    total = question.gains - question.losses
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
def best_interval(inside, sums, card, floor, in_total, total, mask):
    """The best of the asked functions of x and y, for one x, over all intervals of y.

    `inside`: sums by value of y where x holds; `sums`: the same over all rows.
    """
    max_in = 0  # of a literal that holds on no row, see `single`
    min_in = 0
    max_out = 0
    min_out = 0
    a = 0
    b = 0
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
