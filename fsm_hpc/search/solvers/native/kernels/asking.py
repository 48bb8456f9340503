# mypy: disable-error-code="no-untyped-def"
"""Ask what two columns, or one, can fill a hole with, in the cheapest way that is exact."""

from __future__ import annotations

from fsm_hpc.search.solvers.native.kernels.coarse import MAX_BINS, coarse_bound
from fsm_hpc.search.solvers.native.kernels.cuts import pair_with_cut
from fsm_hpc.search.solvers.native.kernels.extremes import within_reach
from fsm_hpc.search.solvers.native.kernels.holes import (
    list_rows,
    localise,
    single,
    sum_literals,
)
from fsm_hpc.search.solvers.native.kernels.intervals import pair_of_intervals
from fsm_hpc.search.solvers.native.kernels.kernel import part
from fsm_hpc.search.solvers.native.kernels.profiles import profile
from fsm_hpc.search.solvers.native.kernels.shapes import Question
from fsm_hpc.search.solvers.native.kernels.sweeps import sweep
from fsm_hpc.search.solvers.native.kernels.tables import pair_of_pivots, pair_with_point
from fsm_hpc.search.solvers.native.kernels.units import FIELD
from fsm_hpc.search.solvers.native.kernels.windows import single_within
from fsm_hpc.search.solvers.native.kernels.words import INTERVAL, POINT, SUFFIX


@part
def ask(data, plan, memory, scratch, box, code, mask, view, goal, any_will_do, flag):
    """The best score that two columns can fill the hole of a box with, if above the goal."""
    x = code >> FIELD
    y = code & ((1 << FIELD) - 1)
    is_relaxed = len(plan.after) > 0
    for column in (x, y):
        if memory.localised[column] != box:
            memory.localised[column] = box
            merge = is_relaxed or plan.hole == 2
            memory.cards[column] = localise(data, memory, scratch, column, view, merge, box)
            sum_literals(data, memory, scratch, column, view, box)
            if plan.hole == 2:
                profile(data, memory, scratch, column, view, goal + 1)
    if plan.hole == 2:
        mask &= memory.roles[x, 0] & memory.roles[y, 1]
        mask = within_reach(memory.extremes[x], memory.extremes[y], mask, view.loss, goal)
        if mask == 0:
            return goal
    question = Question(
        x,
        y,
        data.kinds[x],
        data.kinds[y],
        memory.cards[x],
        memory.cards[y],
        data.floors[x],
        data.floors[y],
        mask,
        goal,
        any_will_do,
        view.gain,
        view.loss,
        memory.tops[x],
        memory.tops[y],
        view.asked,
        view.gained,
        scratch.local[x] if memory.merged[x] else data.ranks[x],
        scratch.local[y] if memory.merged[y] else data.ranks[y],
    )
    if plan.hole == 1:
        if data.has_windows and question.kind_x == INTERVAL:
            return single_within(question, data, memory, scratch)
        return single(question, data, memory, scratch, is_relaxed)
    has_sets = data.sets_from[x] >= 0 and data.sets_from[y] >= 0
    if question.kind_y == SUFFIX and has_sets:
        return pair_with_cut(question, data, memory, scratch, view)
    if question.kind_x == POINT:
        return pair_with_point(question, data, memory, scratch, view)
    area = question.card_x * question.card_y
    list_rows(data, memory, view, box)
    if question.kind_x == INTERVAL:
        return pair_of_intervals(question, data, memory, scratch)
    if area > len(scratch.cells) or area > 30 * view.asked + 256:
        bins = 32 if view.asked < 50_000 else MAX_BINS
        hope = coarse_bound(question, memory, scratch, bins)
        if hope <= goal:
            return hope
        return sweep(question, memory, scratch, flag)
    return pair_of_pivots(question, data, memory, scratch)
