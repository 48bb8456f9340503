"""Families of near-optimal formulas: one function of the same columns, any thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fsm_hpc.formulas.formula import Atom, Formula
from fsm_hpc.formulas.functions import build
from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.box_families import BoxSpace
from fsm_hpc.search.near_optimal.cell_families import CellSpace
from fsm_hpc.search.near_optimal.contexts import functions_up_to
from fsm_hpc.search.near_optimal.family_search import FamilySearch
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.near_optimal.sink import Ends, RawFamily
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL
from fsm_hpc.search.solvers.native.table import Array

Range = tuple[float, float]


@dataclass(frozen=True)
class Family:
    """One function of the same columns: its best member and the thresholds of all members."""

    formula: Formula  # the best member
    size: int
    errors: int  # of the best member
    count: int  # choices of thresholds within the slack
    columns: tuple[str, ...]
    thresholds: dict[str, tuple[Range, ...]]  # of numeric columns: the range of each end
    raw: RawFamily = field(repr=False, compare=False)


class Space:
    """The search space of a bound: the table, the units, and the decoding of families."""

    def __init__(self, problem: Problem, bound: int, slack: int = 0) -> None:
        self.problem = problem
        self.bound = bound
        self.slack = slack  # errors above the optimum
        self.table = LiteralTable(problem)
        columns = len(self.table.columns)
        self.functions = functions_up_to(bound, columns)
        self.units: CellSpace | BoxSpace
        if self.table.is_fixed:
            self.units = CellSpace(self.table, self.functions, slack)
        else:
            self.units = BoxSpace(self.table, self.functions, slack)

    def family_search(self, goal: int) -> FamilySearch:
        """The search of single families for members with at least that score."""
        return FamilySearch(self.table, self.functions, goal)

    def votes(self, families: Iterable[RawFamily], goal: int) -> Array:
        """The number of members that hold on each distinct row."""
        search, total = self.family_search(goal), np.zeros(len(self.table.rows), np.int64)
        for family in families:
            total += search.votes(family)
        return total

    def sizes_of(self, left: Sequence[UnitRange]) -> list[int]:
        """The sizes of the formulas in these units."""
        sizes: set[int] = set()
        for group in self.units.groups:
            if any(group.first < units.end and units.start < group.end for units in left):
                sizes.update(group.sizes)
        return sorted(sizes)

    def searched_slack(self, left: Sequence[UnitRange]) -> int | None:
        """Errors above the optimum up to which all families are known while these units remain."""
        if not left:
            return self.slack
        first = min(units.start for units in left)
        under_way = next((g.above for g in self.units.groups if first < g.end), -1)
        finished = [self.slack - g.above for g in self.units.groups if g.above > under_way]
        return max(finished, default=None)

    def formula(self, raw: RawFamily, thresholds: tuple[Ends, ...] | Array) -> Formula:
        columns = [self.table.columns[c] for c in raw.columns]
        pairs = zip(columns, thresholds, strict=False)
        atoms = [Atom(column.proposition(int(low), int(high))) for column, (low, high) in pairs]
        return build(self.functions[raw.function].function.tree, atoms.__getitem__).canonical()

    def family(self, raw: RawFamily) -> Family:
        function = self.functions[raw.function]
        columns = [self.table.columns[c] for c in raw.columns]
        return Family(
            self.formula(raw, raw.thresholds),
            function.size,
            self.table.positives - raw.score,
            raw.count,
            tuple(column.name for column in columns),
            {c.name: self._ranges(n, raw) for n, c in enumerate(columns) if c.numeric is not None},
            raw,
        )

    def _ranges(self, variable: int, raw: RawFamily) -> tuple[Range, ...]:
        column = self.table.columns[raw.columns[variable]]
        assert column.numeric is not None
        ranks = np.array(raw.ranges[variable]) - column.floor
        values = column.numeric.thresholds[ranks].tolist()
        low, high = (values[0], values[1]), (values[2], values[3])
        return (low, high) if column.kind == INTERVAL else (low,)
