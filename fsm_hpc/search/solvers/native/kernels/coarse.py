# mypy: disable-error-code="no-untyped-def"
"""A cheap upper bound on two pivots: their cuts known only up to a bin of values."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

MAX_BINS = 128


@part
def coarse_bound(question, memory, scratch, bins):
    """No pair of pivots scores higher with the asked functions.

    Rows in the bin of a cut may fall on either side of it: positive rows count where that
    helps, negative ones where it does not hurt. `cells`, `losses`: the sums of both over the
    rows below a corner.
    """
    x, y, weights, rows = question.values_x, question.values_y, memory.row_weights, memory.rows
    gains, losses, mask = scratch.cells, scratch.losses, question.mask
    card_x, card_y = question.card_x, question.card_y
    side = bins + 1
    for cell in range(side * side):
        gains[cell] = 0
        losses[cell] = 0
    for k in range(question.gained):
        row = rows[k]
        gains[(x[row] * bins // card_x + 1) * side + y[row] * bins // card_y + 1] += weights[k]
    for k in range(question.gained, question.rows):
        row = rows[k]
        losses[(x[row] * bins // card_x + 1) * side + y[row] * bins // card_y + 1] -= weights[k]
    for i in range(1, side):
        for j in range(1, side):
            cell = i * side + j
            gains[cell] += gains[cell - 1] + gains[cell - side] - gains[cell - side - 1]
            losses[cell] += losses[cell - 1] + losses[cell - side] - losses[cell - side - 1]
    total = gains[side * side - 1] - losses[side * side - 1]
    best = -(1 << 30)
    for i in range(bins):
        for j in range(bins):
            for quadrant in range(4):
                asked = (mask >> quadrant & 1) | (mask >> (quadrant + 4) & 1) << 1
                if asked:
                    best = max(best, _corner(i, j, quadrant, asked, bins, gains, losses, total))
    return best


@subroutine
def _corner(i, j, quadrant, asked, bins, gains, losses, total):
    """The best of a conjunction (bit 0) and of its negation (bit 1) with cuts in bins i and j."""
    x_holds = quadrant == 0 or quadrant == 1
    y_holds = quadrant == 0 or quadrant == 2
    a = i if x_holds else 0
    b = bins if x_holds else i + 1
    c = j if y_holds else 0
    d = bins if y_holds else j + 1
    a2 = i + 1 if x_holds else 0
    b2 = bins if x_holds else i
    c2 = j + 1 if y_holds else 0
    d2 = bins if y_holds else j
    side = bins + 1
    best = -(1 << 30)
    if asked & 1:
        best = _sum(gains, a, b, c, d, side) - _sum(losses, a2, b2, c2, d2, side)
    if asked & 2:
        least = _sum(gains, a2, b2, c2, d2, side) - _sum(losses, a, b, c, d, side)
        best = max(best, total - least)
    return best


@subroutine
def _sum(sums, a, b, c, d, side):
    """Over bins a..b-1 of x and c..d-1 of y."""
    return sums[b * side + d] - sums[a * side + d] - sums[b * side + c] + sums[a * side + c]
