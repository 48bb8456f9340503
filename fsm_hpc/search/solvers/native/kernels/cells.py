# mypy: disable-error-code="no-untyped-def"
"""Sets of fixed literals, bounded by sums over their cells, and functions of those that survive."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, popcount, subroutine
from fsm_hpc.search.solvers.native.kernels.ranking import (
    AT,
    DONE,
    NODES,
    PAUSED,
    STOPPED,
    UNIT_BITS,
    incumbent_rank,
)
from fsm_hpc.search.solvers.native.kernels.shapes import (
    FIRST,
    FUNCTION,
    GROUP,
    LANES,
    NEVER,
    PLAN,
    SCORE,
)


@part
def sum_of(table, words, literal):
    """The weights of the rows of a set where the literal holds."""
    total = np.int64(0)
    bits = table.bits[literal]
    for s in range(len(table.sections)):
        count = np.int64(0)
        for w in range(table.sections[s, 0], table.sections[s, 1]):
            count += popcount(words[w] & bits[w])
        total += table.sections[s, 2] * count
    return total


@kernel
def sum_conjunctions(table, size, words, chosen):
    """Fill in the sums of all conjunctions of so many literals.

    `words[i]`: the rows where the first i chosen literals hold; words[0] has all rows.
    """
    count = len(table.bits)
    at = table.starts[size]
    level = 0
    chosen[0] = 0
    while level >= 0:
        if level == size - 1:
            for e in range(chosen[level], count):
                table.sums[at] = sum_of(table, words[level], e)
                at += 1
        elif chosen[level] < count:
            for w in range(table.bits.shape[1]):
                words[level + 1, w] = words[level, w] & table.bits[chosen[level], w]
            level += 1
            chosen[level] = chosen[level - 1] + 1
            continue
        level -= 1
        if level >= 0:
            chosen[level] += 1


# ------------------------------------------------------------------------------ sets of literals


@part
def choose(table, number, chosen, size):
    """The set of so many literals that has this number in lexicographic order."""
    last = len(table.bits) - 1
    left = table.binomials[last + 1, size] - 1 - number
    m = last
    for i in range(size):
        while table.binomials[m, size - i] > left:
            m -= 1
        left -= table.binomials[m, size - i]
        chosen[i] = last - m
        m -= 1


@part
def advance(table, chosen, size):
    """The next set; the first place at which it differs."""
    count = len(table.bits)
    i = size - 1
    while i > 0 and chosen[i] == count - size + i:
        i -= 1
    chosen[i] += 1
    for k in range(i + 1, size):
        chosen[k] = chosen[k - 1] + 1
    return i


@part
def is_allowed(table, chosen, size):
    """Whether no two of the literals exclude each other."""
    allowed = True
    for i in range(1, size):
        allowed &= chosen[i] >= table.next_free[chosen[i - 1]]
    return allowed


@part
def subtract_supersets(rows, cells, start, blocks):
    """From sums over conjunctions to sums over cells, for many last literals (Moebius)."""
    bit = 1
    while bit < cells:
        for cell in range(cells):
            if cell & bit == 0:
                less, more = rows[cell], rows[cell | bit]
                for b in range(blocks):
                    at = start + b * LANES
                    for j in range(at, at + LANES):
                        less[j] -= more[j]
        bit <<= 1


@part
def place_of(table, chosen, subset, more):
    """Where sums of a subset of the chosen literals with `more` others begin, but for those."""
    last = len(table.bits) - 1
    size = more
    rest = subset
    while rest:
        size += 1
        rest &= rest - 1
    if size >= len(table.starts) or table.starts[size] < 0:
        return np.int64(-1)
    at = table.starts[size] + table.binomials[last + 1, size] - 1 - last
    i = 0
    k = 0
    rest = subset
    while rest:
        if rest & 1:
            at -= table.binomials[last - chosen[k], size - i]
            i += 1
        rest >>= 1
        k += 1
    return at


@subroutine
def open_prefix(table, memory, ready, count):
    """Sums over the cells of the first literals, with each literal after them."""
    words, weights, inner = memory.words, memory.weights, memory.inner
    chosen, literals = memory.chosen, len(table.bits)
    width = table.bits.shape[1]
    for level in range(ready, count):
        half = 1 << level
        bits = table.bits[chosen[level]]
        for subset in range(half):
            weights[half | subset] = sum_of(table, words[subset], chosen[level])
            for w in range(width):
                words[half | subset, w] = words[subset, w] & bits[w]
    cells = 1 << count
    start = chosen[count - 1] + 1 if count else 0
    for subset in range(cells):
        inner[subset] = weights[subset]
        memory.offsets[subset] = place_of(table, chosen, subset, 2)
        row = memory.singles[subset]
        at = place_of(table, chosen, subset, 1)
        if at >= 0:
            for e in range(start, literals):
                row[e] = table.sums[at + e]
        else:
            for e in range(start, literals):
                row[e] = sum_of(table, words[subset], e)
    subtract_supersets(memory.singles, cells, start, (literals - start + LANES - 1) // LANES)
    bit = 1
    while bit < cells:
        for cell in range(cells):
            if cell & bit == 0:
                inner[cell] -= inner[cell | bit]
        bit <<= 1


@subroutine
def open_row(table, memory, count, d, start):
    """Sums over the cells of the first literals where literal d holds, with each after it."""
    literals, cells, last = len(table.bits), 1 << count, len(table.bits) - 1
    width = table.bits.shape[1]
    words = memory.pair_words
    for subset in range(cells):
        row = memory.pairs[subset]
        at = memory.offsets[subset] if subset < cells - 1 else np.int64(-1)
        if at >= 0:
            at -= table.binomials[last - d, 2]
            for e in range(start, literals):
                row[e] = table.sums[at + e]
        else:
            for w in range(width):
                words[w] = memory.words[subset, w] & table.bits[d, w]
            for e in range(start, literals):
                row[e] = sum_of(table, words, e)
    subtract_supersets(memory.pairs, cells, start, (literals - start + LANES - 1) // LANES)


@subroutine
def bound_row(memory, count, d, start, blocks):
    """By last literal the most that any function of the set scores: the sum of its gains."""
    bounds = memory.bounds
    for j in range(start, start + blocks * LANES):
        bounds[j] = 0
    for cell in range(1 << count):
        with_d = np.int32(memory.singles[cell, d])
        without = np.int32(memory.inner[cell] - memory.singles[cell, d])
        both_row, single_row = memory.pairs[cell], memory.singles[cell]
        for b in range(blocks):
            at = start + b * LANES
            for j in range(at, at + LANES):
                both = both_row[j]
                single = np.int32(single_row[j] - both)
                gain = max(both, np.int32(0)) + max(np.int32(with_d - both), np.int32(0))
                gain += max(single, np.int32(0)) + max(np.int32(without - single), np.int32(0))
                bounds[j] += np.int32(gain)


OVERHEAD = 30  # steps of work that every unit costs


@part
def read_cells(memory, count, d, e):
    """The sums over all cells of the set whose last literals are d and e."""
    cells = memory.cells
    for cell in range(1 << count):
        both, single = memory.pairs[cell, e], memory.singles[cell, e]
        with_d = memory.singles[cell, d]
        cells[cell] = memory.inner[cell] - with_d - single + both
        cells[cell | 1 << count] = with_d - both
        cells[cell | 2 << count] = single - both
        cells[cell | 3 << count] = both


@part
def sum_groups(memory, count):
    """The sum of every subset of eight cells, and what the groups from each on can add."""
    cells, groups = memory.cells, memory.groups
    number = max(1, (1 << count) // GROUP)
    memory.rest[number] = 0
    for g in range(number - 1, -1, -1):
        gain = np.int64(0)
        groups[g, 0] = 0
        for i in range(GROUP):
            cell = cells[g * GROUP + i] if g * GROUP + i < 1 << count else np.int32(0)
            gain += max(cell, np.int32(0))
            for subset in range(1 << i):
                groups[g, subset | 1 << i] = groups[g, subset] + cell
        memory.rest[g] = memory.rest[g + 1] + gain
    return number


@part
def meets_constraints(table, memory, size):
    """Whether the literals stand for all that is required, in no more columns than allowed."""
    bounds, chosen = table.constraints, memory.chosen
    needs = np.int64(0)
    columns = 0
    for i in range(size):
        needs |= bounds.needs[chosen[i]]
        is_new = True
        for k in range(i):
            is_new &= bounds.origins[chosen[k]] != bounds.origins[chosen[i]]
        columns += is_new
    return needs & bounds.wanted == bounds.wanted and columns <= bounds.most


@part
def directions(table, memory, size, sign):
    """The literals (bits) with which a formula may only become true, or false."""
    found = 0
    for i in range(size):
        if table.constraints.signs[memory.chosen[i]] == sign:
            found |= 1 << i
    return found


@subroutine
def best_function(table, tree, memory, goal, ceiling):
    """The highest score from the goal on, and the first function that has it; -1: none has.

    With a ceiling every function from the goal to below the ceiling is written down instead.
    """
    size = tree.variables
    rises = falls = 0
    if table.constraints.is_any:
        if not meets_constraints(table, memory, size):
            return goal, -1
        rises = directions(table, memory, size, 1)
        falls = directions(table, memory, size, -1)
    groups = sum_groups(memory, size)
    at, stop, partial = memory.at, memory.stop, memory.partial
    level = 0
    at[0], stop[0], partial[0] = 0, tree.roots, 0
    best, found = goal, -1
    while level >= 0:
        if at[level] == stop[level]:
            level -= 1
            continue
        node = at[level]
        at[level] += 1
        score = partial[level] + memory.groups[level, tree.values[node]]
        if score + memory.rest[level + 1] < best:
            continue
        if level < groups - 1:
            level += 1
            at[level], stop[level], partial[level] = tree.first[node], tree.end[node], score
            continue
        function = tree.first[node]
        if rises & ~tree.rises[function] or falls & ~tree.falls[function]:
            continue
        if ceiling > NEVER:
            if score < ceiling:
                write(memory, size, score, function)
        elif score > best or found < 0 or function < found:
            best, found = score, function
    return best, found


@part
def write(memory, size, score, function):
    """Keep a formula, as far as there is room."""
    at = memory.found_count[0]
    if at < len(memory.found):
        memory.found[at, 0] = score
        memory.found[at, 1] = function
        for i in range(size):
            memory.found[at, 2 + i] = memory.chosen[i]
    memory.found_count[0] += 1


@part
def comes_first(tree, memory, score, function, known):
    """Whether a formula precedes the known one: the score, the plan, its literals, the filling."""
    if score != known[SCORE]:
        return score > known[SCORE]
    if tree.plans[function] != known[PLAN]:
        return tree.plans[function] < known[PLAN]
    for v in range(tree.variables):
        literal = memory.chosen[tree.places[function, v]]
        if literal != known[FIRST + v]:
            return literal < known[FIRST + v]
    return tree.fillings[function] < known[FUNCTION]


@part
def set_incumbent(tree, memory, thread, shared, score, function):
    """Make a formula this thread's incumbent, if it precedes the one that leads."""
    known = thread.incumbent
    if comes_first(tree, memory, score, function, known):
        known[SCORE], known[PLAN] = score, tree.plans[function]
        known[FUNCTION] = tree.fillings[function]
        for v in range(tree.variables):
            known[FIRST + v] = memory.chosen[tree.places[function, v]]
        shared.best[shared.slot] = (score << UNIT_BITS) + 1


