# mypy: disable-error-code="no-untyped-def"
"""The best literal of every column at one place of a formula, all else fixed."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, NO_SCORE, POINT
from fsm_hpc.search.solvers.native.kernels.intervals import running_sums, widest_gap
from fsm_hpc.search.solvers.native.kernels.kernel import kernel

VALUE, LOW, HIGH = range(3)  # of an entry of `best`


@kernel
def best_literals(ranks, rows, gains, columns, ends, starts, sums, prefix, queue, best):
    """Write for each column the highest sum of gains on rows where one of its literals holds.

    `columns`: kind, number of ranks, first cut, distance of cuts, and the one literal that is
    allowed (low and high), low -1 where all are, -2 where the column may not be used. `ends` has
    the first and last high end of each low end of an interval, from `starts` on for each column.
    """
    for column in range(len(columns)):
        kind, card, floor, step, only_low, only_high = columns[column]
        best[column, VALUE] = NO_SCORE
        if only_low == -2:
            continue
        own = ranks[column]
        for rank in range(card + 1):
            sums[rank] = 0
        for k in range(len(rows)):
            sums[own[rows[k]]] += gains[k]
        if only_low >= 0:
            total = 0
            for rank in range(only_low, only_high + 1):
                total += sums[rank]
            best[column, VALUE] = total
            best[column, LOW] = only_low
            best[column, HIGH] = only_high
        elif kind == POINT:
            for rank in range(1, card):
                if sums[rank] > best[column, VALUE]:
                    best[column, VALUE] = sums[rank]
                    best[column, LOW] = rank
                    best[column, HIGH] = rank
        elif kind == INTERVAL:
            own, found = ends[starts[column] :], best[column]
            running_sums(sums, card, prefix)
            found[VALUE] = widest_gap(
                prefix[floor::step],
                prefix[floor + 1 :: step],
                own[:, 0],
                own[:, 1],
                0,
                (card - floor + step - 1) // step,
                queue,
                1,
                found[LOW:],
            )
            found[LOW] = floor + found[LOW] * step
            found[HIGH] = floor + found[HIGH] * step
        else:
            total = 0
            for rank in range(card - 1, floor - 1, -1):
                total += sums[rank]
                if total > best[column, VALUE] and (rank - floor) % step == 0:
                    best[column, VALUE] = total
                    best[column, LOW] = rank
                    best[column, HIGH] = card - 1
