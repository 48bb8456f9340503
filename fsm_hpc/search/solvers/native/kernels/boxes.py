# mypy: disable-error-code="no-untyped-def"
"""Branch and bound over boxes of cuts for a context, its free literals solved in closed form."""

from __future__ import annotations

from math import sqrt

from fsm_hpc.search.solvers.native.kernels.columns import (
    ALL_FUNCTIONS,
    INTERVAL,
    MASK_BITS,
    NO_SCORE,
    NONE,
    POINT,
    SUFFIX,
    rows_between,
    weight_in,
)
from fsm_hpc.search.solvers.native.kernels.intervals import has_support
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, popcount, subroutine
from fsm_hpc.search.solvers.native.kernels.pairs import COLUMN_BITS, best_pair, ends_of
from fsm_hpc.search.solvers.native.kernels.ranking import (
    AT,
    BEGUN,
    DONE,
    NODES,
    PAUSED,
    SCORED,
    STACKED,
    STOPPED,
    goal_above,
    incumbent_rank,
    rank_of,
    set_incumbent,
)
from fsm_hpc.search.solvers.native.kernels.shapes import (
    ACTIVE,
    ACTIVE_COUNT,
    BASE,
    LIVE,
    LIVE_COUNT,
    OPEN,
    OPEN_NEGATED,
    TRUE,
    UNLISTED,
    View,
)

MASK, MISSING, ROOM = range(3)  # of a unit: functions, required names, columns it may still have


@part
def directed(bounds, plan, item, place, mask):
    """Those functions (bits) of a plan that a column may take a place in, by its direction."""
    sign = bounds.signs[item]
    if sign == 0:
        return mask
    for f in range(len(plan.cross)):
        able = plan.rises[f] if sign > 0 else plan.falls[f]
        if not able >> place & 1:
            mask &= ~(1 << f)
    return mask


@part
def is_new(bounds, items, count, item):
    """Whether none of the first columns is a part of the same column of the table."""
    new = True
    for k in range(count):
        new &= bounds.origins[items[k]] != bounds.origins[item]
    return new


@subroutine
def allowed_functions(bounds, plan, items, unit, x, y, mask):
    """The functions (bits) that constraints allow for two columns (x = y: one) in a unit."""
    boxed = len(plan.after)
    if unit[MISSING] & ~(bounds.needs[x] | bounds.needs[y]):
        return 0
    if bounds.wanted:  # the same twice is a smaller formula, which may lack what is required
        for k in range(boxed):
            if items[k] in (x, y):
                return 0
    room = unit[ROOM]
    if is_new(bounds, items, boxed, x):
        room -= 1
    if bounds.origins[x] != bounds.origins[y] and is_new(bounds, items, boxed, y):
        room -= 1
    if room < 0:
        return 0
    mask = directed(bounds, plan, x, boxed, mask & unit[MASK])
    return mask if plan.free == 1 else directed(bounds, plan, y, boxed + 1, mask)


@subroutine
def bound_unit(bounds, plan, items, unit):
    """Note what constraints leave to the free literals of a context; False if that is nothing."""
    mask = ALL_FUNCTIONS
    missing = bounds.wanted
    room = bounds.most
    for i in range(len(plan.after)):
        mask = directed(bounds, plan, items[i], i, mask)
        missing &= ~bounds.needs[items[i]]
        if is_new(bounds, items, i, items[i]):
            room -= 1
    unit[MASK] = mask
    unit[MISSING] = missing
    unit[ROOM] = room
    return mask != 0 and room >= 0


@subroutine
def choose_families(index, families, plan, chosen):
    """The index-th choice of a literal family for each boxed variable; False if it is no choice.

    Choices are numbered in lexicographic order, those of interchangeable variables in rising order
    only: `ways` of all choices begin with what is chosen so far.
    """
    boxed = len(plan.after)
    count = len(families.column)
    ways = 1
    for i in range(boxed):
        if plan.after[i] < 0:
            ways *= families.binomials[count, plan.later[i] + 1]
    for i in range(boxed):
        size = plan.later[i] + 1  # of this and its interchangeable variables after it
        low = 0 if plan.after[i] < 0 else chosen[plan.after[i]] + 1
        own = families.binomials[count - low, size]
        others = ways // own
        last = count - size
        while low < last:
            middle = (low + last + 1) // 2
            if (own - families.binomials[count - middle, size]) * others <= index:
                low = middle
            else:
                last = middle - 1
        chosen[i] = low
        index -= (own - families.binomials[count - low, size]) * others
        ways = others * families.binomials[count - 1 - low, size - 1]
        for k in range(i):
            if low == chosen[k]:
                return False
            same = families.column[low] == families.column[chosen[k]]
            if same and families.numeric[low]:
                return False
    return True