@part
def goal_of(shared):
    """The least score that matters: formulas of equal score are ordered by what they are."""
    return (incumbent_rank(shared.best) + 1) >> UNIT_BITS


@part
def evaluate(table, tree, memory, thread, shared, goal, ceiling):
    """Look for a incumbent among the functions of the set at hand."""
    score, function = best_function(table, tree, memory, goal, ceiling)
    if function >= 0:
        set_incumbent(tree, memory, thread, shared, score, function)


@part
def search_singles(table, tree, memory, thread, shared, ceiling):
    """All sets of one literal."""
    for e in range(len(table.bits)):
        held = table.sums[table.starts[1] + e]
        memory.cells[0], memory.cells[1] = table.total - held, held
        memory.chosen[0] = e
        evaluate(table, tree, memory, thread, shared, goal_of(shared), ceiling)


@part
def search_row(table, tree, memory, thread, shared, goal, ceiling):
    """All sets that begin with the chosen literals; the greatest bound of any of them."""
    count = tree.variables - 2
    d = memory.chosen[count]
    literals, start = len(table.bits), table.next_free[memory.chosen[count]]
    open_row(table, memory, count, d, start)
    blocks = (literals - start + LANES - 1) // LANES
    bound_row(memory, count, d, start, blocks)
    greatest = NEVER
    for e in range(start, literals):
        bound = np.int64(memory.bounds[e])
        greatest = max(greatest, bound)
        if bound >= goal:
            read_cells(memory, count, d, e)
            memory.chosen[count + 1] = e
            evaluate(table, tree, memory, thread, shared, goal, ceiling)
            goal = max(goal, goal_of(shared))
    return greatest


