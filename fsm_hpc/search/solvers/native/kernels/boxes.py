# mypy: disable-error-code="no-untyped-def"
"""Branch and bound over boxes of cuts for a context, with its hole answered in closed form."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.asking import ask
from fsm_hpc.search.solvers.native.kernels.holes import NOTHING
from fsm_hpc.search.solvers.native.kernels.kernel import kernel
from fsm_hpc.search.solvers.native.kernels.order import (
    ASKED,
    AT,
    DONE,
    NODES,
    OPEN,
    PAUSED,
    STACKED,
    STOPPED,
    UNIT_BITS,
    leader,
    rank_of,
)
from fsm_hpc.search.solvers.native.kernels.splitting import classify, split
from fsm_hpc.search.solvers.native.kernels.states import ANTIHOLE, TRUE
from fsm_hpc.search.solvers.native.kernels.units import choose_families, open_holes

LIVE, LIVE_COUNT, ACTIVE, ACTIVE_COUNT, BASE = range(5)  # of a stack entry


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
