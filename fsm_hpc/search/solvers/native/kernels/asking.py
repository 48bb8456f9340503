# mypy: disable-error-code="no-untyped-def"
"""Ask what two columns, or one, can fill a hole with, in the cheapest way that is exact."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.coarse import MAX_BINS, coarse_bound
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, SUFFIX, localise, pair, single
from fsm_hpc.search.solvers.native.kernels.intervals import pair_of_intervals
from fsm_hpc.search.solvers.native.kernels.kernel import kernel
from fsm_hpc.search.solvers.native.kernels.sweeps import sweep


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
