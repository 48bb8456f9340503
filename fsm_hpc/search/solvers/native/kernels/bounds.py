# mypy: disable-error-code="no-untyped-def"
"""What constraints leave of a unit: functions by direction, columns that are still to come."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

MASK, MISSING, ROOM = range(3)  # of a unit: functions, required names, columns it may still have
MASK_BITS = 8  # functions of a hole; where holes are listed, the number of one is above them
ALL_FUNCTIONS = (1 << MASK_BITS) - 1


@part
def directed(bounds, plan, item, place, mask):
    """Those functions (bits) of a plan that a column may take a place in, by its direction."""
    sign = bounds.signs[item]
    if sign == 0:
        return mask
    for f in range(len(plan.cross)):
        able = plan.rises[f] if sign > 0 else plan.falls[f]
        if not able >> place & 1:
            mask &= ~(1 << f)
    return mask


@part
def is_new(bounds, items, count, item):
    """Whether none of the first columns is a part of the same column of the table."""
    new = True
    for k in range(count):
        new &= bounds.origins[items[k]] != bounds.origins[item]
    return new


@subroutine
def holes_to_ask(bounds, plan, items, unit, x, y, mask):
    """The functions (bits) that two columns may fill the hole of a unit with; x = y for one."""
    boxed = len(plan.after)
    if unit[MISSING] & ~(bounds.needs[x] | bounds.needs[y]):
        return 0
    if bounds.wanted:  # the same twice is a smaller formula, which may lack what is required
        for k in range(boxed):
            if items[k] in (x, y):
                return 0
    room = unit[ROOM]
    if is_new(bounds, items, boxed, x):
        room -= 1
    if bounds.origins[x] != bounds.origins[y] and is_new(bounds, items, boxed, y):
        room -= 1
    if room < 0:
        return 0
    mask = directed(bounds, plan, x, boxed, mask & unit[MASK])
    return mask if plan.hole == 1 else directed(bounds, plan, y, boxed + 1, mask)


@subroutine
def bound_unit(bounds, plan, items, unit):
    """Note what the columns of the context leave to its hole; False if that is nothing."""
    mask = ALL_FUNCTIONS
    missing = bounds.wanted
    room = bounds.most
    for i in range(len(plan.after)):
        mask = directed(bounds, plan, items[i], i, mask)
        missing &= ~bounds.needs[items[i]]
        if is_new(bounds, items, i, items[i]):
            room -= 1
    unit[MASK] = mask
    unit[MISSING] = missing
    unit[ROOM] = room
    return mask != 0 and room >= 0
