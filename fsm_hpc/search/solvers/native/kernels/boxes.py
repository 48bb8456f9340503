# mypy: disable-error-code="no-untyped-def"
"""Branch and bound over boxes of cuts for a context, with its hole answered in closed form."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.asking import ask
from fsm_hpc.search.solvers.native.kernels.bounds import ALL_FUNCTIONS, MASK_BITS, bound_unit
from fsm_hpc.search.solvers.native.kernels.holes import NOTHING
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part
from fsm_hpc.search.solvers.native.kernels.order import (
    ASKED,
    AT,
    DONE,
    NODES,
    OPEN,
    PAUSED,
    STACKED,
    STOPPED,
    goal_above,
    leader,
    note,
    rank_of,
)
from fsm_hpc.search.solvers.native.kernels.splitting import branch, settle
from fsm_hpc.search.solvers.native.kernels.states import (
    ACTIVE,
    ACTIVE_COUNT,
    ANTIHOLE,
    BASE,
    LIVE,
    LIVE_COUNT,
    UNLISTED,
)
from fsm_hpc.search.solvers.native.kernels.units import choose_families, open_holes
from fsm_hpc.search.solvers.native.kernels.windows import has_support

MANY_FOUND = 1 << 10  # holes that are reported before a kernel comes back


@kernel
def search(data, families, plan, memory, scratch, lane, race, span):
    """Search units [control[AT], end) of a plan; come back after `budget` steps of work.

    A unit chooses a literal family for every boxed variable. The best formula becomes the leader;
    with room in `found` all holes of which some function reaches the leader's score are kept.
    """
    control = lane.control
    is_mirrored = False
    for state in plan.states:
        is_mirrored |= state == ANTIHOLE
    work = 0
    while True:
        if race.flag[0] != 0:
            return STOPPED
        if work > span.budget or memory.found_count[0] >= MANY_FOUND:
            return PAUSED
        if control[OPEN] == 0:
            if control[AT] >= span.end:
                return DONE
            work += _open_unit(data, families, plan, memory, control, span)
        elif control[STACKED] == 0:
            control[OPEN] = 0
            control[AT] += 1
        else:
            work += _search_box(
                data, families, plan, memory, scratch, lane, race, span, is_mirrored
            )


@part
def _open_unit(data, families, plan, memory, control, span):
    """Put the box of all cuts of the next unit on the stack, or pass over it; steps of work."""
    chosen = memory.chosen
    if not choose_families(control[AT] // span.blocks, families, plan, chosen):
        control[AT] += 1
        return 8
    for i in range(len(plan.after)):
        memory.columns[i] = families.column[chosen[i]]
    if data.bounds.is_any and not bound_unit(data.bounds, plan, memory.columns, memory.unit):
        control[AT] += 1
        return 8
    for i in range(len(plan.after)):
        for field in range(4):
            if control[STACKED] == 0:
                memory.boxes[0, 4 * i + field] = families.ends[chosen[i], field]
    control[OPEN] = 1
    control[STACKED] = max(1, control[STACKED])  # boxes that are there are left of an earlier try
    for top in range(control[STACKED]):
        frame = memory.frames[top]
        frame[LIVE] = 0
        frame[LIVE_COUNT] = data.words
        frame[ACTIVE] = 0
        frame[ACTIVE_COUNT] = UNLISTED
        frame[BASE] = 0
    return 8


@part
def _list_holes(data, families, plan, memory, control, span):
    """List the holes of the unit for all its boxes, now that one may beat the leader."""
    count = open_holes(data, families, plan, control[AT] % span.blocks, span.holes, memory)
    for top in range(control[STACKED] + 1):
        memory.frames[top, ACTIVE_COUNT] = count
    if len(memory.found):
        for hole in range(count):
            memory.is_reported[hole] = False


@part
def _search_box(data, families, plan, memory, scratch, lane, race, span, is_mirrored):
    """Take a box from the stack: drop it, find its leader, or put its halves there; the work."""
    lane.control[STACKED] -= 1
    lane.control[NODES] += 1
    top = lane.control[STACKED]
    unit = span.first + lane.control[AT]
    boxed = len(plan.after)
    for field in range(4 * boxed):
        memory.box[field] = memory.boxes[top, field]
    if data.has_windows and not has_support(data, memory.columns, memory.box, boxed, memory.ends):
        return 8
    work = 8 * memory.frames[top, LIVE_COUNT] * (boxed + 1)
    view = settle(data, plan, memory, top, is_mirrored)
    threshold = leader(race.best)
    if rank_of(view.bound + view.gain, unit) <= threshold:
        return work
    if memory.frames[top, ACTIVE_COUNT] == UNLISTED:
        _list_holes(data, families, plan, memory, lane.control, span)
        work += span.holes
    active_count = memory.frames[top, ACTIVE_COUNT]
    work += active_count * (view.asked * plan.hole // 4 + 64)
    hopeful = _ask_holes(data, plan, memory, scratch, lane, race, top, unit, view, threshold)
    lane.control[ASKED] += active_count
    if hopeful == 0 or view.unsettled == 0:
        return work
    branch(data, memory, boxed, top, view, hopeful)
    lane.control[STACKED] += 2
    return work


@part
def _ask_holes(data, plan, memory, scratch, lane, race, top, unit, view, threshold):
    """Ask what fills the hole best; how many of the entries may still beat the leader.

    Where the box leaves no row open, the best of them is the leader, or all of them are kept.
    """
    entries, masks, where, flag = memory.entries, memory.masks, memory.where, race.flag
    keeps_all = len(memory.found) > 0
    bound = view.bound
    goal = goal_above(threshold, bound, unit)
    active = memory.frames[top, ACTIVE]
    active_count = memory.frames[top, ACTIVE_COUNT]
    kept = active + active_count
    hopeful = 0
    score = NOTHING
    choice = 0
    low = 0
    high = 0
    for k in range(active, active + active_count):
        if flag[0] != 0:
            return 0
        if keeps_all and memory.is_reported[masks[k] >> MASK_BITS]:
            continue
        found = bound + ask(
            data,
            plan,
            memory,
            scratch,
            lane.control[NODES],
            entries[k],
            masks[k] & ALL_FUNCTIONS,
            view,
            goal,
            keeps_all or view.unsettled > 0,
            flag,
        )
        if rank_of(found, unit) <= threshold:
            continue
        if keeps_all and view.unsettled == 0:
            _report(memory, unit, entries[k], masks[k])
            continue
        entries[kept + hopeful] = entries[k]
        masks[kept + hopeful] = masks[k]
        hopeful += 1
        if found > score:
            score = found
            choice = k
            low = where[0]
            high = where[1]
    if hopeful > 0 and view.unsettled == 0:
        for i in range(len(plan.after)):
            lane.cuts[i, 0] = memory.ends[i, 0] if data.has_windows else memory.box[4 * i]
            lane.cuts[i, 1] = memory.ends[i, 1] if data.has_windows else memory.box[4 * i + 2]
        mask = masks[choice] & ALL_FUNCTIONS
        note(lane, race, unit, entries[choice], mask, score, low, high)
    return hopeful


@part
def _report(memory, unit, entry, mask):
    """Keep a hole of which some function reaches the goal; its unit asks it no more."""
    at = memory.found_count[0]
    memory.found[at, 0] = unit
    memory.found[at, 1] = entry
    memory.found[at, 2] = mask & ALL_FUNCTIONS
    memory.found_count[0] += 1
    memory.is_reported[mask >> MASK_BITS] = True
