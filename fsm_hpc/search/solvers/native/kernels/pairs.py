# mypy: disable-error-code="no-untyped-def"
"""The best free literals of two columns, or of one, in the cheapest way that is exact."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import (
    INTERVAL,
    NO_SCORE,
    NONE,
    ONE,
    POINT,
    SUFFIX,
    WORD_BITS,
    best_interval,
    combine,
    compress_values,
    first_cut,
    last_cut,
    list_rows,
    literal_sums,
    profile,
    prune_pair,
    rows_between,
    rows_from,
    single,
    weight_of_both,
    weight_of_three,
)
from fsm_hpc.search.solvers.native.kernels.intervals import best_window, pair_of_intervals
from fsm_hpc.search.solvers.native.kernels.kernel import lowest, part, subroutine
from fsm_hpc.search.solvers.native.kernels.shapes import ABOVE, PairQuery

COLUMN_BITS = 32  # bits of a column in the code of a pair
MOST_RANGES = 256  # of two cuts, before columns without a set of each value are swept


@part
def sweep(query, memory, flag):
    """The same as `pair_with_cut` for two pivots of many values: rows enter a tree one by one.

    `tree` holds by node (sum, greatest, least sum over an end of its range) of the rows where x
    holds, and of the others.
    """
    x, y, weights, rows = query.values_x, query.values_y, memory.row_weights, memory.rows
    card_x, count, mask = query.card_x, query.rows, query.mask
    order, heads, tree = memory.order, memory.heads, memory.tree
    size = 1
    while size < query.card_y:
        size *= 2
    total = _prepare(y, rows, weights, count, query.card_y, query.floor_y, size, tree)
    for value in range(card_x + 1):
        heads[value] = -1
    for k in range(count):
        order[k] = heads[x[rows[k]]]
        heads[x[rows[k]]] = k
    # a literal that holds nowhere scores 0, where it is an answer
    most, least = (NO_SCORE, -NO_SCORE) if query.top_y else (0, 0)
    best = NO_SCORE
    if query.top_x == 0:
        max_out, min_out = max(most, tree[1, 4]), min(least, tree[1, 5])
        best = combine(0, 0, max_out, min_out, 0, total, mask)
        memory.where[0] = card_x
        memory.where[1] = card_x
    in_total = 0
    for step in range(card_x - query.floor_x):
        if flag[0] != 0:
            return best
        low = card_x - 1 - step
        k = heads[low]
        while k >= 0:
            _enter(tree, size + y[rows[k]], weights[k])
            in_total += weights[k]
            k = order[k]
        max_in, min_in = max(most, tree[1, 1]), min(least, tree[1, 2])
        max_out, min_out = max(most, tree[1, 4]), min(least, tree[1, 5])
        found = combine(max_in, min_in, max_out, min_out, in_total, total, mask)
        if found > best:
            best = found
            memory.where[0] = low
            memory.where[1] = card_x - 1
            if query.any_will_do and best > query.goal:
                return best
    return best


@part
def _prepare(y, rows, weights, count, card_y, floor_y, size, tree):
    """All rows outside x: sums at the leaves, then upwards."""
    total = 0
    for node in range(size, 2 * size):
        held = floor_y <= node - size < card_y
        for offset in range(0, 6, 3):
            tree[node, offset] = 0
            tree[node, offset + 1] = 0 if held else NO_SCORE
            tree[node, offset + 2] = 0 if held else -NO_SCORE
    for k in range(count):
        for field in range(3, 6):
            tree[size + y[rows[k]], field] += weights[k]
        total += weights[k]
    for node in range(size - 1, 0, -1):
        _pull(tree, node, 0)
        _pull(tree, node, 3)
    return total


@subroutine
def _enter(tree, node, weight):
    """A row passes from `not x` to `x`."""
    for field in range(3):
        tree[node, field] += weight
        tree[node, field + 3] -= weight
    node >>= 1
    while node:
        _pull(tree, node, 0)
        _pull(tree, node, 3)
        node >>= 1


@subroutine
def _pull(tree, node, field):
    left = 2 * node
    right = left + 1
    above = tree[right, field]
    tree[node, field] = tree[left, field] + above
    tree[node, field + 1] = max(tree[right, field + 1], above + tree[left, field + 1])
    tree[node, field + 2] = min(tree[right, field + 2], above + tree[left, field + 2])


# of a range of cuts: the first and the last cut of x and of y, what is gained and lost where
# both hold, for each pair of them; and of which of these that is known (bits)
X1, X2, Y1, Y2, GAIN, LOSS, KNOWN = 0, 1, 2, 3, 4, 8, 12
FIELDS = 13


@part
def pair_with_cut(query, data, memory, view, flag):
    """The best score above the goal of a literal of x and a pivot, if any.

    Of equal scores the one with the highest cut, or category, of x. `where`: that one.
    """
    is_point = query.kind_x == POINT
    start, best = data.starts[query.x], query.goal
    for step in range(query.card_x - 1 if is_point else 1):
        first, last, mask = query.floor_x, query.card_x - query.top_x, query.mask
        if is_point:
            first = query.card_x - 1 - step
            last = first
            mask &= memory.roles_x[start + first]
        if mask:
            best = _best_in(query, data, memory, view, mask, best, first, last, flag)
            if query.any_will_do and best > query.goal:
                return best
    return best


@part
def _best_in(query, data, memory, view, mask, goal, first, last, flag):
    """The same with the literal of x between two of them."""
    ranges, limits = memory.ranges, memory.limits[query.y]
    first_y = max(first_cut(limits, mask), query.floor_y)
    last_y = min(last_cut(limits, mask, query.card_y), query.card_y - query.top_y)
    best = goal
    held = -1
    is_wide = query.kind_x == SUFFIX and (data.shifts[query.x] > 0 or data.shifts[query.y] > 0)
    steps = MOST_RANGES if is_wide else ABOVE
    ranges[0, X1] = first
    ranges[0, X2] = last
    ranges[0, Y1] = first_y
    ranges[0, Y2] = last_y
    ranges[0, KNOWN] = 0
    stacked = 1 if first <= last and first_y <= last_y else 0
    while stacked and flag[0] == 0:
        if steps == 0:
            list_rows(data, memory, view, memory.compressed[query.x])
            return sweep(query, memory, flag)
        steps -= 1
        stacked -= 1
        here = ranges[stacked]
        _count_corners(query, data, memory, view, here)
        bound = _bound(query, data, memory, view, mask, here)
        if bound < best or (bound == best and here[X2] <= held) or bound <= goal:
            continue
        wide_x, wide_y = here[X2] - here[X1], here[Y2] - here[Y1]
        if wide_x == 0 and wide_y == 0:
            best = bound
            held = here[X1]
            memory.where[0] = held
            memory.where[1] = held if query.kind_x == POINT else max(held, query.card_x - 1)
            if query.any_will_do:
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
def _count_corners(query, data, memory, view, here):
    """What is gained and lost where both literals hold, at each corner of a range."""
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
        cut_x = _cut_of(data, memory, query.x, here[X1 + (corner >> 1)])
        cut_y = _cut_of(data, memory, query.y, here[Y1 + (corner & 1)])
        if data.shifts[query.x] == 0 and data.shifts[query.y] == 0:
            x = data.sets[data.sets_from[query.x] + cut_x]
            y = data.sets[data.sets_from[query.y] + cut_y]
        else:
            x, y = memory.gained_x, memory.lost_x
            _write_set(data, query.x, cut_x, x)
            _write_set(data, query.y, cut_y, y)
        words = len(data.full)
        here[GAIN + corner] = weight_of_three(data, memory.gained, x, y, 0, view.gain_end)
        here[LOSS + corner] = weight_of_three(data, memory.lost, x, y, view.loss_start, words)


@part
def _cut_of(data, memory, column, cut):
    """The cut, or category, in the values of the column."""
    return memory.cut_at[data.starts[column] + cut] if memory.merged[column] else cut


@part
def ends_of(data, memory, view, column, low, high):
    """The ends of a literal in the values of the column; an interval ends where a row is."""
    top, is_merged = data.cards[column] - 1, memory.merged[column]
    start = min(_cut_of(data, memory, column, low), top)
    if data.kinds[column] == SUFFIX or (is_merged and low == memory.cards[column]):
        return start, top
    if not is_merged:
        return low, high
    end = start
    for k in range(view.decided):
        if memory.local[column, memory.rows[k]] == high:
            end = max(end, data.ranks[column, memory.rows[k]])
    return start, end


@subroutine
def _write_set(data, column, cut, found):
    """The set of rows that a cut, or a category, has, where not all of them are kept."""
    for word in range(len(data.full)):
        if data.kinds[column] == POINT:
            found[word] = rows_between(data, column, cut, cut + 1, word, data.full[word])
        else:
            found[word] = rows_from(data, column, cut, word, data.full[word])


@part
def _bound(query, data, memory, view, mask, here):
    """No cuts in these ranges score higher with the wanted functions.

    A quadrant of two cuts gains at most what the widest one in the ranges gains, and loses at
    least what the narrowest one loses; its complement the other way round.
    """
    at_x, at_y = data.starts[query.x], data.starts[query.y]
    x1, x2, y1, y2 = at_x + here[X1], at_x + here[X2], at_y + here[Y1], at_y + here[Y2]
    gain, loss, total = memory.gain, memory.loss, view.gain - view.loss
    best = NO_SCORE
    for quadrant in range(4):
        wanted = mask >> quadrant & 0b10001
        if wanted == 0:
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
        if wanted & 1:
            best = max(best, wide_gain - loss_left)
        if wanted & 16:
            best = max(best, total - gain_left + wide_loss)
    return best


@part
def pair_with_point(query, data, memory, view):
    """The best score above the goal of a category x and a literal of y, if any.

    Only categories that can reach the goal are looked at, and only the rows that have them.
    """
    start = data.starts[query.x]
    best = query.goal
    for step in range(query.card_x - 1):
        code = query.card_x - 1 - step
        wanted = query.mask & memory.roles_x[start + code]
        if wanted == 0:
            continue
        _hold(data, memory, view, query.x, code, code + 1)
        gain_x, loss_x = memory.gain[start + code], memory.loss[start + code]
        if query.kind_y == POINT:
            found = _best_set(query, data, memory, view, gain_x, loss_x, wanted, best)
        else:
            found = _best_interval(query, data, memory, view, gain_x - loss_x, wanted)
        if found > best:
            best = found
            memory.where[0] = code
            memory.where[1] = code
            if query.any_will_do:
                return best
    return best


@part
def _hold(data, memory, view, x, low, high):
    """The decided rows on which a literal of x holds."""
    for word in range(view.gain_end):
        memory.gained_x[word] = rows_between(data, x, low, high, word, memory.gained[word])
    for word in range(view.loss_start, len(data.full)):
        memory.lost_x[word] = rows_between(data, x, low, high, word, memory.lost[word])


@part
def _best_set(query, data, memory, view, gain_x, loss_x, wanted, best):
    """The best of the wanted functions above the best so far, for one x, over categories of y."""
    start, at, gains, losses = (
        data.starts[query.y],
        data.sets_from[query.y],
        view.gain,
        view.loss,
    )
    max_in = NO_SCORE
    min_in = -NO_SCORE
    max_out = NO_SCORE
    min_out = -NO_SCORE
    for value in range(1, query.card_y):
        if wanted & memory.roles_y[start + value] == 0:
            continue
        rows = data.sets[at + value]
        both = weight_of_both(data, memory.gained_x, rows, 0, view.gain_end)
        gain_y, loss_y = memory.gain[start + value], memory.loss[start + value]
        if _most(both, gain_x, gain_y, loss_x, loss_y, gains, losses, wanted) <= best:
            continue
        inside = both - weight_of_both(data, memory.lost_x, rows, view.loss_start, len(data.full))
        outside = gain_y - loss_y - inside
        max_in = max(max_in, inside)
        min_in = min(min_in, inside)
        max_out = max(max_out, outside)
        min_out = min(min_out, outside)
    return combine(max_in, min_in, max_out, min_out, gain_x - loss_x, gains - losses, wanted)


@part
def _most(both, x, y, loss_x, loss_y, gains, losses, mask):
    """The most that the wanted functions can reach, once the rows gained by both are known.

    Lost rows only subtract: at least 0 for a conjunction, for a disjunction at least those of the
    literal that loses more.
    """
    best = NO_SCORE
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
def _best_interval(query, data, memory, view, in_total, wanted):
    """The best of the wanted functions for one x and an interval, from sums by value of y."""
    inside, total, card = memory.inside, view.gain - view.loss, query.card_y
    sums = memory.net[data.starts[query.y] :]
    for value in range(card):
        inside[value] = 0
    _scatter(data, memory.gained_x, 0, view.gain_end, query.values_y, inside, 1)
    _scatter(data, memory.lost_x, view.loss_start, len(data.full), query.values_y, inside, -1)
    if data.has_windows:
        ends = memory.window
        return best_window(inside, sums, data, memory, query.y, in_total, total, wanted, ends)
    return best_interval(inside, sums, card, query.floor_y, in_total, total, wanted)


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
def best_pair(data, plan, memory, box, code, mask, view, goal, any_will_do, flag):
    """The best score of two columns as the free literals of a box, if above the goal."""
    x = code >> COLUMN_BITS
    y = code & ((1 << COLUMN_BITS) - 1)
    is_relaxed = len(plan.after) > 0
    for column in (x, y):
        if memory.compressed[column] != box:
            memory.compressed[column] = box
            merge = is_relaxed or plan.free == 2
            memory.cards[column] = compress_values(data, memory, column, view, merge, box)
            literal_sums(data, memory, column, view, box)
            if plan.free == 2:
                profile(data, memory, column, view, goal + 1)
    if plan.free == 2:
        mask &= memory.roles[x, 0] & memory.roles[y, 1]
        mask = prune_pair(memory.extremes[x], memory.extremes[y], mask, view.loss, goal)
        if mask == 0:
            return goal
    query = PairQuery(
        x,
        y,
        data.kinds[x],
        data.kinds[y],
        memory.cards[x],
        memory.cards[y],
        data.floors[x],
        data.floors[y],
        mask,
        goal,
        any_will_do,
        view.gain,
        view.loss,
        memory.has_top_rows[x],
        memory.has_top_rows[y],
        view.decided,
        view.gained,
        memory.local[x] if memory.merged[x] else data.ranks[x],
        memory.local[y] if memory.merged[y] else data.ranks[y],
    )
    if plan.free == 1:
        if data.has_windows and query.kind_x == INTERVAL:
            sums, total = memory.net[data.starts[x] :], view.gain - view.loss
            return best_window(sums, sums, data, memory, x, total, total, mask, memory.where)
        return single(query, data, memory, is_relaxed)
    if query.kind_y == SUFFIX:
        return pair_with_cut(query, data, memory, view, flag)
    if query.kind_x == POINT:
        return pair_with_point(query, data, memory, view)
    list_rows(data, memory, view, box)
    return pair_of_intervals(query, data, memory)