@kernel
def search_sets(table, tree, memory, known_bounds, thread, shared, end, budget, ceiling):
    """Search units [control[AT], end): each has all sets that begin with the same literals.

    `known_bounds`: by unit the greatest bound of its sets, where an earlier search left it. With a
    ceiling all formulas from the goal to below it are written to `found`; PAUSED when that is full.
    """
    control = thread.control
    size = tree.variables - 1
    if size == 0:
        if control[AT] < end:
            search_singles(table, tree, memory, thread, shared, ceiling)
            if memory.found_count[0] > len(memory.found):
                return PAUSED  # the caller makes room for all of them
        control[AT] = end
        return DONE
    choose(table, control[AT], memory.chosen, size)
    ready = -1  # first literals whose sums are at hand
    work = 0
    cost = (len(table.bits[0]) + (8 << size)) // 4
    while control[AT] < end:
        if shared.flag[0] != 0:
            return STOPPED
        if work > budget:
            return PAUSED
        unit = control[AT]
        work += OVERHEAD
        goal = goal_of(shared)
        is_remembered = unit < len(known_bounds)
        if not is_remembered or known_bounds[unit] >= goal:
            greatest = NEVER
            if is_allowed(table, memory.chosen, size):
                if ready < size - 1:
                    open_prefix(table, memory, max(ready, 0), size - 1)
                    ready = size - 1
                    work += len(table.bits) << size
                control[NODES] += 1
                written = memory.found_count[0]
                start = table.next_free[memory.chosen[size - 1]]
                work += max(0, len(table.bits) - start) * cost
                greatest = search_row(table, tree, memory, thread, shared, goal, ceiling)
                if memory.found_count[0] > len(memory.found):
                    if written > 0:  # else the caller makes room for all of this unit
                        memory.found_count[0] = written
                    return PAUSED
            if is_remembered:
                known_bounds[unit] = greatest
        control[AT] += 1
        if control[AT] < end:
            ready = min(ready, advance(table, memory.chosen, size))
    return DONE
