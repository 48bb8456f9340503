# mypy: disable-error-code="no-untyped-def"
"""All members of one family that reach a score: counted, with their ranges, or listed."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, subroutine

LOWEST = -(1 << 62)  # the score of a choice that is not allowed
ALWAYS = 15  # a row that holds whatever the free literals are; 0: never


@part
def clamp(value, most):
    return 0 if value < 0 else (most if value > most else value)


@part
def column_part(data, r, x, rect, nx):
    """How many thresholds of the rectangle's first side the row reaches."""
    return clamp(data.ranks[x, r] - rect[0] + 1, nx)


@part
def second_part(data, r, x, y, rect, ny):
    """The same for its second side; the high end of an interval is exceeded, not reached."""
    offset = 0 if data.kinds[x] == INTERVAL else 1
    return clamp(data.ranks[y, r] - rect[2] + offset, ny)


@subroutine
def quick_bound(data, states, x, y, rect):
    """No choice in the rectangle scores more, even if each row had a choice of its own."""
    bound = 0
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
    for r in range(len(data.weights)):
        w = data.weights[r]
        bx, by = column_part(data, r, x, rect, nx), second_part(data, r, x, y, rect, ny)
        first = (1 if bx < nx else 0) | (2 if bx > 0 else 0)  # may be false, may be true
        can = (first if by < ny else 0) | (first << 2 if by > 0 else 0)
        if w > 0:
            if states[r] & can:
                bound += w
        elif states[r] & can == can:
            bound += w
    return bound


@subroutine
def score_plane(data, weights, states, x, y, rect, plane):
    """The score of every cell: first literal from rect0 + i on, second one from rect2 + j on.

    An interval is its low end and not its high end, both of one column.
    """
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
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
        bx, by = column_part(data, r, x, rect, nx), second_part(data, r, x, y, rect, ny)
        lines[bx] += w * (only_x - none)
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
    if data.kinds[x] == INTERVAL:
        exclude_constant_intervals(data.cards[x] - 1, rect, plane)


@part
def exclude_constant_intervals(last, rect, plane):
    """Those that hold nowhere or everywhere are no propositions of a formula."""
    ny = rect[3] - rect[2] + 1
    for low in range(rect[0], rect[1] + 1):
        for high in range(rect[2], rect[3] + 1):
            if low > high or (low == 0 and high == last):
                plane[(low - rect[0]) * ny + high - rect[2]] = LOWEST


@subroutine
def shrink(plane, goal, rect):
    """Reduce the rectangle to the cells that reach the goal; their number."""
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
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
def mark_members(plane, goal, nx, ny, marks):
    """marks[i, j]: the number of members in the rows before i and the columns before j."""
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
    """Add to every row the number of members that hold there; each cell is `times` members."""
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
    wide = ny + 1
    everything = marks[nx * wide + ny]
    for r in range(len(states)):
        state = states[r]
        bx, by = column_part(data, r, x, rect, nx), second_part(data, r, x, y, rect, ny)
        both = marks[bx * wide + by]
        only_x = marks[bx * wide + ny] - both
        only_y = marks[nx * wide + by] - both
        none = everything - both - only_x - only_y
        held = (state >> 3 & 1) * both + (state >> 1 & 1) * only_x
        held += (state >> 2 & 1) * only_y + (state & 1) * none
        votes[r] += times * held


UNKNOWN = 2  # of a literal on a row: true for some thresholds of the box, false for others
ENDS = 4  # least and greatest low end, least and greatest high end
STOPPED = -1


@part
def whole(data, column, ends):
    """All thresholds of a column."""
    last = data.cards[column] - 1
    if data.kinds[column] == INTERVAL:
        ends[0], ends[1], ends[2], ends[3] = 0, last, 0, last
    else:
        ends[0], ends[1], ends[2], ends[3] = 1, last, last, last


@part
def settle(data, column, ends):
    """Remove ends without a partner from a box; the number of its choices."""
    if data.kinds[column] != INTERVAL:
        return ends[1] - ends[0] + 1
    ends[1] = min(ends[1], ends[3])
    ends[2] = max(ends[2], ends[0])
    if ends[0] > ends[1] or ends[2] > ends[3]:
        return 0
    if ends[1] == 0 and ends[2] == data.cards[column] - 1:
        return 0  # it holds on every row
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
    """The best state of each row in the box; the variable that leaves most rows open, or -1."""
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
def split_of(data, context, box, widest, lists):
    """The variable to halve: the widest one, else one that has to be a point; -1 for none.

    `lists`: all have to be points, so that a cell is one member.
    """
    if widest >= 0:
        return widest
    for i in range(len(context)):
        is_point = box[i, 0] == box[i, 1] and box[i, 2] == box[i, 3]
        if has_everything(data, context[i], box[i]) or (lists and not is_point):
            return i
    return -1


