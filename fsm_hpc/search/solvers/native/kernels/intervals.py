# mypy: disable-error-code="no-untyped-def"
"""The best interval that has support, and the best pair of intervals."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import (
    NO_SCORE,
    WITH_X,
    WITHOUT_X,
    best_interval,
    combine,
    useful,
)
from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

WITH_Y = 0b10100101  # functions that hold on more rows when y does


@subroutine
def widest_gap(before, upto, first, last, floor, card, queue, sign, ends):
    """The greatest of sign * (upto[high] - before[low]) over the intervals that may be.

    For each low end the high ends are a window that moves upwards with it, so that a queue of
    candidates, the best first, answers all of them in one go. `ends`: where it is.
    """
    best = NO_SCORE
    head = 0
    tail = 0
    pushed = floor
    for low in range(floor, card):
        while pushed <= last[low] and pushed < card:
            value = sign * upto[pushed]
            while tail > head and sign * upto[queue[tail - 1]] < value:
                tail -= 1
            queue[tail] = pushed
            tail += 1
            pushed += 1
        while tail > head and queue[head] < first[low]:
            head += 1
        if first[low] <= last[low] and tail > head:
            found = sign * (upto[queue[head]] - before[low])
            if found > best:
                best = found
                ends[0] = low
                ends[1] = queue[head]
    return best


@part
def running_sums(sums, card, prefix):
    """prefix[v]: of all values below v."""
    prefix[0] = 0
    for value in range(card):
        prefix[value + 1] = prefix[value] + sums[value]


@subroutine
def best_window(inside, sums, data, memory, column, in_total, total, mask, ends):
    """The same as `best_interval` for intervals that have to have support; `ends`: the best one."""
    start, floor, card = data.starts[column], data.floors[column], data.cards[column]
    first, last = data.first[start:], data.last[start:]
    bases = (0, in_total, 0, total - in_total, total, total - in_total, total, in_total)
    prefix, found = memory.prefix, memory.window
    best = NO_SCORE
    for f in range(8):
        if mask >> f & 1 == 0:
            continue
        prefix[0] = 0
        for value in range(card):
            here = inside[value] if WITH_X >> f & 1 else sums[value] - inside[value]
            prefix[value + 1] = prefix[value] + here
        sign = 1 if WITH_Y >> f & 1 else -1
        gap = widest_gap(prefix, prefix[1:], first, last, floor, card, memory.queue, sign, found)
        if gap > NO_SCORE and bases[f] + gap > best:
            best = bases[f] + gap
            ends[0], ends[1] = found[0], found[1]
    return best


@subroutine
def has_support(data, columns, box, boxed, cuts):
    """Whether each interval of a box may have ends with support; `cuts`: the first such ends."""
    for i in range(boxed):
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        start = data.starts[columns[i]]
        cuts[i, 0] = low1
        cuts[i, 1] = high1
        is_found = False
        for low in range(low1, low2 + 1):
            high = max(high1, data.first[start + low])
            if high <= min(high2, data.last[start + low]):
                cuts[i, 0] = low
                cuts[i, 1] = high
                is_found = True
                break
        if not is_found:
            return False
    return True


GROWING = 0b11000011  # functions that hold on more rows when x does
SHRINKING = 0b00111100


@part
def pair_of_intervals(query, data, memory):
    """The best score above the goal, or something not above it when there is none.

    `cells` and `losses` hold gains and losses by value of y over the rows with x below a value;
    `ends` is the stack of ranges for the ends of x.
    """
    gains, losses, ends = memory.cells, memory.losses, memory.interval_ranges
    inside, sums = memory.inside, memory.sums
    mask, any_will_do, goal = query.mask, query.any_will_do, query.goal
    card_x, card_y = query.card_x, query.card_y
    _fill(query, memory)
    total = query.gains - query.losses
    start = data.starts[query.x]
    gain, loss = memory.gain[start:], memory.loss[start:]
    top = card_x * card_y
    for value in range(card_y):
        sums[value] = gains[top + value] - losses[top + value]
        inside[value] = 0
    floor_x, floor_y = query.floor_x, query.floor_y
    best = best_interval(inside, sums, card_y, floor_y, 0, total, mask)
    if any_will_do and best > goal:
        return best
    best = max(best, goal)
    ends[0, 0] = floor_x
    ends[0, 1] = card_x - 1
    ends[0, 2] = floor_x
    ends[0, 3] = card_x - 1
    stacked = 1 if floor_x < card_x else 0
    while stacked:
        stacked -= 1
        low1, low2, high1, high2 = (
            ends[stacked, 0],
            ends[stacked, 1],
            ends[stacked, 2],
            ends[stacked, 3],
        )
        wanted = mask & _promising(query, gain, loss, low1, low2, high1, high2)
        if wanted == 0:
            continue
        found = _bound(
            low1, low2, high1, high2, card_y, floor_y, wanted, gains, losses, sums, total
        )
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
def _promising(query, gain, loss, low1, low2, high1, high2):
    """Functions (bits) that some x with its ends in these ranges may serve, from x alone."""
    narrow = max(high1 + 1, low2)
    return useful(
        gain[high2 + 1] - gain[low1],
        gain[narrow] - gain[low2],
        loss[high2 + 1] - loss[low1],
        loss[narrow] - loss[low2],
        query.gains,
        query.losses,
        query.goal + 1,
        True,
    )


@part
def _fill(query, memory):
    x, y, weights, rows = query.values_x, query.values_y, memory.row_weights, memory.rows
    gains, losses = memory.cells, memory.losses
    card_x, card_y = query.card_x, query.card_y
    for cell in range((card_x + 1) * card_y):
        gains[cell] = 0
        losses[cell] = 0
    for k in range(query.gained):
        gains[(x[rows[k]] + 1) * card_y + y[rows[k]]] += weights[k]
    for k in range(query.gained, query.rows):
        losses[(x[rows[k]] + 1) * card_y + y[rows[k]]] -= weights[k]
    for cell in range(card_y, (card_x + 1) * card_y):
        gains[cell] += gains[cell - card_y]
        losses[cell] += losses[cell - card_y]


@part
def _bound(low1, low2, high1, high2, card_y, floor_y, wanted, gains, losses, sums, total):
    """No x with its ends in these ranges scores higher.

    A function that grows with x gains at most the positive rows of the widest x and loses at
    least the negative ones of the narrowest; one that shrinks with x the other way round.
    """
    wide = (high2 + 1) * card_y
    wide_from = low1 * card_y
    narrow = max(high1 + 1, low2) * card_y
    narrow_from = low2 * card_y
    best = NO_SCORE
    if wanted & GROWING:
        best = _best_y(
            gains[wide:],
            gains[wide_from:],
            losses[narrow:],
            losses[narrow_from:],
            sums,
            card_y,
            floor_y,
            total,
            wanted & GROWING,
        )
    if wanted & SHRINKING:
        found = _best_y(
            gains[narrow:],
            gains[narrow_from:],
            losses[wide:],
            losses[wide_from:],
            sums,
            card_y,
            floor_y,
            total,
            wanted & SHRINKING,
        )
        best = max(best, found)
    return best


@part
def _best_y(gain, gain_from, loss, loss_from, sums, card, floor, total, wanted):
    """The best wanted function over all intervals y, for rows gained and lost where x holds.

    The greatest and least sum of neighbours, where x holds and where it does not, as far as wanted.
    """
    beneath = 0  # rows where x holds and no interval of y does
    for value in range(floor):
        beneath += gain[value] - gain_from[value] - loss[value] + loss_from[value]
    in_total = beneath
    max_in = 0
    min_in = 0
    max_out = 0
    min_out = 0
    if wanted & WITH_X:
        top = 0
        bottom = 0
        for value in range(floor, card):
            here = gain[value] - gain_from[value] - loss[value] + loss_from[value]
            in_total += here
            top = max(top, 0) + here
            bottom = min(bottom, 0) + here
            max_in = max(max_in, top)
            min_in = min(min_in, bottom)
    if wanted & WITHOUT_X:
        in_total = beneath
        top = 0
        bottom = 0
        for value in range(floor, card):
            here = gain[value] - gain_from[value] - loss[value] + loss_from[value]
            in_total += here
            there = sums[value] - here
            top = max(top, 0) + there
            bottom = min(bottom, 0) + there
            max_out = max(max_out, top)
            min_out = min(min_out, bottom)
    return combine(max_in, min_in, max_out, min_out, in_total, total, wanted)


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
