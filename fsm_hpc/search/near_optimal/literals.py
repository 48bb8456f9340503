"""The table of the formulas of a Rashomon set, as the kernels read it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from fsm_hpc.search.constraints import Constraints
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT
from fsm_hpc.search.solvers.native.kernels.shapes import Bounds, Families
from fsm_hpc.search.solvers.native.table import KernelColumn, KernelTable

VARIED = Constraints(min_support=1)  # a proposition holds on some rows and fails on others


class LiteralTable(KernelTable):
    """All columns with the literals that are not constant; a formula has each at most once.

    Equal columns make formulas of their own. Rows whose labels cancel out stay, since members may
    differ on them.
    """

    def __init__(self, problem: Problem) -> None:
        merged = problem.distinct_rows
        self.positives = int(merged.positives.sum())
        self.times = merged.positives + merged.negatives  # rows of the table by distinct row
        self.group = merged.group  # the distinct row of every row of the problem
        super().__init__(replace(problem, constraints=VARIED), keeps_balanced=True)

    def _all_columns(self, problem: Problem) -> list[KernelColumn]:
        booleans = (
            KernelColumn(POINT, b.holds[self.rows].astype(np.int32), 2, None, (b.proposition,))
            for b in problem.booleans
        )
        columns = [*self._numerics(problem), *booleans]
        # few thresholds first: the last columns are free, searched for all thresholds at once
        return sorted(columns, key=lambda c: (c.kind == INTERVAL, c.card))

    @cached_property
    def bounds(self) -> Bounds:
        """No constraints beyond those on the literals."""
        return super().bounds._replace(is_any=False)

    @cached_property
    def has_windows(self) -> bool:
        """False: families of constant intervals are counted, and have no member."""
        return False

    @cached_property
    def families(self) -> Families:
        families = super().families
        return families._replace(numeric=np.ones_like(families.numeric))

    @property
    def is_fixed(self) -> bool:
        """Whether every column has a single literal."""
        return bool((self.cards == 2).all() and not (self.kinds == INTERVAL).any())
