# mypy: disable-error-code="no-untyped-def"
"""Branch and bound over boxes of cuts for a context, with its hole answered in closed form."""

from __future__ import annotations

from fsm_hpc.solvers.native.coarse import MAX_BINS, coarse_bound
from fsm_hpc.solvers.native.holes import (
    INTERVAL,
    NOTHING,
    SUFFIX,
    localise,
    pair,
    single,
    sweep,
)
from fsm_hpc.solvers.native.intervals import pair_of_intervals
from fsm_hpc.solvers.native.kernel import kernel
from fsm_hpc.solvers.native.plans import ANTIHOLE, TRUE

UNIT_BITS = 38  # of a place in the order of solutions; the rest holds the score
MAX_SCORE = 1 << (62 - UNIT_BITS)
UNITS = (1 << UNIT_BITS) - 1
HOLES_OF_A_UNIT = 4
DONE, PAUSED, STOPPED = range(3)
AT, OPEN, STACKED, NODES, ASKED = range(5)  # of `control`
LIVE, LIVE_COUNT, ACTIVE, ACTIVE_COUNT, BASE = range(5)  # of a stack entry


@kernel
def rank_of(score, unit):
    """Solutions in order: the higher score, then the earlier unit."""
    return (score << UNIT_BITS) + (UNITS - unit)


@kernel
def leader(best):
    top = best[0]
    for slot in range(1, len(best)):
        top = max(top, best[slot])
    return top


@kernel
def choose_families(index, families, plan, chosen):
    """The index-th choice of a literal family for each boxed variable; False if it is no choice."""
    boxed = len(plan[2])
    count = len(families)
    for i in range(boxed - 1, -1, -1):
        chosen[i] = index % count
        index //= count
    for i in range(boxed):
        if plan[2][i] >= 0 and chosen[plan[2][i]] >= chosen[i]:
            return False
        for k in range(i):
            if chosen[i] == chosen[k]:
                return False
            same = families[chosen[i], 0] == families[chosen[k], 0]
            if same and families[chosen[i], 5] == 1:
                return False
    return True


@kernel
def open_holes(data, families, plan, pairs, index, chosen, entries, masks):
    """The columns (pairs) that may fill the hole, each with the functions to ask; their number.

    Where nothing is boxed, every unit asks a few of them, so that threads can share the work.
    """
    order, wide = data[4], data[5]
    cross, after, partner = plan[3], plan[2], plan[4]
    count = 0
    first = index * HOLES_OF_A_UNIT if len(after) == 0 else 0
    end = min(len(pairs), first + HOLES_OF_A_UNIT) if len(after) == 0 else len(pairs)
    for entry in range(first, end):
        x = pairs[entry, 0]
        y = pairs[entry, 1]
        usable = True
        lowest = min(order[x], order[y])
        mask = 0
        for f in range(len(cross)):
            if cross[f] >= 0:
                mask |= 1 << f
        for i in range(len(after)):
            column = families[chosen[i], 0]
            if families[chosen[i], 5] == 1 and column in (x, y):
                usable = False
            if i == partner and not wide[column, x]:
                usable = False
            if order[column] > lowest:
                for f in range(len(cross)):
                    if cross[f] >= 0 and cross[f] >> i & 1:
                        mask &= ~(1 << f)
        if usable and mask:
            entries[count] = entry
            masks[count] = mask
            count += 1
    return count


