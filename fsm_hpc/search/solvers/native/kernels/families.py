# mypy: disable-error-code="no-untyped-def"
"""All choices of cuts of one family that reach a score: counted, ranged, and listed on demand."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, SUFFIX
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, subroutine

LOWEST = -(1 << 62)  # the score of what is no choice of cuts
ALWAYS = 15  # a row that holds whatever fills the hole; 0: never


@part
def clamp(value, most):
    return 0 if value < 0 else (most if value > most else value)


@part
def possible(data, r, x, y, rect):
    """Which truths of the hole's two literals a row may have within the rectangle, as four bits."""
    v = data.ranks[x, r]
    if data.kinds[x] == INTERVAL:
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
    if data.kinds[x] == INTERVAL:
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
    ny = 1 if y < 0 and data.kinds[x] == SUFFIX else rect[3] - rect[2] + 1
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
            if data.kinds[x] == INTERVAL:
                only_x -= marks[bx * wide + clamp(data.ranks[x, r] - rect[2], ny)]
        none = everything - both - only_x - only_y
        yes = (state >> 3 & 1) * both + (state >> 1 & 1) * only_x
        yes += (state >> 2 & 1) * only_y + (state & 1) * none
        votes[r] += times * yes


UNKNOWN = 2  # of a literal on a row: neither true nor false for every cut of the box
ENDS = 4  # least and greatest low end, least and greatest high end
STOPPED = -1
COUNT, SECOND, LIST = range(3)  # what is wanted of the choices that reach the goal


@part
def whole(data, column, ends):
    """All cuts of a column."""
    last = data.cards[column] - 1
    if data.kinds[column] == INTERVAL:
        ends[0], ends[1], ends[2], ends[3] = 0, last, 0, last
    else:
        ends[0], ends[1], ends[2], ends[3] = 1, last, last, last


@part
def settle(data, column, ends):
    """Take ends out of a box that have no partner; how many choices it has."""
    if data.kinds[column] != INTERVAL:
        return ends[1] - ends[0] + 1
    ends[1] = min(ends[1], ends[3])
    ends[2] = max(ends[2], ends[0])
    if ends[0] > ends[1] or ends[2] > ends[3]:
        return 0
    if ends[1] == 0 and ends[2] == data.cards[column] - 1:
        return 0  # it holds on every row, so it is no proposition of a formula
    volume = 0
    for low in range(ends[0], ends[1] + 1):
        volume += ends[3] - max(ends[2], low) + 1
    return volume


@part
def has_everything(data, column, ends):
    """Whether the interval that holds on every row is among the choices."""
    last = data.cards[column] - 1
    return data.kinds[column] == INTERVAL and ends[0] == 0 and ends[3] == last


@subroutine
def read_rows(data, plan, context, box, states, opens):
    """The best state that the box leaves each row; how many rows it leaves open, by variable."""
    boxed = len(context)
    for i in range(boxed):
        opens[i] = 0
    for r in range(len(states)):
        index = 0
        for i in range(boxed):
            v = data.ranks[context[i], r]
            if v < box[i, 0] or v > box[i, 3]:
                digit = 0
            elif v >= box[i, 1] and v <= box[i, 2]:
                digit = 1
            else:
                digit = UNKNOWN
            index = index * 3 + digit
        some, every = plan.some[index], plan.every[index]
        states[r] = some if data.weights[r] > 0 else every
        if some != every:
            for i in range(boxed):
                v = data.ranks[context[i], r]
                if v >= box[i, 0] and v <= box[i, 3] and (v < box[i, 1] or v > box[i, 2]):
                    opens[i] += 1
    most = -1
    for i in range(boxed):
        if opens[i] > 0 and (most < 0 or opens[i] > opens[most]):
            most = i
    return most


@part
def split_of(data, context, box, widest):
    """The variable to halve: the one that leaves most rows open, else one that has to be."""
    if widest >= 0:
        return widest
    for i in range(len(context)):
        is_point = box[i, 0] == box[i, 1] and box[i, 2] == box[i, 3]
        if has_everything(data, context[i], box[i]) or (data.mode == LIST and not is_point):
            return i
    return -1


@part
def halve(box, i, upper):
    """Leave one half of the wider end of a box: the lower one, or the upper one."""
    end = 0 if box[i, 1] - box[i, 0] >= box[i, 3] - box[i, 2] else 2
    middle = (box[i, end] + box[i, end + 1]) // 2
    if upper:
        box[i, end] = middle + 1
    else:
        box[i, end + 1] = middle


@part
def halve_rect(rect, upper):
    end = 0 if rect[1] - rect[0] >= rect[3] - rect[2] else 2
    middle = (rect[end] + rect[end + 1]) // 2
    if upper:
        rect[end] = middle + 1
    else:
        rect[end + 1] = middle


@part
def widen(ranges, low_least, low_most, high_least, high_most):
    ranges[0], ranges[1] = min(ranges[0], low_least), max(ranges[1], low_most)
    ranges[2], ranges[3] = min(ranges[2], high_least), max(ranges[3], high_most)


@subroutine
def note(data, plan, context, x, y, box, rect, times, goal, work, found):
    """Count the good cells of a settled box, and keep ranges, votes and the best of them."""
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
    good = 0
    for cell in range(nx * ny):
        score = work.plane[cell]
        if score < goal:
            continue
        good += 1
        i, j = cell // ny, cell % ny
        put_hole(data, plan, x, y, rect[0] + i, rect[2] + j, found)
        if score > found.best[0]:
            found.best[0] = score
            put_cuts(data, plan, context, x, y, box, rect[0] + i, rect[2] + j, found)
    if good == 0:
        return 0
    for i in range(len(context)):
        b = box[i]
        widen(found.ranges[plan.boxed[i]], b[0], b[1], b[2], b[3])
    mark_good(work.plane, goal, nx, ny, work.marks)
    vote(data, work.states, x, y, rect, work.marks, times, found.votes)
    return good * times


