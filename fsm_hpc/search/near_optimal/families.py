"""Families of near-optimal formulas: one function of the same columns, any thresholds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from fsm_hpc.formulas.formula import Atom, Formula
from fsm_hpc.formulas.functions import build
from fsm_hpc.search.frontier import UnitRange
from fsm_hpc.search.near_optimal.box_families import BoxSpace
from fsm_hpc.search.near_optimal.cell_families import CellSpace
from fsm_hpc.search.near_optimal.contexts import functions_up_to
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
    found: RawFamily = field(repr=False, compare=False)


class Space:
    """All that a bound allows on a problem: the table, the units, and the way back to formulas."""

    def __init__(self, problem: Problem, bound: int, slack: int = 0) -> None:
        self.problem = problem
        self.bound = bound
        self.slack = slack  # errors above the optimum: the first pass allows none
        self.table = LiteralTable(problem)
        columns = len(self.table.columns)
        self.functions = functions_up_to(bound, columns)
        self.units: CellSpace | BoxSpace
        if self.table.is_fixed:
            self.units = CellSpace(self.table, self.functions, slack)
        else:
            self.units = BoxSpace(problem, self.table, self.functions, slack)

    def sizes_of(self, left: Iterable[UnitRange]) -> list[int]:
        """The sizes of the formulas that these units are searched for."""
        found: set[int] = set()
        for one in left:
            for group in self.units.groups:
                if group.first < one.end and one.start < group.end:
                    found.update(group.sizes)
        return sorted(found)

    def formula(self, found: RawFamily, cuts: tuple[Ends, ...] | Array) -> Formula:
        columns = [self.table.columns[c] for c in found.columns]
        pairs = zip(columns, cuts, strict=False)
        atoms = [Atom(column.proposition(int(low), int(high))) for column, (low, high) in pairs]
        return build(self.functions[found.function].function.tree, atoms.__getitem__).canonical()

    def family(self, found: RawFamily) -> Family:
        function = self.functions[found.function]
        columns = [self.table.columns[c] for c in found.columns]
        return Family(
            self.formula(found, found.thresholds),
            function.size,
            self.table.positives - found.score,
            found.count,
            tuple(column.name for column in columns),
            {
                c.name: self._ranges(n, found)
                for n, c in enumerate(columns)
                if c.numeric is not None
            },
            found,
        )

    def _ranges(self, variable: int, found: RawFamily) -> tuple[Range, ...]:
        column = self.table.columns[found.columns[variable]]
        assert column.numeric is not None
        values = column.numeric.thresholds[np.array(found.ranges[variable])].tolist()
        low, high = (values[0], values[1]), (values[2], values[3])
        return (low, high) if column.kind == INTERVAL else (low,)
