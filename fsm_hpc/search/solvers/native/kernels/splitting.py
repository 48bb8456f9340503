# mypy: disable-error-code="no-untyped-def"
"""What a box leaves open on each row, and where to cut it in two."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import kernel


@kernel
def classify(data, plan, columns, box, live, start, count, digits):
    """By row, what is known of each boxed variable, as base-3 digits."""
    ranks = data[0]
    for k in range(count):
        digits[k] = 0
    place = 1
    for i in range(len(columns)):
        values = ranks[columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        for k in range(count):
            value = values[live[start + k]]
            digit = 0
            if low1 <= value <= high2:
                digit = 1 if low2 <= value <= high1 else 2
            digits[k] += place * digit
        place *= 3


@kernel
def split(data, columns, box, live, start, count, open_rows, marks):
    """Where to cut the box in two: variable * 2 + end, and the last value of the first half."""
    ranks, weights = data[0], data[1]
    best = 0
    target = 0
    for i in range(len(columns)):
        values = ranks[columns[i]]
        low1, low2, high1, high2 = box[4 * i], box[4 * i + 1], box[4 * i + 2], box[4 * i + 3]
        left = 0
        right = 0
        for k in range(count):
            if open_rows[k]:
                row = live[start + k]
                value = values[row]
                if low1 <= value < low2:
                    left += abs(weights[row])
                if high1 < value <= high2:
                    right += abs(weights[row])
        if left > best:
            best = left
            target = 2 * i
        if right > best:
            best = right
            target = 2 * i + 1
    i = target // 2
    values = ranks[columns[i]]
    begin = box[4 * i] if target % 2 == 0 else box[4 * i + 2] + 1
    end = box[4 * i + 1] if target % 2 == 0 else box[4 * i + 3] + 1
    for value in range(begin, end):
        marks[value - begin] = 0
    total = 0
    for k in range(count):
        if open_rows[k]:
            row = live[start + k]
            value = values[row]
            if begin <= value < end:
                marks[value - begin] += abs(weights[row])
                total += abs(weights[row])
    run = 0
    at = begin
    while at < end - 1:
        run += marks[at - begin]
        if 2 * run >= total:
            break
        at += 1
    # low end: a cut at `at` or below takes row `at` in; high end: `at - 1` or below leaves it out
    return target, (at if target % 2 == 0 else at - 1)