@part
def pair_code(x, y):
    """Two columns as one number."""
    return (x << COLUMN_BITS) + y


@part
def is_wide(data, x, y):
    """Whether two interval columns have too many pairs of values to be free together."""
    if x == y or data.kinds[x] != INTERVAL or data.kinds[y] != INTERVAL:
        return False
    return (data.cards[x] + 1) * (data.cards[y] + 1) > data.widest


@part
def pair_at(data, earlier, later):
    """The columns (x, y) at two places as a candidate, coded; -1 if they are none.

    x has fewer values, since it is gone through. Of two intervals it has more, since its
    ends are searched by branch and bound while those of y are gone through every time; of
    two pivots with many values as well, since y is then a tree.
    """
    x = data.places[earlier]
    y = data.places[later]
    if x == y and (data.kinds[x] != POINT or data.cards[x] < 3):
        return -1
    if is_wide(data, x, y):
        return -1
    kind = data.kinds[x]
    if kind == INTERVAL or (kind == SUFFIX and data.cards[y] > data.many):
        return pair_code(y, x)
    return pair_code(x, y)


@part
def row_of(index):
    """The row of a triangle in which its index-th place is: row k has k + 1 places."""
    row = int((sqrt(8.0 * index + 1.0) - 1.0) / 2.0)
    while row * (row + 1) // 2 > index:
        row -= 1
    while (row + 1) * (row + 2) // 2 <= index:
        row += 1
    return row


@part
def list_candidates(data, families, plan, block, candidates, memory):
    """List the columns (pairs) of the free literals, each with its functions; their number.

    A unit asks one block of them: a list of all pairs would not fit where columns are many.
    """
    places = len(data.places)
    first = block * candidates
    everything = places if plan.free == 1 else places * (places + 1) // 2
    later = first if plan.free == 1 else row_of(first)
    earlier = later if plan.free == 1 else first - later * (later + 1) // 2
    _allow(data, families, plan, memory)
    count = 0
    for _ in range(first, min(everything, first + candidates)):
        if plan.free == 1:
            code = pair_code(data.places[later], data.places[later])
        else:
            code = pair_at(data, earlier, later)
        if code >= 0:
            mask = memory.allowed[earlier]
            if mask and _is_taken(data, families, plan, memory, code):
                mask = 0
            if mask and data.bounds.is_any:
                x, y = code >> COLUMN_BITS, code & ((1 << COLUMN_BITS) - 1)
                mask = allowed_functions(data.bounds, plan, memory.columns, memory.unit, x, y, mask)
            if mask:
                memory.entries[count] = code
                memory.masks[count] = mask | count << MASK_BITS
                count += 1
        if earlier == later:
            later += 1
            earlier = later if plan.free == 1 else 0
        else:
            earlier += 1
    return count


@part
def _allow(data, families, plan, memory):
    """Functions (bits) that columns are tried with beside the chosen ones, by their first place.

    Of interchangeable variables the columns are in order.
    """
    everything = 0
    for f in range(len(plan.cross)):
        if plan.cross[f] >= 0:
            everything |= 1 << f
    for place in range(len(data.places)):
        memory.allowed[place] = everything
    for i in range(len(plan.after)):
        unordered = everything
        for f in range(len(plan.cross)):
            if plan.cross[f] >= 0 and plan.cross[f] >> i & 1:
                unordered &= ~(1 << f)
        for place in range(data.order[families.column[memory.chosen[i]]]):
            memory.allowed[place] &= unordered


@part
def _is_taken(data, families, plan, memory, code):
    """Whether the context has one of these columns, which has one cut in a formula."""
    x = code >> COLUMN_BITS
    y = code & ((1 << COLUMN_BITS) - 1)
    for i in range(len(plan.after)):
        column = families.column[memory.chosen[i]]
        if families.numeric[memory.chosen[i]] and column in (x, y):
            return True
        if i == plan.partner and not is_wide(data, column, x):
            return True
    return False


