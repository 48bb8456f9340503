# mypy: disable-error-code="no-untyped-def"
"""The best interval among those that hold and fail on enough rows: upper ends in a window."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import NOTHING, combine
from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine


@subroutine
def widest_gap(prefix, first, last, floor, card, queue, sign, ends):
    """The greatest of sign * (prefix[high + 1] - prefix[low]) over the intervals that may be.

    For each low end the high ends are a window that moves upwards with it, so that a queue of
    candidates, the best first, answers all of them in one go. `ends`: where it is.
    """
    best = NOTHING
    head = 0
    tail = 0
    pushed = floor
    for low in range(floor, card):
        while pushed <= last[low] and pushed < card:
            value = sign * prefix[pushed + 1]
            while tail > head and sign * prefix[queue[tail - 1] + 1] < value:
                tail -= 1
            queue[tail] = pushed
            tail += 1
            pushed += 1
        while tail > head and queue[head] < first[low]:
            head += 1
        if first[low] <= last[low] and tail > head:
            found = sign * (prefix[queue[head] + 1] - prefix[low])
            if found > best:
                best = found
                ends[0] = low
                ends[1] = queue[head]
    return best


@part
def running_sums(sums, card, prefix):
    """prefix[v]: of all values below v."""
    prefix[0] = 0
    for value in range(card):
        prefix[value + 1] = prefix[value] + sums[value]


@subroutine
def single_within(question, data, memory, scratch):
    """The same as `single` for an interval that has to have support."""
    start, card, mask = data.starts[question.x], question.card_x, question.mask
    first, last = data.first[start:], data.last[start:]
    running_sums(scratch.net[start:], card, scratch.prefix)
    total = scratch.prefix[card]
    best = NOTHING
    for f in range(2):
        if mask >> f & 1:
            sign = 1 if f == 0 else -1
            found = widest_gap(
                scratch.prefix,
                first,
                last,
                question.floor_x,
                card,
                scratch.queue,
                sign,
                scratch.found,
            )
            if found > NOTHING:
                found += 0 if f == 0 else total
            if found > best:
                best = found
                memory.where[0] = scratch.found[0]
                memory.where[1] = scratch.found[1]
    return best


@subroutine
def answer_within(inside, sums, question, data, scratch, in_total, total, mask):
    """The same as `answer` for an interval y that has to have support."""
    start, card, floor = data.starts[question.y], question.card_y, question.floor_y
    first, last = data.first[start:], data.last[start:]
    prefix, queue, ends = scratch.prefix, scratch.queue, scratch.found
    running_sums(inside, card, prefix)
    max_in = widest_gap(prefix, first, last, floor, card, queue, 1, ends)
    min_in = -widest_gap(prefix, first, last, floor, card, queue, -1, ends)
    prefix[0] = 0
    for value in range(card):
        prefix[value + 1] = prefix[value] + sums[value] - inside[value]
    max_out = widest_gap(prefix, first, last, floor, card, queue, 1, ends)
    min_out = -widest_gap(prefix, first, last, floor, card, queue, -1, ends)
    if max_in == NOTHING:
        return NOTHING
    return combine(max_in, min_in, max_out, min_out, in_total, total, mask)


@subroutine
def has_support(data, columns, box, boxed, cuts):
    """Whether each interval of a box may have ends with support; `cuts`: the first such ends."""
    for i in range(boxed):
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        start = data.starts[columns[i]]
        cuts[i, 0] = low1
        cuts[i, 1] = high1
        is_found = False
        for low in range(low1, low2 + 1):
            high = max(high1, data.first[start + low])
            if high <= min(high2, data.last[start + low]):
                cuts[i, 0] = low
                cuts[i, 1] = high
                is_found = True
                break
        if not is_found:
            return False
    return True
