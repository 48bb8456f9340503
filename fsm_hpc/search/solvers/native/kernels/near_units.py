# mypy: disable-error-code="no-untyped-def"
"""Units of the near-optimal set: columns for the context of a plan, then all that fill its hole."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, subroutine
from fsm_hpc.search.solvers.native.kernels.near_boxes import (
    STOPPED,
    read_rows,
    search_family,
    whole,
)
from fsm_hpc.search.solvers.native.kernels.near_planes import INTERVAL_CUT

DONE, FULL, HALTED = range(3)  # why the search of units came back
DROP, PAUSE = range(2)  # flags: come back at once, or after the family at hand


@part
def choose_columns(data, plan, index, context):
    """The index-th choice of columns for the context; False if it is none, or one seen before."""
    boxed = len(context)
    count = len(data.cards)
    for i in range(boxed - 1, -1, -1):
        context[i] = index % count
        index //= count
    for i in range(boxed):
        for k in range(i):
            if context[i] == context[k]:
                return False
    for p in range(len(plan.moves)):
        # of choices that exchange interchangeable variables the least one stands for all
        for i in range(boxed):
            other = context[plan.moves[p, i]]
            if other > context[i]:
                break
            if other < context[i]:
                return False
    return True


@part
def is_apart(data, x, y):
    """Whether two columns cannot be a hole together, since one of them has intervals."""
    return data.kinds[x] == INTERVAL_CUT or data.kinds[y] == INTERVAL_CUT


@subroutine
def promise(data, states, x, low, high):
    """The most that any cut of x allows, when each row may choose the truth of the other literal.

    `low`, `high`: the bits of a row's state where the literal of x is false, where it is true.
    """
    sums = data.sums
    card = data.cards[x]
    for v in range(card + 1):
        sums[v] = 0
    base = 0
    for r in range(len(states)):
        w = data.weights[r]
        if w > 0:
            without, along = states[r] & low != 0, states[r] & high != 0
        else:
            without, along = states[r] & low == low, states[r] & high == high
        base += w * without
        sums[data.ranks[x, r]] += w * (int(along) - int(without))
    best = -(1 << 62)
    running = 0
    for v in range(card - 1, 0, -1):
        running += sums[v]
        best = max(best, base + running)
    return best


@subroutine
def promising(data, plan, context, first, goal, work):
    """Which columns may fill either place of the hole, by what the widest box allows."""
    for i in range(len(context)):
        whole(data, context[i], work.box[i])
    read_rows(data, plan, context, work.box, work.states, work.opens)
    for x in range(first, len(data.cards)):
        if data.kinds[x] == INTERVAL_CUT:
            work.hopes[x, 0] = work.hopes[x, 1] = False
        else:
            work.hopes[x, 0] = promise(data, work.states, x, 5, 10) >= goal
            work.hopes[x, 1] = promise(data, work.states, x, 3, 12) >= goal


@subroutine
def keep(context, plan, x, y, count, found, out, at):
    """Write a family down."""
    for i in range(len(context)):
        out.columns[at, plan.boxed[i]] = context[i]
    out.columns[at, plan.hole[0]] = x
    if y >= 0:
        out.columns[at, plan.hole[1]] = y
    out.counts[at] = count
    out.best[at] = found.best[0]
    for v in range(len(found.ranges)):
        for e in range(4):
            out.ranges[at, v, e] = found.ranges[v, e]
        out.cuts[at, v, 0], out.cuts[at, v, 1] = found.cuts[v, 0], found.cuts[v, 1]
    for r in range(len(found.votes)):
        out.votes[r] += found.votes[r]


@kernel
def search_units(data, plan, place, end, goal, flag, work, found, out):
    """Search units from `place` (unit, x, y) on; `out.used` tells how many families were found."""
    context = work.context[: len(plan.boxed)]
    while place[0] < end:
        if choose_columns(data, plan, place[0], context):
            first = 0
            for i in range(len(context)):
                first = max(first, context[i] + 1)
            if len(plan.hole) == 1:
                status = single_holes(
                    data, plan, context, place, first, goal, flag, work, found, out
                )
            else:
                promising(data, plan, context, first, goal, work)
                status = pair_holes(data, plan, context, place, first, goal, flag, work, found, out)
            if status != DONE:
                return status
        place[0] += 1
        place[1] = place[2] = 0
    return DONE


@subroutine
def single_holes(data, plan, context, place, first, goal, flag, work, found, out):
    """One column in the hole: the widest, where it and the next one cannot be a pair."""
    columns = len(data.cards)
    while place[1] < columns:
        x = place[1]
        if x >= first and (len(context) == 0 or is_apart(data, x, first - 1)):
            if out.used[0] == len(out.counts):
                return FULL
            count = search_family(data, plan, context, x, -1, goal, flag, work, found)
            if count == STOPPED:
                return HALTED
            if count > 0:
                keep(context, plan, x, -1, count, found, out, out.used[0])
                out.used[0] += 1
            if flag[PAUSE]:
                place[1] += 1
                return HALTED
        place[1] += 1
    return DONE


@subroutine
def pair_holes(data, plan, context, place, first, goal, flag, work, found, out):
    """Two columns in the hole, both wider than those of the context."""
    columns = len(data.cards)
    while place[1] < columns:
        x = place[1]
        if x >= first and work.hopes[x, 0]:
            while place[2] < columns:
                y = place[2]
                is_new = y > x if plan.same else y != x
                if y >= first and is_new and work.hopes[y, 1]:
                    if out.used[0] == len(out.counts):
                        return FULL
                    count = search_family(data, plan, context, x, y, goal, flag, work, found)
                    if count == STOPPED:
                        return HALTED
                    if count > 0:
                        keep(context, plan, x, y, count, found, out, out.used[0])
                        out.used[0] += 1
                    if flag[PAUSE]:
                        place[2] += 1
                        return HALTED
                place[2] += 1
        place[1] += 1
        place[2] = 0
    return DONE