@part
def halve(ends, upper):
    """Leave one half of the wider range of ends: the lower one, or the upper one."""
    end = 0 if ends[1] - ends[0] >= ends[3] - ends[2] else 2
    middle = (ends[end] + ends[end + 1]) // 2
    if upper:
        ends[end] = middle + 1
    else:
        ends[end + 1] = middle


@part
def widen(ranges, low_least, low_most, high_least, high_most):
    ranges[0], ranges[1] = min(ranges[0], low_least), max(ranges[1], low_most)
    ranges[2], ranges[3] = min(ranges[2], high_least), max(ranges[3], high_most)


@subroutine
def take_members(data, plan, context, x, y, box, rect, times, goal, work, found, count):
    """Take the members of a settled box, each cell `times` of them; the number of members so far.

    Records their ranges and the best one, or with second weights the one that these sum highest
    for; lists them where there is room for a list, and else adds their votes.
    """
    nx, ny = rect[1] - rect[0] + 1, rect[3] - rect[2] + 1
    values = work.plane
    if len(data.second):
        score_plane(data, data.second, work.states, x, y, rect, work.other)
        values = work.other
    before = count
    for cell in range(nx * ny):
        if work.plane[cell] < goal:
            continue
        if count < len(found.scores):
            put_choice(data, plan, context, x, y, box, rect, cell, found.listed[count])
            found.scores[count] = work.plane[cell]
        put_choice(data, plan, context, x, y, box, rect, cell, work.choice)
        for v in plan.free:
            ends = work.choice[v]
            widen(found.ranges[v], ends[0], ends[0], ends[1], ends[1])
        if values[cell] > found.best[0]:
            found.best[0] = values[cell]
            put_choice(data, plan, context, x, y, box, rect, cell, found.thresholds)
        count += times
    if count > before:
        for i in range(len(context)):
            b = box[i]
            widen(found.ranges[plan.boxed[i]], b[0], b[1], b[2], b[3])
        if len(data.second) + len(found.scores) == 0:
            mark_members(work.plane, goal, nx, ny, work.marks)
            vote(data, work.states, x, y, rect, work.marks, times, found.votes)
    return count


@part
def put_choice(data, plan, context, x, y, box, rect, cell, choice):
    """The ends of each variable: the first choice of a box, with one cell of the free literals."""
    ny = rect[3] - rect[2] + 1
    a, b = rect[0] + cell // ny, rect[2] + cell % ny
    for i in range(len(context)):
        choice[plan.boxed[i], 0] = box[i, 0]
        choice[plan.boxed[i], 1] = max(box[i, 2], box[i, 0])
    choice[plan.free[0], 0] = a
    choice[plan.free[0], 1] = b if data.kinds[x] == INTERVAL else data.cards[x] - 1
    if len(plan.free) > 1:
        choice[plan.free[1], 0] = b
        choice[plan.free[1], 1] = data.cards[y] - 1


@kernel
def search_family(data, plan, context, x, y, goal, flag, work, found):
    """The number of members of a family; STOPPED once the flag is set."""
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
        root[2], root[3] = 1, 1 if len(plan.free) == 1 else data.cards[y] - 1
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
        if (rect[1] - rect[0] + 1) * (rect[3] - rect[2] + 1) > work.most:
            depth = push(work, boxed, depth, -1)
            continue
        score_plane(data, data.weights, work.states, x, y, rect, work.plane)
        chosen = split_of(data, context, box, widest, len(found.scores) > 0)
        if chosen < 0:
            count = take_members(
                data, plan, context, x, y, box, rect, times, goal, work, found, count
            )
            if 0 < len(found.scores) <= count:
                return count
        elif shrink(work.plane, goal, rect) > 0:
            depth = push(work, boxed, depth, chosen)
    return count


@subroutine
def push(work, boxed, depth, chosen):
    """Push both halves of the current box, the lower one last."""
    for upper in range(1, -1, -1):
        target = work.boxes[depth]
        for i in range(boxed + 1):
            for e in range(ENDS):
                target[i, e] = work.box[i, e]
        halve(target[boxed if chosen < 0 else chosen], upper == 1)
        depth += 1
    return depth
