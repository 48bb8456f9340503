# mypy: disable-error-code="no-untyped-def"
"""The best literal of every column at one place of a formula, all else fixed."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, NOTHING, POINT
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part

VALUE, LOW, HIGH = range(3)  # of an entry of `best`


@kernel
def best_literals(ranks, rows, gains, columns, ends, starts, sums, queue, best):
    """Write for each column the highest sum of gains on rows where one of its literals holds.

    `columns`: kind, number of ranks, first cut, distance of cuts, and the one literal that is
    allowed (low and high), low -1 where all are, -2 where the column may not be used. `ends` has
    the first and last high end of each low end of an interval, from `starts` on for each column.
    """
    for column in range(len(columns)):
        kind, card, floor, step, only_low, only_high = columns[column]
        best[column, VALUE] = NOTHING
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
            _best_interval(card, floor, step, ends[starts[column] :], sums, queue, best[column])
        else:
            total = 0
            for rank in range(card - 1, floor - 1, -1):
                total += sums[rank]
                if total > best[column, VALUE] and (rank - floor) % step == 0:
                    best[column, VALUE] = total
                    best[column, LOW] = rank
                    best[column, HIGH] = card - 1


@part
def _best_interval(card, floor, step, ends, sums, queue, found):
    """The interval with the highest sum; the windows of high ends move up with the low end."""
    for rank in range(1, card):
        sums[rank] += sums[rank - 1]
    head = 0
    tail = 0
    entered = 0
    for cut in range((card - floor + step - 1) // step):
        first, last = ends[cut]
        entered = max(entered, first)
        while entered <= last:
            at = floor + entered * step
            while tail > head and sums[floor + queue[tail - 1] * step] < sums[at]:
                tail -= 1
            queue[tail] = entered
            tail += 1
            entered += 1
        while head < tail and queue[head] < first:
            head += 1
        if head == tail or first > last:
            continue
        low = floor + cut * step
        high = floor + queue[head] * step
        value = sums[high] - (sums[low - 1] if low > 0 else 0)
        if value > found[VALUE]:
            found[VALUE] = value
            found[LOW] = low
            found[HIGH] = high
