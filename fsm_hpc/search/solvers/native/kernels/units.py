# mypy: disable-error-code="no-untyped-def"
"""Units of work: columns for the boxed variables of a plan, and holes to ask."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part

HOLES_OF_A_UNIT = 4


@kernel
def choose_families(index, families, plan, chosen):
    """The index-th choice of a literal family for each boxed variable; False if it is no choice."""
    boxed = len(plan.after)
    count = len(families.column)
    for i in range(boxed - 1, -1, -1):
        chosen[i] = index % count
        index //= count
    for i in range(boxed):
        if plan.after[i] >= 0 and chosen[plan.after[i]] >= chosen[i]:
            return False
        for k in range(i):
            if chosen[i] == chosen[k]:
                return False
            same = families.column[chosen[i]] == families.column[chosen[k]]
            if same and families.numeric[chosen[i]]:
                return False
    return True


@part
def open_holes(data, families, plan, pairs, index, chosen, entries, masks):
    """The columns (pairs) that may fill the hole, each with the functions to ask; their number.

    Where nothing is boxed, every unit asks a few of them, so that threads can share the work.
    """
    order, cross, after = data.order, plan.cross, plan.after
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
            column = families.column[chosen[i]]
            if families.numeric[chosen[i]] and column in (x, y):
                usable = False
            if i == plan.partner and not data.wide[column, x]:
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
