"""Families of good formulas: one function with the same columns, whatever the cuts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from fsm_hpc.formulas.formula import Atom, Formula
from fsm_hpc.formulas.functions import build
from fsm_hpc.search.near_optimal.cell_space import CellSpace
from fsm_hpc.search.near_optimal.hole_plans import HolePlan, fixed_plans, hole_plans
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.kernels.near_planes import INTERVAL_CUT
from fsm_hpc.search.solvers.native.table import Array

Ends = tuple[int, int]  # ranks: the low end of a cut and its high end
Range = tuple[float, float]


class RawFamily(msgspec.Struct, frozen=True, array_like=True):
    """A family as the kernels tell it: columns, ranges and cuts by variable, in ranks."""

    plan: int
    columns: tuple[int, ...]
    count: int
    score: int
    ranges: tuple[tuple[int, int, int, int], ...]
    cuts: tuple[Ends, ...]


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """Units [start, end) of a plan that are not searched, the first from columns x, y on."""

    plan: int
    start: int
    end: int
    x: int = 0
    y: int = 0


class Searched(NamedTuple):
    """What some units brought: families, by row the members that say yes, and what is left."""

    families: list[RawFamily]
    votes: Array
    rest: Stretch | None


@dataclass(frozen=True)
class Family:
    """One function of the same columns: its best member and how far the cuts of all may be."""

    formula: Formula  # the best member
    size: int
    errors: int  # of the best member
    count: int  # choices of cuts that stay within the slack
    columns: tuple[str, ...]
    cuts: dict[str, tuple[Range, ...]]  # numeric columns: the range of the cut, or of both ends
    found: RawFamily = field(repr=False, compare=False)


class Space:
    """All that a bound allows on a problem: the table, the plans, and the way back to formulas."""

    def __init__(self, problem: Problem, bound: int) -> None:
        self.problem = problem
        self.bound = bound
        self.table = LiteralTable(problem)
        self.cells: CellSpace | None = None
        columns = len(self.table.columns)
        if self.table.is_fixed and columns:
            self.plans: list[HolePlan] = fixed_plans(bound, columns)
            self.cells = CellSpace(self.table, self.plans)
        else:
            self.plans = hole_plans(bound, self.table.has_intervals, columns)

    @cached_property
    def variables(self) -> int:
        return max((plan.function.variables for plan in self.plans), default=1)

    def everything(self) -> list[Stretch]:
        """All units; those of fixed literals in passes, in which the best formulas come first."""
        if self.cells is not None:
            return [Stretch(n, 0, one.units) for n, one in enumerate(self.cells.passes)]
        columns = len(self.table.columns)
        return [Stretch(n, 0, plan.units(columns)) for n, plan in enumerate(self.plans)]

    def sizes_of(self, left: Iterable[Stretch]) -> list[int]:
        """The sizes of the functions that these units are searched for."""
        if self.cells is None:
            return sorted({self.plans[one.plan].size for one in left})
        numbers = {self.cells.passes[one.plan].tree.variables for one in left}
        return sorted({plan.size for plan in self.plans if plan.function.variables in numbers})

    def formula(self, found: RawFamily, cuts: tuple[Ends, ...] | Array) -> Formula:
        columns = [self.table.columns[c] for c in found.columns]
        pairs = zip(columns, cuts, strict=False)
        atoms = [Atom(column.proposition(int(low), int(high))) for column, (low, high) in pairs]
        return build(self.plans[found.plan].function.tree, atoms).canonical()

    def family(self, found: RawFamily) -> Family:
        plan = self.plans[found.plan]
        columns = [self.table.columns[c] for c in found.columns]
        return Family(
            self.formula(found, found.cuts),
            plan.size,
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
        values = column.numeric.cuts[np.array(found.ranges[variable])].tolist()
        low, high = (values[0], values[1]), (values[2], values[3])
        return (low, high) if column.kind == INTERVAL_CUT else (low,)
