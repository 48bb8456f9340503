# mypy: disable-error-code="no-untyped-def"
"""The best pair of pivots on columns of many values: a sweep over one, a tree over the other."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.holes import NOTHING, combine
from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine


@part
def sweep(question, memory, scratch, flag):
    """The same as `pair` for two pivots of many values: rows enter a tree as the cut falls.

    `tree` holds by node (sum, greatest, least sum over an end of its range) of the rows where x
    holds, and of the others.
    """
    x, y, weights, rows = question.values_x, question.values_y, memory.row_weights, memory.rows
    card_x, count, mask = question.card_x, question.rows, question.mask
    order, heads, tree = scratch.order, scratch.heads, scratch.tree
    size = 1
    while size < question.card_y:
        size *= 2
    total = _prepare(y, rows, weights, count, question.card_y, question.floor_y, size, tree)
    for value in range(card_x + 1):
        heads[value] = -1
    for k in range(count):
        order[k] = heads[x[rows[k]]]
        heads[x[rows[k]]] = k
    # a literal that holds nowhere scores 0, where it is an answer
    most, least = (NOTHING, -NOTHING) if question.top_y else (0, 0)
    best = NOTHING
    if question.top_x == 0:
        max_out, min_out = max(most, tree[1, 4]), min(least, tree[1, 5])
        best = combine(0, 0, max_out, min_out, 0, total, mask)
        memory.where[0] = card_x
        memory.where[1] = card_x
    in_total = 0
    for step in range(card_x - question.floor_x):
        if flag[0] != 0:
            return best
        low = card_x - 1 - step
        k = heads[low]
        while k >= 0:
            _enter(tree, size + y[rows[k]], weights[k])
            in_total += weights[k]
            k = order[k]
        max_in, min_in = max(most, tree[1, 1]), min(least, tree[1, 2])
        max_out, min_out = max(most, tree[1, 4]), min(least, tree[1, 5])
        found = combine(max_in, min_in, max_out, min_out, in_total, total, mask)
        if found > best:
            best = found
            memory.where[0] = low
            memory.where[1] = card_x - 1
            if question.any_will_do and best > question.goal:
                return best
    return best


@part
def _prepare(y, rows, weights, count, card_y, floor_y, size, tree):
    """All rows outside x: sums at the leaves, then upwards."""
    total = 0
    for node in range(size, 2 * size):
        held = floor_y <= node - size < card_y
        for offset in range(0, 6, 3):
            tree[node, offset] = 0
            tree[node, offset + 1] = 0 if held else NOTHING
            tree[node, offset + 2] = 0 if held else -NOTHING
    for k in range(count):
        for field in range(3, 6):
            tree[size + y[rows[k]], field] += weights[k]
        total += weights[k]
    for node in range(size - 1, 0, -1):
        _pull(tree, node, 0)
        _pull(tree, node, 3)
    return total


@subroutine
def _enter(tree, node, weight):
    """A row passes from `not x` to `x`."""
    for field in range(3):
        tree[node, field] += weight
        tree[node, field + 3] -= weight
    node >>= 1
    while node:
        _pull(tree, node, 0)
        _pull(tree, node, 3)
        node >>= 1


@subroutine
def _pull(tree, node, field):
    left = 2 * node
    right = left + 1
    above = tree[right, field]
    tree[node, field] = tree[left, field] + above
    tree[node, field + 1] = max(tree[right, field + 1], above + tree[left, field + 1])
    tree[node, field + 2] = min(tree[right, field + 2], above + tree[left, field + 2])
