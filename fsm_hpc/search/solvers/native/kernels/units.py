# mypy: disable-error-code="no-untyped-def"
"""Units of work: columns for the boxed variables of a plan, and holes to ask."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import kernel

HOLES_OF_A_UNIT = 4


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