@part
def settle(data, plan, memory, top, is_mirrored):
    """Words whose rows are all settled leave the list; the others count at their best."""
    live, pieces, codes = memory.live, memory.pieces, memory.codes
    gained, lost, opened = memory.gained, memory.lost, memory.opened
    start = memory.frames[top, LIVE]
    kept = start + memory.frames[top, LIVE_COUNT]
    kept_count = 0
    settled = memory.frames[top, BASE]
    bound = 0
    gain = 0
    loss = 0
    decided = 0
    gained_count = 0
    unsettled = 0
    for word in range(len(data.full)):
        gained[word] = NONE
        lost[word] = NONE
        opened[word] = NONE
    for at in range(start, kept):
        word = live[at]
        is_positive = word < data.positives
        true = NONE
        free = NONE
        negated = NONE
        open_rows = NONE
        side, count = _take_apart(data, plan, memory, word)
        for k in range(count):
            rows, code = pieces[side, k], codes[side, k]
            best, worst = plan.positive[code], plan.negative[code]
            state = best if is_positive else worst
            if best != worst:
                open_rows |= rows
            if state == TRUE:
                true |= rows
            elif state == OPEN:
                free |= rows
            elif state == OPEN_NEGATED:
                negated |= rows
        plus, minus = (free, negated) if is_positive else (negated, free)
        score = weight_in(data, word, true | negated)
        score = score if is_positive else -score
        if plus | minus | open_rows == NONE:
            settled += score
            continue
        live[kept + kept_count] = word
        kept_count += 1
        bound += score
        gained[word] = plus
        lost[word] = minus
        opened[word] = open_rows
        if plus != NONE:
            gain += weight_in(data, word, plus)
            gained_count += popcount(plus)
        if minus != NONE:
            loss += weight_in(data, word, minus)
        decided += popcount(plus | minus)
        unsettled += popcount(open_rows)
    return View(
        kept,
        kept_count,
        settled,
        bound + settled,
        gain,
        loss,
        decided,
        gained_count,
        unsettled,
        len(data.full) if is_mirrored else data.positives,
        0 if is_mirrored else data.positives,
    )


@part
def _take_apart(data, plan, memory, word):
    """The rows of a word by what is known of each boxed variable, as base-3 digits."""
    pieces, codes, box = memory.pieces, memory.codes, memory.box
    full = data.full[word]
    pieces[0, 0] = full
    codes[0, 0] = 0
    count = 1
    side = 0
    place = 1
    for i in range(len(plan.after)):
        column = memory.columns[i]
        may = rows_between(data, column, box[4 * i], box[4 * i + 3] + 1, word, full)
        must = rows_between(data, column, box[4 * i + 1], box[4 * i + 2] + 1, word, may)
        into = 1 - side
        found = 0
        for k in range(count):
            rows, code = pieces[side, k], codes[side, k]
            pieces[into, found] = rows & ~may
            codes[into, found] = code
            found += rows & ~may != NONE
            pieces[into, found] = rows & must
            codes[into, found] = code + place
            found += rows & must != NONE
            pieces[into, found] = rows & may & ~must
            codes[into, found] = code + 2 * place
            found += rows & may & ~must != NONE
        count = found
        side = into
        place *= 3
    return side, count


