# mypy: disable-error-code="no-untyped-def"
"""Columns of free literals: rows and sums of each literal, and bounds on what it allows."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.kernels.kernel import (
    common_of_four,
    common_of_three,
    common_of_two,
    lowest,
    part,
    popcount,
    subroutine,
)

POINT, SUFFIX, INTERVAL = range(3)  # how a column is cut: value = code, value >= cut, interval
NONE = np.uint64(0)
ONE = np.uint64(1)
WORD_BITS = 6


@part
def weight_in(data, word, rows):
    """What these rows of one word weigh."""
    if data.is_plain:  # a plane for each class that has rows
        return popcount(rows) * data.factors[0 if word < data.positives else len(data.factors) - 1]
    total = 0
    for p in range(len(data.factors)):
        if data.spans[p, 0] <= word < data.spans[p, 1]:
            total += popcount(rows & data.planes[p, word]) * data.factors[p]
    return total


@part
def weight_of_both(data, words, others, start, end):
    """What the rows in both sets weigh, in the words from start to end."""
    total = 0
    for p in range(len(data.factors)):
        first, last = max(start, data.spans[p, 0]), min(end, data.spans[p, 1])
        if data.is_plain:
            total += data.factors[p] * common_of_two(first, last, words, others)
        else:
            total += data.factors[p] * common_of_three(first, last, words, others, data.planes[p])
    return total


@part
def weight_of_three(data, words, others, more, start, end):
    """What the rows in all three sets weigh, in the words from start to end."""
    total = 0
    for p in range(len(data.factors)):
        first, last = max(start, data.spans[p, 0]), min(end, data.spans[p, 1])
        if data.is_plain:
            total += data.factors[p] * common_of_three(first, last, words, others, more)
        else:
            plane = data.planes[p]
            total += data.factors[p] * common_of_four(first, last, words, others, more, plane)
    return total


@part
def rows_between(data, column, low, high, word, among):
    """Those of the rows of a word that have a value from low to high - 1; a category: low."""
    start = data.sets_from[column]
    if data.kinds[column] == POINT:
        return among & data.sets[start + low, word]
    if data.shifts[column] == 0:
        return among & data.sets[start + low, word] & ~data.sets[start + high, word]
    rows = rows_from(data, column, low, word, among)
    return rows & ~rows_from(data, column, high, word, rows)


@subroutine
def rows_from(data, column, value, word, among):
    """Those of the rows of a word that reach a value of a numeric column."""
    shift = data.shifts[column]
    at = data.sets_from[column] + (value >> shift)
    rows = among & data.sets[at, word]
    if shift == 0:
        return rows
    values, found = data.ranks[column], rows & data.sets[at + 1, word]
    rest = rows & ~found  # only every so many values have a set: look at these rows one by one
    while rest != NONE:
        bit = lowest(rest)
        if values[(word << WORD_BITS) + bit] >= value:
            found |= ONE << np.uint64(bit)
        rest &= rest - ONE
    return found


MASK_BITS = 8  # functions of a candidate; where these are listed, its number is above them
ALL_FUNCTIONS = (1 << MASK_BITS) - 1
NO_SCORE = -(1 << 30)
WITH_X = 0b00110011  # functions of a pair that ask for `x and y`, the others for `not x and y`
WITHOUT_X = 0b11001100
KEPT_APART = 4  # the mark of a value that no run takes in
ROWS_OF_A_VALUE = 16  # from here on all values of a column are told apart
WORDS_OF_A_ROW = 8  # that are counted in the time that a row takes


@part
def list_rows(data, memory, view, box):
    """The rows that free literals decide, one by one: those to gain, then those to lose."""
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
def compress_values(data, memory, column, view, merge, box):
    """Number the values; with `merge`, only those that the rows have, neighbours of one sign alike.

    Between rows of one sign the score is monotone in the cut, so one at their ends is as good;
    that may be the one beyond all rows, which an interval has as the literal that holds nowhere. A
    pivot has none: its highest cut holds at its rows anyway, and these stay apart. Where rows are
    many to a value, few neighbours are of one sign, and all values keep their numbers.
    """
    card, floor, kind = data.cards[column], data.floors[column], data.kinds[column]
    count = view.decided
    # ends of windows, which have support, are told apart
    keeps_all = kind == POINT or (kind == INTERVAL and data.has_windows)
    memory.has_top_rows[column] = 0
    memory.merged[column] = merge and not keeps_all and card * ROWS_OF_A_VALUE >= count
    if not memory.merged[column]:
        return card
    list_rows(data, memory, view, box)
    ranks, items, marks = data.ranks[column], memory.rows, memory.marks
    local, cut_at = memory.local[column], memory.cut_at[data.starts[column] :]
    for value in range(card):
        marks[value] = 0
    for k in range(view.gained):
        marks[ranks[items[k]]] = 1
    for k in range(view.gained, count):
        marks[ranks[items[k]]] |= 2
    if floor:
        marks[0] = 0
    if kind == SUFFIX and marks[card - 1]:
        memory.has_top_rows[column] = 1
        marks[card - 1] |= KEPT_APART
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
def literal_sums(data, memory, column, view, box):
    """`net`: the sum of each value; `gain`, `loss`: of each literal.

    A pivot's literal has all values from its own on; for an interval they are of all values below.
    """
    start, kind, card = data.starts[column], data.kinds[column], memory.cards[column]
    net, gain, loss = memory.net[start:], memory.gain[start:], memory.loss[start:]
    words = view.gain_end + len(data.full) - view.loss_start
    is_cheap = kind == POINT or card * words < WORDS_OF_A_ROW * view.decided
    if is_cheap and not memory.merged[column] and data.shifts[column] == 0:
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
        local = memory.local[column] if memory.merged[column] else data.ranks[column]
        weights, rows = memory.row_weights, memory.rows
        for value in range(card + 1):
            gain[value] = 0
            loss[value] = 0
        for k in range(view.gained):
            gain[local[rows[k]]] += weights[k]
        for k in range(view.gained, view.decided):
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
        memory.has_top_rows[column] |= gain[card - 1] + loss[card - 1] > 0


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
def single(query, data, memory, empty):
    """The best score of one literal: mask bit 0 as it is, bit 1 negated; `where`: its cut.

    `empty`: the literal may hold on none of the rows. In a relaxed box that is a choice, since
    rows where it holds may be left out; in an exact one, formulas of less size score the same.
    """
    sums = memory.net[data.starts[query.x] :]
    kind, card, mask, floor = query.kind_x, query.card_x, query.mask, query.floor_x
    total = query.gains - query.losses
    best = NO_SCORE
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
    if empty and kind != POINT and query.top_x == 0:
        nowhere = max(0 if mask & 1 else NO_SCORE, total if mask & 2 else NO_SCORE)
        if nowhere > best:
            best = nowhere
            memory.where[0] = card
            memory.where[1] = card
    return best


@subroutine
def best_interval(inside, sums, card, floor, in_total, total, mask):
    """The best of the wanted functions of x and y, for one x, over all intervals of y.

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
    """The best among the wanted functions, given the extremes of `x and y` and `not x and y`."""
    best = NO_SCORE
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


