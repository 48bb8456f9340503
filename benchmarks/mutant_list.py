"""Deliberate mistakes in the native solver: one textual change each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Engine(Enum):
    """Which kernels search a problem."""

    CELLS = "CellEngine"
    BOXES = "BoxEngine"


@dataclass(frozen=True)
class Mutant:
    """A change of one place in a file of fsm_hpc/search/solvers/native."""

    name: str
    file: str
    change: str  # in words
    before: str
    after: str
    engine: Engine | None = None  # the only engine that it changes


PYTHON = (
    Mutant(
        "no_or",
        "../../../formulas/functions.py",
        "functions with `or` are not listed",
        "joins = [(name, CONNECTIVES[name].commutes) for name in names]",
        "joins = [(n, CONNECTIVES[n].commutes) for n in names if n != 'or']",
    ),
    Mutant(
        "no_not",
        "../../../formulas/functions.py",
        "negations are not listed",
        "for f in _known(size - 1, one.parts[0], language) if size > 1 else ():",
        "for f in ():",
    ),
    Mutant(
        "left_part_too_small",
        "../../../formulas/functions.py",
        "the range of the size of the left part ends one early",
        "for first in range(1, (size - 1) // 2 + 1 if is_alike else size - 1):",
        "for first in range(1, (size - 1) // 2 if is_alike else size - 1):",
    ),
    Mutant(
        "first_plan_omitted",
        "plans.py",
        "the first of several plans of a size is omitted",
        "return tuple(merged[key] for key in sorted(merged))",
        "return tuple(merged[key] for key in sorted(merged)[len(merged) > 1 :])",
    ),
    Mutant(
        "last_plan_omitted",
        "plans.py",
        "the last of several plans of a size is omitted",
        "return tuple(merged[key] for key in sorted(merged))",
        "return tuple(merged[key] for key in sorted(merged)[: len(merged) - (len(merged) > 1)])",
    ),
    Mutant(
        "merged_functions_lost",
        "plans.py",
        "plans with one context keep the functions of the last one only",
        "plan, trees=known.trees | plan.trees, cross=known.cross | plan.cross",
        "plan, trees=plan.trees, cross=plan.cross",
    ),
    Mutant(
        "pairs_not_exchanged",
        "plans.py",
        "a pair is not tried in its other order",
        "SWAPPED = (0, 2, 1, 3, 4, 6, 5, 7)",
        "SWAPPED = (0, 1, 2, 3, 4, 5, 6, 7)",
    ),
    Mutant(
        "inverted_relaxation",
        "plans.py",
        "open rows count at their worst instead of their best",
        "best = [(_best(s, TRUE, FALSE), _best(s, FALSE, TRUE)) for s in sets]",
        "best = [(_best(s, FALSE, TRUE), _best(s, TRUE, FALSE)) for s in sets]",
    ),
    Mutant(
        "all_interchangeable",
        "plans.py",
        "all variables of a context pass for interchangeable with the free literals",
        "if all(exchangeable(bits, v, x) for x in free)",
        "if free",
    ),
    Mutant(
        "last_unit_skipped",
        "engines.py",
        "the last unit of each plan is skipped",
        "units = plan.choices(len(families.column)) * blocks.number",
        "units = plan.choices(len(families.column)) * blocks.number - 1",
    ),
    Mutant(
        "last_function_skipped",
        "engines.py",
        "the last function of a pair, `x or y`, is not tried",
        "np.array([plan.cross.get(f, -1) for f in range(8)], np.int32)",
        "np.array([plan.cross.get(f, -1) for f in range(7)] + [-1], np.int32)",
    ),
    Mutant(
        "unit_skipped_after_each_piece",
        "work.py",
        "one unit is skipped after each piece of work",
        "self.ranges.appendleft(UnitRange(end, first.end))",
        "self.ranges.appendleft(UnitRange(end + 1, first.end))",
    ),
    Mutant(
        "first_unit_skipped",
        "work.py",
        "the first unit of each size is skipped",
        "given = [UnitRange(0, self.units)] if left is None else left",
        "given = [UnitRange(1, self.units)] if left is None else left",
    ),
    Mutant(
        "threshold_too_high",
        "search.py",
        "a formula has to be better by two errors",
        "return (to_beat << UNIT_BITS) + UNITS",
        "return ((to_beat + 1) << UNIT_BITS) + UNITS",
    ),
    Mutant(
        "other_threads_ignored",
        "search.py",
        "the leader of the first thread is the result",
        "top = np.flatnonzero(self.best == self.best.max()).tolist()",
        "top = [0]",
    ),
    Mutant(
        "improvement_by_one_dropped",
        "solver.py",
        "the best smaller formula is kept where the new one is better by one error",
        "best = before if before and before.score >= best.score else best",
        "best = before if before and before.score + 1 >= best.score else best",
    ),
    Mutant(
        "bound_off_by_one",
        "solver.py",
        "each size is searched with the formulas of the size below",
        "        size = len(known.optima) + 1\n        before = known.last\n",
        "        size = max(1, len(known.optima))\n        before = known.last\n",
    ),
    Mutant(
        "first_numeric_column_skipped",
        "table.py",
        "the first numeric column is skipped",
        "for numeric in problem.numerics]",
        "for numeric in problem.numerics[1:]]",
    ),
    Mutant(
        "last_boolean_column_skipped",
        "table.py",
        "the last Boolean column is skipped",
        "        features = problem.booleans\n",
        "        features = problem.booleans[:-1]\n",
    ),
    Mutant(
        "pivot_range_too_short",
        "table.py",
        "the thresholds of a pivot in a context end at the middle",
        "choices = [(least, last, last, last)]",
        "choices = [(least, (least + last) // 2, last, last)]",
    ),
    Mutant(
        "interval_range_too_short",
        "table.py",
        "the upper thresholds of an interval in a context end at the middle",
        "choices = [(least, last, least, last)]",
        "choices = [(least, last, least, (least + last) // 2)]",
    ),
    Mutant(
        "row_left_out",
        "table.py",
        "one distinct row is left out of the search",
        "else np.flatnonzero(net)\n",
        "else np.flatnonzero(net)[1:]\n",
    ),
    Mutant(
        "last_pairs_skipped",
        "box_engine.py",
        "the last pairs of columns are skipped",
        "return columns * (columns + 1) // 2",
        "return columns * (columns - 1) // 2",
        Engine.BOXES,
    ),
    Mutant(
        "first_column_without_literals",
        "literal_list.py",
        "the literals of the first column are not listed",
        "    for index in table.places.tolist():\n        column = table.columns[index]\n",
        "    for index in table.places.tolist()[1:]:\n        column = table.columns[index]\n",
        Engine.CELLS,
    ),
)

KERNELS = (
    Mutant(
        "inverted_pruning_of_sets",
        "kernels/cells.py",
        "sets are dropped where their bound reaches the goal",
        "        if bound >= goal:\n",
        "        if bound < goal:\n",
        Engine.CELLS,
    ),
    Mutant(
        "skipped_set",
        "kernels/cells.py",
        "a literal is not combined with the next one",
        "start = len(table.bits), table.next_free[memory.chosen[count]]",
        "start = len(table.bits), table.next_free[memory.chosen[count]] + 1",
        Engine.CELLS,
    ),
    Mutant(
        "bound_without_a_cell",
        "kernels/cells.py",
        "the bound of a set leaves out the cell where the last two literals hold",
        "gain = max(both, np.int32(0)) + max(",
        "gain = max(",
        Engine.CELLS,
    ),
    Mutant(
        "functions_pruned_too_soon",
        "kernels/cells.py",
        "half of what the other cells can add is counted",
        "if score + memory.rest[level + 1] < best:",
        "if score + memory.rest[level + 1] // 2 < best:",
        Engine.CELLS,
    ),
    Mutant(
        "goal_too_high",
        "kernels/cells.py",
        "sets have to reach ten more than the goal",
        "return (incumbent_rank(shared.best) + 1) >> UNIT_BITS",
        "return ((incumbent_rank(shared.best) + 1) >> UNIT_BITS) + 10",
        Engine.CELLS,
    ),
    Mutant(
        "ties_in_reverse",
        "kernels/ranking.py",
        "of equal scores the later unit is preferred",
        "return (score << UNIT_BITS) + (UNITS - unit)",
        "return (score << UNIT_BITS) + unit",
    ),
    Mutant(
        "leader_not_shared",
        "kernels/ranking.py",
        "only the leader of the first thread is compared with",
        "        top = max(top, best[slot])\n",
        "        top = max(top, best[0])\n",
    ),
    Mutant(
        "bound_without_gain",
        "kernels/boxes.py",
        "the bound of a box counts half of what the free literals may gain",
        "if rank_of(view.bound + view.gain, unit) <= threshold:",
        "if rank_of(view.bound + view.gain // 2, unit) <= threshold:",
        Engine.BOXES,
    ),
    Mutant(
        "threshold_lost_in_division",
        "kernels/boxes.py",
        "a division of a box loses one threshold",
        "boxes[node, i] = middle + 1",
        "boxes[node, i] = middle + 2",
        Engine.BOXES,
    ),
    Mutant(
        "last_category_skipped",
        "kernels/pairs.py",
        "the first category of a column is not paired",
        "for step in range(query.card_x - 1):",
        "for step in range(query.card_x - 2):",
        Engine.BOXES,
    ),
    Mutant(
        "cut_lost_between_halves",
        "kernels/pairs.py",
        "a threshold between the halves of a range is not tried",
        "    ranges[at + 1, low] = middle + 1\n",
        "    ranges[at + 1, low] = middle + 2\n",
        Engine.BOXES,
    ),
    Mutant(
        "interval_ends_one_early",
        "kernels/intervals.py",
        "the upper end of the first interval of a pair ends one early",
        "    ends[0, 3] = card_x - 1\n",
        "    ends[0, 3] = card_x - 2\n",
        Engine.BOXES,
    ),
    Mutant(
        "reach_too_small",
        "kernels/columns.py",
        "pairs have to exceed the goal by more than the bound demands",
        "and x[HALF + i] + y[HALF + j] > 2 * above + 1",
        "and x[HALF + i] + y[HALF + j] > 2 * above + 8",
        Engine.BOXES,
    ),
)
MUTANTS = (*PYTHON, *KERNELS)
