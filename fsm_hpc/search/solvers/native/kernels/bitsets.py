# mypy: disable-error-code="no-untyped-def"
"""The same search where every literal is Boolean: row sets as bits, pairs as population counts."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from fsm_hpc.search.solvers.native.kernels.holes import combine
from fsm_hpc.search.solvers.native.kernels.kernel import kernel
from fsm_hpc.search.solvers.native.kernels.order import (
    AT,
    DONE,
    NODES,
    PAUSED,
    STOPPED,
    UNIT_BITS,
    leader,
    rank_of,
)
from fsm_hpc.search.solvers.native.kernels.states import FALSE, HOLE, TRUE
from fsm_hpc.search.solvers.native.kernels.units import choose_families


@intrinsic
def popcount(typing_context, word):
    """How many bits of the word are set, in one machine instruction."""
    del typing_context

    def generate(context, builder, signature, arguments):
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def count_bits(words, start, end):
    total = np.int64(0)
    for k in range(start, end):
        total += np.int64(popcount(words[k]))
    return total


@kernel
def count_common(words, others, start, end):
    total = np.int64(0)
    for k in range(start, end):
        total += np.int64(popcount(words[k] & others[k]))
    return total


@kernel
def context(bits, full, positives, states, chosen, plus, minus):
    """Rows that the hole gains (`plus`) and loses (`minus`); the score of all that is settled."""
    boxed = 0
    while 1 << boxed < len(states):
        boxed += 1
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
        if k < positives:
            score += np.int64(popcount(settled))
            plus[k] = held
            minus[k] = opposite
        else:
            score -= np.int64(popcount(settled))
            plus[k] = opposite
            minus[k] = held
    return score


@kernel
def useful(gain, loss, gains, losses, goal, as_x):
    """Functions of a pair (bits) that can reach the goal given one of its two literals.

    A conjunction gains at most what its literal gains; a disjunction loses at least what it loses.
    """
    out = 0
    if gain >= goal:
        out |= 0b0011 if as_x else 0b0101
    if gains - gain >= goal:
        out |= 0b1100 if as_x else 0b1010
    if gains - loss >= goal:
        out |= 0b11000000 if as_x else 0b10100000
    if gains - (losses - loss) >= goal:
        out |= 0b00110000 if as_x else 0b01010000
    return out


@kernel
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
def search_bits(
    bits,
    full,
    positives,
    families,
    plan,
    states,
    memory,
    control,
    best,
    slot,
    flag,
    record,
    first,
    end,
    budget,
):
    """Search units [control[AT], end) of a plan; come back after `budget` steps of work."""
    after, cross, hole = plan[2], plan[3], plan[5]
    plus, minus, gain, loss, roles_x, roles_y, chosen, plus_x, minus_x = memory
    features = len(bits)
    words = len(full)
    boxed = len(after)
    mirrored = False
    mask = 0
    for state in states:
        mirrored |= state > HOLE
    for f in range(len(cross)):
        if cross[f] >= 0:
            mask |= 1 << f
    plus_end = words if mirrored else positives
    minus_start = 0 if mirrored else positives
    work = 0
    while True:
        if flag[0] != 0:
            return STOPPED
        if work > budget:
            return PAUSED
        if control[AT] >= end:
            return DONE
        unit = first + control[AT]
        work += 20
        is_choice = choose_families(control[AT], families, plan, chosen)
        control[AT] += 1
        if not is_choice:
            continue
        for i in range(boxed):
            chosen[i] = families[chosen[i], 0]
        base = context(bits, full, positives, states, chosen, plus, minus)
        gains = count_bits(plus, 0, plus_end)
        work += words * len(states)
        threshold = leader(best)
        if rank_of(base + gains, unit) <= threshold:
            continue
        control[NODES] += 1
        losses = count_bits(minus, minus_start, words)
        goal = (threshold >> UNIT_BITS) - base
        if rank_of(goal + base, unit) <= threshold:
            goal += 1
        work += features * words
        for x in range(features):
            gain[x] = count_common(plus, bits[x], 0, plus_end)
            loss[x] = count_common(minus, bits[x], minus_start, words)
            allowed = mask
            for f in range(len(cross)):
                if cross[f] >= 0:
                    for i in range(boxed):
                        if cross[f] >> i & 1 and chosen[i] >= x:
                            allowed &= ~(1 << f)
            if hole == 1:
                roles_x[x] = allowed
            else:
                roles_x[x] = allowed & useful(gain[x], loss[x], gains, losses, goal, True)
                roles_y[x] = allowed & useful(gain[x], loss[x], gains, losses, goal, False)
        if hole == 1:
            for x in range(features):
                inside = gain[x] - loss[x]
                for f in range(2):
                    if roles_x[x] >> f & 1:
                        score = base + (inside if f == 0 else gains - losses - inside)
                        if rank_of(score, unit) > leader(best):
                            _note(record, unit, x, x, 1 << f, score)
                            best[slot] = rank_of(score, unit)
            continue
        for x in range(features):
            if flag[0] != 0:
                return STOPPED
            if roles_x[x] == 0:
                continue
            ready = False
            for y in range(x + 1, features):
                asked = roles_x[x] & roles_y[y]
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
                    _note(record, unit, x, y, asked, score)
                    best[slot] = rank_of(score, unit)
                    goal = score + 1 - base


@kernel
def _note(record, unit, x, y, mask, score):
    record[0] = unit
    record[1] = x
    record[2] = mask
    record[3] = score
    record[4] = y