@kernel
def classify(data, plan, columns, box, live, start, count, digits):
    """By row, what is known of each boxed variable, as base-3 digits."""
    ranks = data[0]
    for k in range(count):
        digits[k] = 0
    place = 1
    for i in range(len(columns)):
        values = ranks[columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        for k in range(count):
            value = values[live[start + k]]
            digit = 0
            if low1 <= value <= high2:
                digit = 1 if low2 <= value <= high1 else 2
            digits[k] += place * digit
        place *= 3


@kernel
def split(data, columns, box, live, start, count, open_rows, marks):
    """Where to cut the box in two: variable * 2 + end, and the last value of the first half."""
    ranks, weights = data[0], data[1]
    best = 0
    target = 0
    for i in range(len(columns)):
        values = ranks[columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        left = 0
        right = 0
        for k in range(count):
            if open_rows[k]:
                row = live[start + k]
                value = values[row]
                if low1 <= value < low2:
                    left += abs(weights[row])
                if high1 < value <= high2:
                    right += abs(weights[row])
        if left > best:
            best = left
            target = 2 * i
        if right > best:
            best = right
            target = 2 * i + 1
    i = target // 2
    values = ranks[columns[i]]
    begin = box[4 * i] if target % 2 == 0 else box[4 * i + 2] + 1
    end = box[4 * i + 1] if target % 2 == 0 else box[4 * i + 3] + 1
    for value in range(begin, end):
        marks[value - begin] = 0
    total = 0
    for k in range(count):
        if open_rows[k]:
            row = live[start + k]
            value = values[row]
            if begin <= value < end:
                marks[value - begin] += abs(weights[row])
                total += abs(weights[row])
    run = 0
    at = begin
    while at < end - 1:
        run += marks[at - begin]
        if 2 * run >= total:
            break
        at += 1
    # low end: a cut at `at` or below takes row `at` in; high end: `at - 1` or below leaves it out
    return target, (at if target % 2 == 0 else at - 1)


@kernel
def ask(
    data,
    pairs,
    hole,
    empty,
    entry,
    mask,
    rows,
    row_weights,
    count,
    goal,
    any_will_do,
    fresh,
    cards,
    scratch,
    where,
    flag,
):
    """The best score that the columns of an entry can fill the hole with, if above the goal."""
    ranks, kinds, sizes = data[0], data[2], data[3]
    marks, local, cells, losses, inside, sums, order, heads, tree, ends = scratch
    x = pairs[entry, 0]
    y = pairs[entry, 1]
    for column in (x, y):
        if fresh[column]:
            fresh[column] = False
            cards[column] = localise(
                ranks[column],
                rows,
                row_weights,
                count,
                kinds[column],
                sizes[column],
                empty or hole == 2,
                marks,
                local[column],
            )
    if hole == 1:
        return single(local[x], row_weights, count, kinds[x], cards[x], mask, empty, sums, where)
    if kinds[x] == INTERVAL:
        return pair_of_intervals(
            local[x],
            local[y],
            row_weights,
            count,
            cards[x],
            cards[y],
            mask,
            goal,
            any_will_do,
            cells,
            losses,
            inside,
            sums,
            ends,
            where,
        )
    area = cards[x] * cards[y]
    if kinds[x] == SUFFIX and (area > len(cells) or area > 30 * count + 256):
        bins = 32 if count < 50_000 else MAX_BINS
        hope = coarse_bound(
            local[x],
            local[y],
            row_weights,
            count,
            cards[x],
            cards[y],
            mask,
            bins,
            cells,
            losses,
        )
        if hope <= goal:
            return hope
        return sweep(
            local[x],
            local[y],
            row_weights,
            count,
            cards[x],
            cards[y],
            mask,
            goal,
            any_will_do,
            order,
            heads,
            tree,
            where,
            flag,
        )
    return pair(
        local[x],
        local[y],
        row_weights,
        count,
        kinds[x],
        kinds[y],
        cards[x],
        cards[y],
        mask,
        goal,
        any_will_do,
        cells,
        inside,
        sums,
        where,
    )


@kernel
def search(
    data,
    families,
    plan,
    pairs,
    memory,
    scratch,
    control,
    best,
    slot,
    flag,
    record,
    first,
    end,
    budget,
):
    """Search units [control[AT], end) of a plan; come back after `budget` steps of work.

    A unit chooses a literal family for every boxed variable. `best[slot]` is this thread's
    leader, `record` its solution: unit, entry, mask, score, x's cut, then a box per variable.
    """
    weights, kinds = data[1], data[2]
    positive, negative, after, hole = plan[0], plan[1], plan[2], plan[5]
    live, entries, masks, boxes, frames, digits, open_rows, rows, row_weights, fresh, cards = memory
    boxed = len(after)
    total_rows = len(weights)
    chosen = boxes[len(boxes) - 1]
    columns = boxes[len(boxes) - 2, :boxed]
    box = boxes[len(boxes) - 3]
    where = boxes[len(boxes) - 4]
    work = 0
    while True:
        if flag[0] != 0:
            return STOPPED
        if work > budget:
            return PAUSED
        if control[OPEN] == 0:
            if control[AT] >= end:
                return DONE
            work += 8
            if not choose_families(control[AT], families, plan, chosen):
                control[AT] += 1
                continue
            count = open_holes(data, families, plan, pairs, control[AT], chosen, entries, masks)
            if count == 0:
                control[AT] += 1
                continue
            work += len(pairs)
            control[OPEN] = 1
            control[STACKED] = 1
            for i in range(boxed):
                columns[i] = families[chosen[i], 0]
                for field in range(4):
                    boxes[0, 4 * i + field] = families[chosen[i], 1 + field]
            frames[0, LIVE] = 0
            frames[0, LIVE_COUNT] = total_rows
            frames[0, ACTIVE] = 0
            frames[0, ACTIVE_COUNT] = count
            frames[0, BASE] = 0
        if control[STACKED] == 0:
            control[OPEN] = 0
            control[AT] += 1
            continue
        control[STACKED] -= 1
        top = control[STACKED]
        unit = first + control[AT]
        start = frames[top, LIVE]
        count = frames[top, LIVE_COUNT]
        active = frames[top, ACTIVE]
        active_count = frames[top, ACTIVE_COUNT]
        base = frames[top, BASE]
        for field in range(4 * boxed):
            box[field] = boxes[top, field]
        classify(data, plan, columns, box, live, start, count, digits)
        work += count * (boxed + 1)
        control[NODES] += 1
        # rows whose state is settled leave the list; the others count at their best
        kept = start + count
        if kept + count > len(live):
            kept = -1
        kept_count = 0
        settled = base
        bound = 0
        gain = 0
        asked = 0
        unsettled = 0
        for k in range(count):
            row = live[start + k]
            weight = weights[row]
            state = positive[digits[k]] if weight > 0 else negative[digits[k]]
            is_open = positive[digits[k]] != negative[digits[k]]
            if is_open:
                unsettled += 1
                if state == TRUE:
                    bound += weight
            elif state == TRUE:
                settled += weight
            if state > TRUE:
                if state == ANTIHOLE:
                    bound += weight
                    weight = -weight
                rows[asked] = row
                row_weights[asked] = weight
                asked += 1
                if weight > 0:
                    gain += weight
            if kept >= 0 and (is_open or state > TRUE):
                live[kept + kept_count] = row
                open_rows[kept_count] = is_open
                kept_count += 1
            elif kept < 0:
                open_rows[k] = is_open
        bound += settled
        threshold = leader(best)
        if rank_of(bound + gain, unit) <= threshold:
            continue
        for column in range(len(kinds)):
            fresh[column] = True
        goal = (threshold >> UNIT_BITS) - bound  # what is not enough
        if rank_of(goal + bound, unit) > threshold:
            goal -= 1
        kept_active = active + active_count
        kept_active_count = 0
        score = NOTHING
        choice = 0
        record_low = 0
        record_high = 0
        for k in range(active_count):
            if flag[0] != 0:
                return STOPPED
            entry = entries[active + k]
            mask = masks[active + k]
            found = bound + ask(
                data,
                pairs,
                hole,
                boxed > 0,
                entry,
                mask,
                rows,
                row_weights,
                asked,
                goal,
                unsettled > 0,
                fresh,
                cards,
                scratch,
                where,
                flag,
            )
            work += asked * hole + 64
            if rank_of(found, unit) > threshold:
                entries[kept_active + kept_active_count] = entry
                masks[kept_active + kept_active_count] = mask
                kept_active_count += 1
                if found > score:
                    score = found
                    choice = k
                    record_low = where[0]
                    record_high = where[1]
        control[ASKED] += active_count
        if kept_active_count == 0:
            continue
        if unsettled == 0:
            record[0] = unit
            record[1] = entries[active + choice]
            record[2] = masks[active + choice]
            record[3] = score
            record[4] = record_low
            record[5] = record_high
            for i in range(boxed):
                record[6 + 2 * i] = box[4 * i]
                record[7 + 2 * i] = box[4 * i + 2]
            best[slot] = rank_of(score, unit)
            continue
        if kept < 0:
            kept = start
            kept_count = count
            settled = base
        target, middle = split(data, columns, box, live, kept, kept_count, open_rows, scratch[0])
        work += kept_count * boxed
        i = 4 * (target // 2) + 2 * (target % 2)
        for half in range(2):
            node = top + 1 - half
            for field in range(4 * boxed):
                boxes[node, field] = box[field]
            if half == 0:
                boxes[node, i + 1] = middle
            else:
                boxes[node, i] = middle + 1
            _trim(boxes[node], 4 * (target // 2))
            frames[node, LIVE] = kept
            frames[node, LIVE_COUNT] = kept_count
            frames[node, ACTIVE] = kept_active
            frames[node, ACTIVE_COUNT] = kept_active_count
            frames[node, BASE] = settled
        control[STACKED] += 2


@kernel
def _trim(box, i):
    """No interval ends before it begins."""
    box[i + 1] = min(box[i + 1], box[i + 3])
    box[i + 2] = max(box[i + 2], box[i])
