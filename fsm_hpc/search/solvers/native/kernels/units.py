# mypy: disable-error-code="no-untyped-def"
"""Units of work: columns for the boxed variables of a plan, and holes to ask."""

from __future__ import annotations

from math import sqrt

from fsm_hpc.search.solvers.native.kernels.bounds import MASK_BITS, holes_to_ask
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part
from fsm_hpc.search.solvers.native.kernels.words import INTERVAL, POINT, SUFFIX

FIELD = 32  # bits of a column in the code of a pair


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
def pair_code(x, y):
    """Two columns as one number."""
    return (x << FIELD) + y


@part
def is_wide(data, x, y):
    """Whether two interval columns have too many pairs of values for a pair hole."""
    if x == y or data.kinds[x] != INTERVAL or data.kinds[y] != INTERVAL:
        return False
    return (data.cards[x] + 1) * (data.cards[y] + 1) > data.widest


@part
def pair_at(data, earlier, later):
    """The columns (x, y) at two places as a hole of two literals, coded; -1 if they are none.

    x has fewer values, since it is gone through. Of two intervals it has more, since its
    ends are searched by branch and bound while those of y are gone through every time; of
    two pivots with many values as well, since y is then a tree.
    """
    x = data.places[earlier]
    y = data.places[later]
    if x == y and (data.kinds[x] != POINT or data.cards[x] < 3):
        return -1
    if is_wide(data, x, y):
        return -1
    kind = data.kinds[x]
    if kind == INTERVAL or (kind == SUFFIX and data.cards[y] > data.many):
        return pair_code(y, x)
    return pair_code(x, y)


@part
def row_of(index):
    """The row of a triangle in which its index-th place is: row k has k + 1 places."""
    row = int((sqrt(8.0 * index + 1.0) - 1.0) / 2.0)
    while row * (row + 1) // 2 > index:
        row -= 1
    while (row + 1) * (row + 2) // 2 <= index:
        row += 1
    return row


@part
def open_holes(data, families, plan, block, holes, memory):
    """The columns (pairs) that may fill the hole, each with the functions to ask; their number.

    A unit asks one block of them: a list of all pairs would not fit where columns are many.
    """
    places = len(data.places)
    first = block * holes
    everything = places if plan.hole == 1 else places * (places + 1) // 2
    later = first if plan.hole == 1 else row_of(first)
    earlier = later if plan.hole == 1 else first - later * (later + 1) // 2
    _allow(data, families, plan, memory)
    count = 0
    for _ in range(first, min(everything, first + holes)):
        if plan.hole == 1:
            code = pair_code(data.places[later], data.places[later])
        else:
            code = pair_at(data, earlier, later)
        if code >= 0:
            mask = memory.allowed[earlier]
            if mask and _is_taken(data, families, plan, memory, code):
                mask = 0
            if mask and data.bounds.is_any:
                x, y = code >> FIELD, code & ((1 << FIELD) - 1)
                mask = holes_to_ask(data.bounds, plan, memory.columns, memory.unit, x, y, mask)
            if mask:
                memory.entries[count] = code
                memory.masks[count] = mask | count << MASK_BITS
                count += 1
        if earlier == later:
            later += 1
            earlier = later if plan.hole == 1 else 0
        else:
            earlier += 1
    return count


@part
def _allow(data, families, plan, memory):
    """Functions (bits) that columns are asked for beside the chosen ones, by their first place.

    Of interchangeable variables the columns are in order.
    """
    everything = 0
    for f in range(len(plan.cross)):
        if plan.cross[f] >= 0:
            everything |= 1 << f
    for place in range(len(data.places)):
        memory.allowed[place] = everything
    for i in range(len(plan.after)):
        unordered = everything
        for f in range(len(plan.cross)):
            if plan.cross[f] >= 0 and plan.cross[f] >> i & 1:
                unordered &= ~(1 << f)
        for place in range(data.order[families.column[memory.chosen[i]]]):
            memory.allowed[place] &= unordered


@part
def _is_taken(data, families, plan, memory, code):
    """Whether the context has one of these columns, which has one cut in a formula."""
    x = code >> FIELD
    y = code & ((1 << FIELD) - 1)
    for i in range(len(plan.after)):
        column = families.column[memory.chosen[i]]
        if families.numeric[memory.chosen[i]] and column in (x, y):
            return True
        if i == plan.partner and not is_wide(data, column, x):
            return True
    return False