@part
def put_hole(data, plan, x, y, a, b, found):
    """Widen the ranges of the hole's variables to this cell."""
    if data.kinds[x] == INTERVAL:
        widen(found.ranges[plan.hole[0]], a, a, b, b)
        return
    last = data.cards[x] - 1
    widen(found.ranges[plan.hole[0]], a, a, last, last)
    if y >= 0:
        last = data.cards[y] - 1
        widen(found.ranges[plan.hole[1]], b, b, last, last)


@part
def put_cuts(data, plan, context, x, y, box, a, b, found):
    """Keep the first choice of a box, with this cell of the hole, as the best member."""
    for i in range(len(context)):
        found.thresholds[plan.boxed[i], 0] = box[i, 0]
        found.thresholds[plan.boxed[i], 1] = max(box[i, 2], box[i, 0])
    found.thresholds[plan.hole[0], 0] = a
    found.thresholds[plan.hole[0], 1] = b if data.kinds[x] == INTERVAL else data.cards[x] - 1
    if y >= 0:
        found.thresholds[plan.hole[1], 0] = b
        found.thresholds[plan.hole[1], 1] = data.cards[y] - 1


@subroutine
def second(data, plan, context, x, y, box, rect, goal, work, found):
    """The highest sum of the second weights among the good cells of a settled box."""
    score_plane(data, data.second, work.states, x, y, rect, work.other)
    ny = rect[3] - rect[2] + 1
    for cell in range((rect[1] - rect[0] + 1) * ny):
        if work.plane[cell] >= goal and work.other[cell] > found.best[0]:
            found.best[0] = work.other[cell]
            i, j = cell // ny, cell % ny
            put_cuts(data, plan, context, x, y, box, rect[0] + i, rect[2] + j, found)


@subroutine
def write(data, plan, context, x, y, box, rect, goal, work, found, count):
    """Append the good cells of a box of one choice to the list; how long it is then."""
    ny = rect[3] - rect[2] + 1
    for cell in range((rect[1] - rect[0] + 1) * ny):
        if work.plane[cell] < goal or count == len(found.scores):
            continue
        put_cuts(data, plan, context, x, y, box, rect[0] + cell // ny, rect[2] + cell % ny, found)
        for v in range(len(found.thresholds)):
            found.listed[count, v, 0] = found.thresholds[v, 0]
            found.listed[count, v, 1] = found.thresholds[v, 1]
        found.scores[count] = work.plane[cell]
        count += 1
    return count


@kernel
def search_family(data, plan, context, x, y, goal, flag, work, found):
    """How many choices of cuts of these columns reach the goal; STOPPED where the flag is up."""
    boxed = len(context)
    for v in range(len(found.ranges)):
        found.ranges[v, 0] = found.ranges[v, 2] = 1 << 30
        found.ranges[v, 1] = found.ranges[v, 3] = -1
    found.best[0] = LOWEST
    for r in range(len(found.votes)):
        found.votes[r] = 0
    for i in range(boxed):
        whole(data, context[i], work.boxes[0, i])
    root = work.boxes[0, boxed]
    whole(data, x, root)
    if data.kinds[x] != INTERVAL:
        root[2] = root[3] = 0
        if y >= 0:
            root[2], root[3] = 1, data.cards[y] - 1
    depth = 1
    count = 0
    while depth > 0:
        if flag[0]:
            return STOPPED
        depth -= 1
        for i in range(boxed + 1):
            for e in range(ENDS):
                work.box[i, e] = work.boxes[depth, i, e]
        box, rect = work.box, work.box[boxed]
        times = 1
        for i in range(boxed):
            times *= settle(data, context[i], box[i])
        if times == 0:
            continue
        widest = read_rows(data, plan, context, box, work.states, work.opens)
        if quick_bound(data, work.states, x, y, rect) < goal:
            continue
        ny = rect[3] - rect[2] + 1
        if (rect[1] - rect[0] + 1) * ny > work.most:
            depth = push(work, boxed, depth, -1)
            continue
        score_plane(data, data.weights, work.states, x, y, rect, work.plane)
        chosen = split_of(data, context, box, widest)
        if chosen < 0:
            if data.mode == COUNT:
                count += note(data, plan, context, x, y, box, rect, times, goal, work, found)
            elif data.mode == SECOND:
                second(data, plan, context, x, y, box, rect, goal, work, found)
            else:
                count = write(data, plan, context, x, y, box, rect, goal, work, found, count)
                if count == len(found.scores):
                    return count
        elif shrink(work.plane, goal, rect, ny) > 0:
            depth = push(work, boxed, depth, chosen)
    return count


@subroutine
def push(work, boxed, depth, chosen):
    """Both halves of the box at hand onto the stack, the lower one on top."""
    for upper in range(1, -1, -1):
        target = work.boxes[depth]
        for i in range(boxed + 1):
            for e in range(ENDS):
                target[i, e] = work.box[i, e]
        if chosen < 0:
            halve_rect(target[boxed], upper == 1)
        else:
            halve(target, chosen, upper == 1)
        depth += 1
    return depth
