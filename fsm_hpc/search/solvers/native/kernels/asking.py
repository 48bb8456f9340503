# mypy: disable-error-code="no-untyped-def"
"""Ask what two columns, or one, can fill a hole with, in the cheapest way that is exact."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.coarse import MAX_BINS, coarse_bound
from fsm_hpc.search.solvers.native.kernels.holes import INTERVAL, SUFFIX, localise, pair, single
from fsm_hpc.search.solvers.native.kernels.intervals import pair_of_intervals
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.shapes import Question
from fsm_hpc.search.solvers.native.kernels.sweeps import sweep


@part
def ask(data, plan, pairs, memory, scratch, entry, mask, count, goal, any_will_do, flag):
    """The best score that the columns of an entry can fill the hole with, if above the goal."""
    x = pairs[entry, 0]
    y = pairs[entry, 1]
    is_relaxed = len(plan.after) > 0
    for column in (x, y):
        if memory.fresh[column]:
            memory.fresh[column] = False
            memory.cards[column] = localise(
                data, memory, count, column, is_relaxed or plan.hole == 2, scratch
            )
    question = Question(
        x,
        y,
        count,
        data.kinds[x],
        data.kinds[y],
        memory.cards[x],
        memory.cards[y],
        mask,
        goal,
        any_will_do,
    )
    if plan.hole == 1:
        return single(question, memory, scratch, is_relaxed)
    if question.kind_x == INTERVAL:
        return pair_of_intervals(question, memory, scratch)
    area = question.card_x * question.card_y
    if question.kind_x == SUFFIX and (area > len(scratch.cells) or area > 30 * count + 256):
        bins = 32 if count < 50_000 else MAX_BINS
        hope = coarse_bound(question, memory, scratch, bins)
        if hope <= goal:
            return hope
        return sweep(question, memory, scratch, flag)
    return pair(question, memory, scratch)
