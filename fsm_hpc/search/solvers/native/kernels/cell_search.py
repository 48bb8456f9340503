# mypy: disable-error-code="no-untyped-def"
"""All sets of fixed literals, and the functions of those whose bound reaches the goal."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.solvers.native.kernels.cell_shapes import (
    FIRST,
    FUNCTION,
    GROUP,
    LANES,
    NEVER,
    PLAN,
    SCORE,
)
from fsm_hpc.search.solvers.native.kernels.cells import (
    advance,
    bound_row,
    choose,
    is_allowed,
    open_prefix,
    open_row,
)
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part, subroutine
from fsm_hpc.search.solvers.native.kernels.order import (
    AT,
    DONE,
    NODES,
    PAUSED,
    STOPPED,
    UNIT_BITS,
    leader,
)

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
def obeys(table, memory, size):
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
        if not obeys(table, memory, size):
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
def note(tree, memory, lane, race, score, function):
    """Make a formula this thread's leader, if it precedes the one that leads."""
    known = lane.leader
    if comes_first(tree, memory, score, function, known):
        known[SCORE], known[PLAN] = score, tree.plans[function]
        known[FUNCTION] = tree.fillings[function]
        for v in range(tree.variables):
            known[FIRST + v] = memory.chosen[tree.places[function, v]]
        race.best[race.slot] = (score << UNIT_BITS) + 1


@part
def goal_of(race):
    """The least score that matters: formulas of equal score are ordered by what they are."""
    return (leader(race.best) + 1) >> UNIT_BITS


@part
def evaluate(table, tree, memory, lane, race, goal, ceiling):
    """Look for a leader among the functions of the set at hand."""
    score, function = best_function(table, tree, memory, goal, ceiling)
    if function >= 0:
        note(tree, memory, lane, race, score, function)


@part
def search_singles(table, tree, memory, lane, race, ceiling):
    """All sets of one literal."""
    for e in range(len(table.bits)):
        held = table.sums[table.starts[1] + e]
        memory.cells[0], memory.cells[1] = table.total - held, held
        memory.chosen[0] = e
        evaluate(table, tree, memory, lane, race, goal_of(race), ceiling)


@part
def search_row(table, tree, memory, lane, race, goal, ceiling):
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
            evaluate(table, tree, memory, lane, race, goal, ceiling)
            goal = max(goal, goal_of(race))
    return greatest


@kernel
def search_sets(table, tree, memory, known_bounds, lane, race, end, budget, ceiling):
    """Search units [control[AT], end): each has all sets that begin with the same literals.

    `known_bounds`: by unit the greatest bound of its sets, where an earlier search left it. With a
    ceiling all formulas from the goal to below it are written to `found`; PAUSED when that is full.
    """
    control = lane.control
    size = tree.variables - 1
    if size == 0:
        if control[AT] < end:
            search_singles(table, tree, memory, lane, race, ceiling)
            if memory.found_count[0] > len(memory.found):
                return PAUSED  # the caller makes room for all of them
        control[AT] = end
        return DONE
    choose(table, control[AT], memory.chosen, size)
    ready = -1  # first literals whose sums are at hand
    work = 0
    cost = (len(table.bits[0]) + (8 << size)) // 4
    while control[AT] < end:
        if race.flag[0] != 0:
            return STOPPED
        if work > budget:
            return PAUSED
        unit = control[AT]
        work += OVERHEAD
        goal = goal_of(race)
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
                greatest = search_row(table, tree, memory, lane, race, goal, ceiling)
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