# What a literal is in a function: part of a conjunction or a disjunction, as it is or negated.
IN_AND, NOT_IN_AND, IN_OR, NOT_IN_OR = range(4)
# Where the extremes of the four roles begin: gain less loss; the loss alone (for a disjunction the
# gain); and what counts the one of the two that both literals share only half.
NET, ALONE, HALF = 0, 4, 8
EXTREMES = 12


@part
def column_extrema(gain, loss, kind, card, floor, view, goal, out):
    """The greatest of each over the literals of a column that may serve in that role."""
    gains, losses = view.gain, view.loss
    if kind == INTERVAL:
        _net_of_intervals(gain, loss, card, floor, gains, losses, out)
        room = gains - goal
        out[ALONE + IN_AND] = -_least(loss, gain, goal, floor, card)
        out[ALONE + NOT_IN_AND] = _most(loss, gain, room, floor, card) - losses
        out[ALONE + IN_OR] = _most(gain, loss, room, floor, card)
        out[ALONE + NOT_IN_OR] = gains - _least(gain, loss, losses - room, floor, card)
        return
    for at in range(EXTREMES):
        out[at] = NO_SCORE
    first = floor if kind == SUFFIX else 1
    last = card + 1 if kind == SUFFIX else card
    for value in range(first, last):
        has, costs = gain[value], loss[value]
        _count(has, costs, IN_AND, IN_OR, gains, goal, out)
        _count(gains - has, losses - costs, NOT_IN_AND, NOT_IN_OR, gains, goal, out)


@part
def _count(has, costs, in_and, in_or, gains, goal, out):
    """One literal, as `useful` has it: in a conjunction, and in a disjunction."""
    if has >= goal:
        out[NET + in_and] = max(out[NET + in_and], has - costs)
        out[ALONE + in_and] = max(out[ALONE + in_and], -costs)
        out[HALF + in_and] = max(out[HALF + in_and], has - 2 * costs)
    if gains - costs >= goal:
        out[NET + in_or] = max(out[NET + in_or], has - costs)
        out[ALONE + in_or] = max(out[ALONE + in_or], has)
        out[HALF + in_or] = max(out[HALF + in_or], 2 * has - costs)


@part
def _net_of_intervals(gain, loss, card, floor, gains, losses, out):
    """The greatest and the least sum of neighbours, with gains and losses counted three ways."""
    for way in range(3):
        times_gain = 2 if way == 2 else 1
        times_loss = 2 if way == 1 else 1
        low = times_gain * gain[floor] - times_loss * loss[floor]
        high = low
        top = 0
        bottom = 0
        for value in range(floor + 1, card + 1):
            here = times_gain * gain[value] - times_loss * loss[value]
            top = max(top, here - low)
            bottom = min(bottom, here - high)
            low = min(low, here)
            high = max(high, here)
        rest = times_gain * gains - times_loss * losses - bottom
        if way == 0:
            out[NET + IN_AND] = top
            out[NET + IN_OR] = top
            out[NET + NOT_IN_AND] = rest
            out[NET + NOT_IN_OR] = rest
        elif way == 1:
            out[HALF + IN_AND] = top
            out[HALF + NOT_IN_AND] = rest
        else:
            out[HALF + IN_OR] = top
            out[HALF + NOT_IN_OR] = rest


