# mypy: disable-error-code="no-untyped-def"
"""The same search where every literal is Boolean: row sets as bits, pairs as population counts."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from fsm_hpc.search.solvers.native.kernels.bounds import (
    MASK as FUNCTIONS,
)
from fsm_hpc.search.solvers.native.kernels.bounds import bound_unit, directed, holes_to_ask
from fsm_hpc.search.solvers.native.kernels.holes import combine
from fsm_hpc.search.solvers.native.kernels.kernel import kernel, part
from fsm_hpc.search.solvers.native.kernels.order import (
    AT,
    DONE,
    NODES,
    OPEN,
    PAUSED,
    STOPPED,
    goal_above,
    leader,
    note,
    rank_of,
)
from fsm_hpc.search.solvers.native.kernels.profiles import useful
from fsm_hpc.search.solvers.native.kernels.states import FALSE, HOLE, TRUE
from fsm_hpc.search.solvers.native.kernels.units import choose_families

FREE = -1  # the owner of a literal that may be combined with any other


@intrinsic
def popcount(typing_context, word):
    """How many bits of the word are set, in one machine instruction."""
    del typing_context

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@part
def count_bits(words, start, end):
    total = np.int64(0)
    for k in range(start, end):
        total += np.int64(popcount(words[k]))
    return total


@part
def count_common(words, others, start, end):
    total = np.int64(0)
    for k in range(start, end):
        total += np.int64(popcount(words[k] & others[k]))
    return total


@part
def context(table, plan, memory):
    """Rows that the hole gains (`plus`) and loses (`minus`); the score of all that is settled."""
    bits, full, states, chosen = table.bits, table.full, plan.states, memory.chosen
    plus, minus, boxed = memory.plus, memory.minus, len(plan.after)
    score = np.int64(0)
    for k in range(len(full)):
        held = np.uint64(0)
        opposite = np.uint64(0)
        settled = np.uint64(0)
        for assignment in range(len(states)):
            state = states[assignment]
            if state == FALSE:
                continue
            rows = full[k]
            for i in range(boxed):
                word = bits[chosen[i], k]
                rows &= word if assignment >> i & 1 else ~word
            if state == TRUE:
                settled |= rows
            elif state == HOLE:
                held |= rows
            else:
                opposite |= rows
                settled |= rows
        if k < table.positives:
            score += np.int64(popcount(settled))
            plus[k] = held
            minus[k] = opposite
        else:
            score -= np.int64(popcount(settled))
            plus[k] = opposite
            minus[k] = held
    return score


@part
def hopeful(both, x, y, loss_x, loss_y, gains, losses, mask):
    """The most that the asked functions can reach, once the rows gained by both are known."""
    best = -(1 << 40)
    if mask & 1:
        best = max(best, both)
    if mask & 2:
        best = max(best, x - both)
    if mask & 4:
        best = max(best, y - both)
    if mask & 8:
        best = max(best, gains - x - y + both)
    if mask & 16:
        best = max(best, gains - both - max(losses - loss_x, losses - loss_y))
    if mask & 32:
        best = max(best, gains - x + both - max(losses - loss_x, loss_y))
    if mask & 64:
        best = max(best, gains - y + both - max(loss_x, losses - loss_y))
    if mask & 128:
        best = max(best, x + y - both - max(loss_x, loss_y))
    return best


@kernel
def search_bits(table, families, plan, memory, lane, race, span):
    """Search units [control[AT], end) of a plan; come back after `budget` steps of work."""
    control = lane.control
    words = len(table.full)
    is_mirrored = False
    for state in plan.states:
        is_mirrored |= state > HOLE
    # without an opposite hole, positive rows are only gained and negative ones only lost
    plus_end = words if is_mirrored else table.positives
    minus_start = 0 if is_mirrored else table.positives
    work = 0
    while True:
        if race.flag[0] != 0:
            return STOPPED
        if work > span.budget:
            return PAUSED
        if control[AT] >= span.end:
            return DONE
        work += 20
        is_choice = choose_families(control[AT] // span.blocks, families, plan, memory.chosen)
        if is_choice and table.bounds.is_any:
            is_choice = bound_unit(table.bounds, plan, memory.chosen, memory.unit)
        if is_choice:
            work += _search_unit(
                table, plan, memory, lane, race, span, span.budget - work, plus_end, minus_start
            )
        if race.flag[0] == 0 and control[OPEN] == 0:
            control[AT] += 1


@part
def _search_unit(table, plan, memory, lane, race, span, budget, plus_end, minus_start):
    """Look for a leader in one unit, or in the rest of it that is begun; the steps of work."""
    words = len(table.full)
    unit = span.first + lane.control[AT]
    base = context(table, plan, memory)
    gains = count_bits(memory.plus, 0, plus_end)
    work = words * len(plan.states)
    threshold = leader(race.best)
    if rank_of(base + gains, unit) <= threshold:
        lane.control[OPEN] = 0
        return work
    lane.control[NODES] += 1
    losses = count_bits(memory.minus, minus_start, words)
    goal = goal_above(threshold, base, unit) + 1
    _weigh_literals(table, plan, memory, gains, losses, goal, plus_end, minus_start)
    work += len(table.bits) * words
    if plan.hole == 1:
        _ask_singles(memory, lane, race, unit, base, gains, losses)
        return work
    first = lane.control[AT] % span.blocks * span.holes
    end = min(len(table.bits), first + span.holes)
    return work + _ask_pairs(
        table,
        plan,
        memory,
        lane,
        race,
        max(first, lane.control[OPEN]),
        end,
        budget,
        unit,
        base,
        gains,
        losses,
        goal,
        plus_end,
        minus_start,
    )


@part
def _weigh_literals(table, plan, memory, gains, losses, goal, plus_end, minus_start):
    """What each literal gains and loses, and the functions that it may be part of."""
    cross, boxed, chosen, bits = plan.cross, len(plan.after), memory.chosen, table.bits
    plus, minus, words = memory.plus, memory.minus, len(table.full)
    gain_of, loss_of = memory.gain, memory.loss
    roles_x, roles_y = memory.roles_x, memory.roles_y
    mask = 0
    for f in range(len(cross)):
        if cross[f] >= 0:
            mask |= 1 << f
    for x in range(len(bits)):
        gain = count_common(plus, bits[x], 0, plus_end)
        loss = count_common(minus, bits[x], minus_start, words)
        gain_of[x] = gain
        loss_of[x] = loss
        allowed = mask
        for i in range(boxed):
            if table.owners[x] != FREE and table.owners[chosen[i]] == table.owners[x]:
                allowed = 0
            if chosen[i] >= x:
                for f in range(len(cross)):
                    if cross[f] >= 0 and cross[f] >> i & 1:
                        allowed &= ~(1 << f)
        if plan.hole == 1:
            roles_x[x] = allowed
            if table.bounds.is_any:
                roles_x[x] = holes_to_ask(table.bounds, plan, chosen, memory.unit, x, x, allowed)
        else:
            roles_x[x] = allowed & useful(gain, loss, gains, losses, goal, True)
            roles_y[x] = allowed & useful(gain, loss, gains, losses, goal, False)
            if table.bounds.is_any:
                roles_x[x] = directed(
                    table.bounds, plan, x, boxed, roles_x[x] & memory.unit[FUNCTIONS]
                )
                roles_y[x] = directed(table.bounds, plan, x, boxed + 1, roles_y[x])


@part
def _ask_singles(memory, lane, race, unit, base, gains, losses):
    for x in range(len(memory.gain)):
        inside = memory.gain[x] - memory.loss[x]
        for f in range(2):
            if memory.roles_x[x] >> f & 1:
                score = base + (inside if f == 0 else gains - losses - inside)
                if rank_of(score, unit) > leader(race.best):
                    note(lane, race, unit, x, 1 << f, score, x, x)


@part
def _ask_pairs(
    table,
    plan,
    memory,
    lane,
    race,
    first,
    end,
    budget,
    unit,
    base,
    gains,
    losses,
    goal,
    plus_end,
    minus_start,
):
    """Ask every pair of literals that can reach the goal together; the steps of work.

    The first literal goes from `first` to `end`; where the budget ends before, the unit stays open.
    """
    owners, bounds = table.owners, table.bounds
    gain, loss, roles_x, roles_y = memory.gain, memory.loss, memory.roles_x, memory.roles_y
    plus, minus, plus_x, minus_x = memory.plus, memory.minus, memory.plus_x, memory.minus_x
    best, flag, bits, words = race.best, race.flag, table.bits, len(table.full)
    work = 0
    lane.control[OPEN] = 0
    for x in range(first, end):
        if flag[0] != 0:
            return work
        if roles_x[x] == 0:
            continue
        if work > budget and x > first:
            lane.control[OPEN] = x
            return work
        work += (len(bits) - x) >> 2
        ready = False
        for y in range(x + 1, len(bits)):
            asked = roles_x[x] & roles_y[y]
            if asked == 0 or (owners[x] != FREE and owners[x] == owners[y]):
                continue
            if bounds.is_any:
                asked = holes_to_ask(bounds, plan, memory.chosen, memory.unit, x, y, asked)
                if asked == 0:
                    continue
            if not ready:
                ready = True
                for k in range(plus_end):
                    plus_x[k] = plus[k] & bits[x, k]
                for k in range(minus_start, words):
                    minus_x[k] = minus[k] & bits[x, k]
            both = count_common(plus_x, bits[y], 0, plus_end)
            work += words
            if hopeful(both, gain[x], gain[y], loss[x], loss[y], gains, losses, asked) < goal:
                continue
            inside = both - count_common(minus_x, bits[y], minus_start, words)
            outside = gain[y] - loss[y] - inside
            score = base + combine(
                inside, inside, outside, outside, gain[x] - loss[x], gains - losses, asked
            )
            if rank_of(score, unit) > leader(best):
                note(lane, race, unit, x, asked, score, y, y)
                goal = score + 1 - base
    return work
