# mypy: disable-error-code="no-untyped-def"
"""The scores of all cuts of a hole at once, and what is counted among them."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.kernel import part, subroutine

LOWEST = -(1 << 62)  # the score of what is no choice of cuts
SUFFIX_CUT, INTERVAL_CUT = 0, 1
ALWAYS = 15  # a row that holds whatever fills the hole; 0: never


@part
def clamp(value, most):
    return 0 if value < 0 else (most if value > most else value)


@part
def possible(data, r, x, y, rect):
    """Which truths of the hole's two literals a row may have within the rectangle, as four bits."""
    v = data.ranks[x, r]
    if data.kinds[x] == INTERVAL_CUT:
        can = 3  # bit 0: may be false, bit 1: may be true
        if v < rect[0] or v > rect[3]:
            can = 1
        elif v >= rect[1] and v <= rect[2]:
            can = 2
        return can
    xs = 2 if v >= rect[1] else (1 if v < rect[0] else 3)
    if y < 0:
        return xs
    v = data.ranks[y, r]
    ys = 2 if v >= rect[3] else (1 if v < rect[2] else 3)
    return (xs if ys & 1 else 0) | (xs << 2 if ys & 2 else 0)


@subroutine
def quick_bound(data, states, x, y, rect):
    """No choice in the rectangle scores more, whatever each row wishes for itself."""
    bound = 0
    for r in range(len(data.weights)):
        w = data.weights[r]
        can = possible(data, r, x, y, rect)
        if w > 0:
            if states[r] & can:
                bound += w
        elif states[r] & can == can:
            bound += w
    return bound


@subroutine
def interval_plane(data, weights, states, x, rect, plane):
    """The score of every interval [rect0 + i, rect2 + j] of the column, with its rows' states."""
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
    card = data.cards[x]
    sums = data.sums
    for v in range(card + 1):
        sums[v] = 0
    base = 0
    for r in range(len(weights)):
        w = weights[r]
        if w != 0:
            outside = states[r] & 1
            base += w * outside
            sums[data.ranks[x, r] + 1] += w * ((states[r] >> 1 & 1) - outside)
    for v in range(card):
        sums[v + 1] += sums[v]
    for i in range(nx):
        low = rect[0] + i
        for j in range(ny):
            high = rect[2] + j
            if low > high or (low == 0 and high == card - 1):
                plane[i * ny + j] = LOWEST
            else:
                plane[i * ny + j] = base + sums[high + 1] - sums[low]


@subroutine
def cut_plane(data, weights, states, x, y, rect, plane):
    """The score of every pair of cuts x >= rect0 + i, y >= rect2 + j; without y of every cut."""
    nx = rect[1] - rect[0] + 1
    ny = 1 if y < 0 else rect[3] - rect[2] + 1
    lines, sums, across = data.lines, data.sums, data.across
    for cell in range(nx * ny):
        plane[cell] = 0
    for i in range(nx + 1):
        lines[i] = 0
    for j in range(ny + 1):
        across[j] = 0
        sums[j] = 0
    base = 0
    for r in range(len(weights)):
        w = weights[r]
        state = states[r]
        if w == 0 or state == 0:
            continue
        if state == ALWAYS:
            base += w
            continue
        none, only_x = state & 1, state >> 1 & 1
        only_y, both = state >> 2 & 1, state >> 3 & 1
        base += w * none
        bx = clamp(data.ranks[x, r] - rect[0] + 1, nx)
        lines[bx] += w * (only_x - none)
        if y >= 0:
            by = clamp(data.ranks[y, r] - rect[2] + 1, ny)
            across[by] += w * (only_y - none)
            if bx > 0 and by > 0:
                plane[(bx - 1) * ny + by - 1] += w * (both - only_x - only_y + none)
    for i in range(nx - 1, -1, -1):
        lines[i] += lines[i + 1]
    for j in range(ny - 1, -1, -1):
        across[j] += across[j + 1]
    for i in range(nx - 1, -1, -1):
        running = 0
        for j in range(ny - 1, -1, -1):
            sums[j] += plane[i * ny + j]
            running += sums[j]
            plane[i * ny + j] = base + lines[i + 1] + across[j + 1] + running


@subroutine
def score_plane(data, weights, states, x, y, rect, plane):
    """Scores of all cells of the rectangle."""
    if data.kinds[x] == INTERVAL_CUT:
        interval_plane(data, weights, states, x, rect, plane)
    else:
        cut_plane(data, weights, states, x, y, rect, plane)


@subroutine
def shrink(plane, goal, rect, ny):
    """The smallest rectangle around all cells that reach the goal; how many those are."""
    nx = rect[1] - rect[0] + 1
    found = 0
    x0, x1, y0, y1 = nx, -1, ny, -1
    for i in range(nx):
        for j in range(ny):
            if plane[i * ny + j] >= goal:
                found += 1
                x0, x1 = min(x0, i), max(x1, i)
                y0, y1 = min(y0, j), max(y1, j)
    if found:
        rect[1], rect[0] = rect[0] + x1, rect[0] + x0
        rect[3], rect[2] = rect[2] + y1, rect[2] + y0
    return found


@subroutine
def mark_good(plane, goal, nx, ny, marks):
    """marks[i, j]: how many cells of the rows before i and the columns before j are good."""
    wide = ny + 1
    for j in range(wide):
        marks[j] = 0
    for i in range(nx):
        line = 0
        marks[(i + 1) * wide] = 0
        for j in range(ny):
            line += plane[i * ny + j] >= goal
            marks[(i + 1) * wide + j + 1] = marks[i * wide + j + 1] + line


@subroutine
def vote(data, states, x, y, rect, marks, times, votes):
    """Add to every row how many good cells say yes, each so many times."""
    nx = rect[1] - rect[0] + 1
    ny = 1 if y < 0 and data.kinds[x] == SUFFIX_CUT else rect[3] - rect[2] + 1
    wide = ny + 1
    everything = marks[nx * wide + ny]
    for r in range(len(states)):
        state = states[r]
        bx = clamp(data.ranks[x, r] - rect[0] + 1, nx)
        if y >= 0:
            by = clamp(data.ranks[y, r] - rect[2] + 1, ny)
            both = marks[bx * wide + by]
            only_x = marks[bx * wide + ny] - both
            only_y = marks[nx * wide + by] - both
        else:
            both = only_y = 0
            only_x = marks[bx * wide + ny]
            if data.kinds[x] == INTERVAL_CUT:
                only_x -= marks[bx * wide + clamp(data.ranks[x, r] - rect[2], ny)]
        none = everything - both - only_x - only_y
        yes = (state >> 3 & 1) * both + (state >> 1 & 1) * only_x
        yes += (state >> 2 & 1) * only_y + (state & 1) * none
        votes[r] += times * yes