@part
def _least(of, having, need, floor, card):
    """The least sum of an interval where the other sum is at least what is needed."""
    if need <= 0:
        return 0
    best = -NO_SCORE
    low = floor
    for high in range(floor + 1, card + 1):
        while low < high and having[high] - having[low + 1] >= need:
            low += 1
        if having[high] - having[low] >= need:
            best = min(best, of[high] - of[low])
    return best


@part
def _most(of, having, room, floor, card):
    """The greatest sum of an interval where the other sum is no more than there is room for."""
    if room < 0:
        return NO_SCORE
    best = 0
    low = floor
    for high in range(floor + 1, card + 1):
        while having[high] - having[low] > room:
            low += 1
        best = max(best, of[high] - of[low])
    return best


@part
def prune_pair(x, y, mask, losses, goal):
    """Functions (bits) of two columns that may exceed the goal.

    A conjunction gains at most what either literal gains, hence at most half of what both gain,
    and loses at least what both lose together beyond all that there is to lose. A disjunction
    gains at most what both gain together, and loses at least what either loses.
    """
    out = 0
    for f in range(8):
        if mask >> f & 1 == 0:
            continue
        i = (IN_AND if f < 4 else IN_OR) + (0 if f < 2 or f > 5 else 1)
        j = (IN_AND if f < 4 else IN_OR) + (0 if f == 0 or f == 2 or f == 5 or f == 7 else 1)
        above = goal - losses if f < 4 else goal
        if (
            x[NET + i] + y[ALONE + j] > above
            and x[ALONE + i] + y[NET + j] > above
            and x[HALF + i] + y[HALF + j] > 2 * above + 1
        ):
            out |= 1 << f
    return out


# Cuts of a pivot that may serve a function, by what the literal does in it:
MOST_OF_AND, LEAST_OF_AND_NOT, LEAST_OF_OR, MOST_OF_OR_NOT = range(4)


@part
def useful(most_gain, least_gain, most_loss, least_loss, gains, losses, goal, as_x):
    """Functions of a pair (bits) that can reach the goal given one of its two literals.

    A conjunction gains at most what its literal gains; a disjunction loses at least what it loses.
    Of a literal in a range: what it gains and loses at most, and at least.
    """
    out = 0
    if most_gain >= goal:
        out |= 0b0011 if as_x else 0b0101
    if gains - least_gain >= goal:
        out |= 0b1100 if as_x else 0b1010
    if gains - least_loss >= goal:
        out |= 0b11000000 if as_x else 0b10100000
    if gains - (losses - most_loss) >= goal:
        out |= 0b00110000 if as_x else 0b01010000
    return out


@part
def profile(data, memory, column, view, goal):
    """The functions that each literal of a column may serve, and what the best of them allow."""
    start, kind, card = data.starts[column], data.kinds[column], memory.cards[column]
    gain, loss = memory.gain[start:], memory.loss[start:]
    gains, losses = view.gain, view.loss
    if kind == SUFFIX:
        _limit(gain, loss, card, gains, losses, goal, memory.limits[column])
    column_extrema(gain, loss, kind, card, data.floors[column], view, goal, memory.extremes[column])
    memory.roles[column, 0] = ALL_FUNCTIONS
    memory.roles[column, 1] = ALL_FUNCTIONS
    if kind == POINT:
        roles_x, roles_y = memory.roles_x[start:], memory.roles_y[start:]
        as_x = 0
        as_y = 0
        for value in range(1, card):
            has, costs = gain[value], loss[value]
            roles_x[value] = useful(has, has, costs, costs, gains, losses, goal, True)
            roles_y[value] = useful(has, has, costs, costs, gains, losses, goal, False)
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
def first_cut(limits, wanted):
    """The lowest cut of y that may serve one of the functions."""
    if wanted & 0b01010101:
        return 0
    if wanted & 0b1010 == 0:
        return limits[LEAST_OF_OR]
    if wanted & 0b10100000 == 0:
        return limits[LEAST_OF_AND_NOT]
    return min(limits[LEAST_OF_OR], limits[LEAST_OF_AND_NOT])


@part
def last_cut(limits, wanted, card):
    """The highest cut of y that may serve one of the functions."""
    if wanted & 0b10101010:
        return card
    if wanted & 0b0101 == 0:
        return limits[MOST_OF_OR_NOT]
    if wanted & 0b01010000 == 0:
        return limits[MOST_OF_AND]
    return max(limits[MOST_OF_OR_NOT], limits[MOST_OF_AND])