@part
def branch(data, memory, boxed, top, view, promising):
    """Put both halves of the box on the stack, with their words and candidates."""
    frames, boxes = memory.frames, memory.boxes
    active = frames[top, ACTIVE] + frames[top, ACTIVE_COUNT]
    target, middle = _place_to_split(data, memory, boxed, view)
    i = 4 * (target // 2) + 2 * (target % 2)
    for half in range(2):
        node = top + 1 - half
        for field in range(4 * boxed):
            boxes[node, field] = memory.box[field]
        if half == 0:
            boxes[node, i + 1] = middle
        else:
            boxes[node, i] = middle + 1
        _trim(boxes[node], 4 * (target // 2))
        frames[node, LIVE] = view.kept
        frames[node, LIVE_COUNT] = view.kept_count
        frames[node, ACTIVE] = active
        frames[node, ACTIVE_COUNT] = promising
        frames[node, BASE] = view.settled


@part
def _trim(box, i):
    """No interval ends before it begins."""
    box[i + 1] = min(box[i + 1], box[i + 3])
    box[i + 2] = max(box[i + 2], box[i])


@part
def _place_to_split(data, memory, boxed, view):
    """Where to cut the box in two: variable * 2 + end, and the last value of the first half."""
    target = _end_to_split(data, memory, boxed, view)
    i = target // 2
    column = memory.columns[i]
    begin = memory.box[4 * i] if target % 2 == 0 else memory.box[4 * i + 2] + 1
    end = memory.box[4 * i + 1] if target % 2 == 0 else memory.box[4 * i + 3] + 1
    total = _open_between(data, memory, view, column, begin, end)
    low = begin  # the first value up to which half of the weight lies
    high = end - 1
    while low < high:
        at = (low + high) // 2
        if 2 * _open_between(data, memory, view, column, begin, at + 1) >= total:
            high = at
        else:
            low = at + 1
    # low end: a cut at `low` or below takes row `low` in; high end: `low - 1` leaves it out
    return target, (low if target % 2 == 0 else low - 1)


@part
def _end_to_split(data, memory, boxed, view):
    """The end of a variable's interval that leaves the most weight open."""
    box = memory.box
    best = 0
    target = 0
    for i in range(boxed):
        column = memory.columns[i]
        for end in range(2):
            low = box[4 * i] if end == 0 else box[4 * i + 2] + 1
            high = box[4 * i + 1] if end == 0 else box[4 * i + 3] + 1
            weight = _open_between(data, memory, view, column, low, high) if low < high else 0
            if weight > best:
                best = weight
                target = 2 * i + end
    return target


@part
def _open_between(data, memory, view, column, low, high):
    """What the open rows with a value from low to high - 1 weigh."""
    total = 0
    for at in range(view.kept, view.kept + view.kept_count):
        word = memory.live[at]
        rows = memory.opened[word]
        if rows != NONE:
            total += weight_in(data, word, rows_between(data, column, low, high, word, rows))
    return total


MANY_FOUND = 1 << 10  # candidates that are reported before a kernel comes back


@kernel
def search(data, families, plan, memory, thread, shared, span):
    """Search units [control[AT], end) of a plan; come back after `budget` steps of work.

    A unit chooses a literal family for every boxed variable. The best formula becomes the
    incumbent; with room in `found` all candidates with a function that reaches its score are kept.
    """
    control = thread.control
    is_mirrored = False
    for state in plan.states:
        is_mirrored |= state == OPEN_NEGATED
    work = 0
    while True:
        if shared.flag[0] != 0:
            return STOPPED
        if work > span.budget or memory.found_count[0] >= MANY_FOUND:
            return PAUSED
        if control[BEGUN] == 0:
            if control[AT] >= span.end:
                return DONE
            work += _open_unit(data, families, plan, memory, control, span)
        elif control[STACKED] == 0:
            control[BEGUN] = 0
            control[AT] += 1
        else:
            work += _search_box(data, families, plan, memory, thread, shared, span, is_mirrored)


@part
def _open_unit(data, families, plan, memory, control, span):
    """Put the box of all cuts of the next unit on the stack, or pass over it; steps of work."""
    chosen = memory.chosen
    if not choose_families(control[AT] // span.blocks, families, plan, chosen):
        control[AT] += 1
        return 8
    for i in range(len(plan.after)):
        memory.columns[i] = families.column[chosen[i]]
    if data.bounds.is_any and not bound_unit(data.bounds, plan, memory.columns, memory.unit):
        control[AT] += 1
        return 8
    for i in range(len(plan.after)):
        for field in range(4):
            if control[STACKED] == 0:
                memory.boxes[0, 4 * i + field] = families.ends[chosen[i], field]
    control[BEGUN] = 1
    control[STACKED] = max(1, control[STACKED])  # boxes that are there are left of an earlier try
    for top in range(control[STACKED]):
        frame = memory.frames[top]
        frame[LIVE] = 0
        frame[LIVE_COUNT] = data.words
        frame[ACTIVE] = 0
        frame[ACTIVE_COUNT] = UNLISTED
        frame[BASE] = 0
    return 8


@part
def _list_candidates(data, families, plan, memory, control, span):
    """List the candidates of the unit for all its boxes, now that one may beat the incumbent."""
    count = list_candidates(
        data, families, plan, control[AT] % span.blocks, span.candidates, memory
    )
    for top in range(control[STACKED] + 1):
        memory.frames[top, ACTIVE_COUNT] = count
    if len(memory.found):
        for free in range(count):
            memory.is_reported[free] = False


@part
def _search_box(data, families, plan, memory, thread, shared, span, is_mirrored):
    """Take a box from the stack: drop it, find its incumbent, or put its halves there; the work."""
    thread.control[STACKED] -= 1
    thread.control[NODES] += 1
    top = thread.control[STACKED]
    unit = span.first + thread.control[AT]
    boxed = len(plan.after)
    for field in range(4 * boxed):
        memory.box[field] = memory.boxes[top, field]
    if data.has_windows and not has_support(data, memory.columns, memory.box, boxed, memory.ends):
        return 8
    work = 8 * memory.frames[top, LIVE_COUNT] * (boxed + 1)
    view = settle(data, plan, memory, top, is_mirrored)
    threshold = incumbent_rank(shared.best)
    if rank_of(view.bound + view.gain, unit) <= threshold:
        return work
    if memory.frames[top, ACTIVE_COUNT] == UNLISTED:
        _list_candidates(data, families, plan, memory, thread.control, span)
        work += span.candidates
    active_count = memory.frames[top, ACTIVE_COUNT]
    work += active_count * (view.decided * plan.free // 4 + 64)
    promising = _score_candidates(data, plan, memory, thread, shared, top, unit, view, threshold)
    thread.control[SCORED] += active_count
    if promising == 0 or view.unsettled == 0:
        return work
    branch(data, memory, boxed, top, view, promising)
    thread.control[STACKED] += 2
    return work


@part
def _score_candidates(data, plan, memory, thread, shared, top, unit, view, threshold):
    """Find the best free literals; how many of the entries may still beat the incumbent.

    Where the box leaves no row open, the best of them is the incumbent, or all of them are kept.
    """
    entries, masks, where, flag = memory.entries, memory.masks, memory.where, shared.flag
    keeps_all = len(memory.found) > 0
    bound = view.bound
    goal = goal_above(threshold, bound, unit)
    active = memory.frames[top, ACTIVE]
    active_count = memory.frames[top, ACTIVE_COUNT]
    kept = active + active_count
    promising = 0
    score = NO_SCORE
    choice = 0
    low = 0
    high = 0
    for k in range(active, active + active_count):
        if flag[0] != 0:
            return 0
        if keeps_all and memory.is_reported[masks[k] >> MASK_BITS]:
            continue
        found = bound + best_pair(
            data,
            plan,
            memory,
            thread.control[NODES],
            entries[k],
            masks[k] & ALL_FUNCTIONS,
            view,
            goal,
            keeps_all or view.unsettled > 0,
            flag,
        )
        if rank_of(found, unit) <= threshold:
            continue
        if keeps_all and view.unsettled == 0:
            _report(memory, unit, entries[k], masks[k])
            continue
        entries[kept + promising] = entries[k]
        masks[kept + promising] = masks[k]
        promising += 1
        if found > score:
            score = found
            choice = k
            low = where[0]
            high = where[1]
    if promising > 0 and view.unsettled == 0:
        for i in range(len(plan.after)):
            thread.cuts[i, 0] = memory.ends[i, 0] if data.has_windows else memory.box[4 * i]
            thread.cuts[i, 1] = memory.ends[i, 1] if data.has_windows else memory.box[4 * i + 2]
        mask, x = masks[choice] & ALL_FUNCTIONS, entries[choice] >> COLUMN_BITS
        low, high = ends_of(data, memory, view, x, low, high)
        set_incumbent(thread, shared, unit, entries[choice], mask, score, low, high)
    return promising


@part
def _report(memory, unit, entry, mask):
    """Keep a candidate of which some function reaches the goal; its unit skips it from then on."""
    at = memory.found_count[0]
    memory.found[at, 0] = unit
    memory.found[at, 1] = entry
    memory.found[at, 2] = mask & ALL_FUNCTIONS
    memory.found_count[0] += 1
    memory.is_reported[mask >> MASK_BITS] = True
