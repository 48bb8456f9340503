"""The members of one family: counted, listed, or the best one by other weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsm_hpc.search.near_optimal.contexts import SizedFunction, context_of
from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.near_optimal.sink import RawFamily
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL
from fsm_hpc.search.solvers.native.kernels.families import search_family
from fsm_hpc.search.solvers.native.kernels.shapes import NearData, NearFound, NearWork
from fsm_hpc.search.solvers.native.table import Array

CELLS_OF_A_ROW = 4  # a plane of so many cells for each row costs about what its rows do
FEWEST_CELLS = 1 << 10
DEPTH = 640  # boxes on the stack: two ends of every variable, halved some thirty times
RUNNING = np.zeros(1, np.int32)  # the flag of a search that nobody stops


class FamilySearch:
    """Searches families in one thread."""

    def __init__(self, table: LiteralTable, functions: Sequence[SizedFunction], goal: int) -> None:
        self._table, self._functions, self._goal = table, functions, goal
        variables = max((sized.function.variables for sized in functions), default=1)
        self._data, self._work = _data(table), _work(table, variables)
        self._found = _found(table, variables, 0)

    def count(self, function: int, columns: tuple[int, ...], flag: Array) -> RawFamily | None:
        """The family of a function and its columns; None if it has no member, or was stopped."""
        count = self._search(function, columns, self._data, self._found, flag)
        if count <= 0:
            return None
        found, variables = self._found, len(columns)
        return RawFamily(
            function,
            columns,
            count,
            int(found.best[0]),
            tuple(map(tuple, found.ranges[:variables].tolist())),
            tuple(map(tuple, found.thresholds[:variables].tolist())),
        )

    def votes(self, family: RawFamily) -> Array:
        """By distinct row the members that hold there."""
        self._search(family.function, family.columns, self._data, self._found)
        return self._found.votes

    def members(self, family: RawFamily, most: int) -> tuple[Array, Array]:
        """The cuts of at most so many members, by variable in ranks, and their scores."""
        variables = len(family.columns)
        found = _found(self._table, variables, most)
        self._search(family.function, family.columns, self._data, found)
        order = np.lexsort(found.listed.reshape(most, -1).T[::-1])
        return found.listed[order], found.scores[order]

    def second_best(self, family: RawFamily, weights: Array) -> tuple[int, Array]:
        """The greatest sum of these weights over the rows where a member holds, and its cuts."""
        data = self._data._replace(second=weights.astype(np.int64))
        self._search(family.function, family.columns, data, self._found)
        return int(self._found.best[0]), self._found.thresholds[: len(family.columns)].copy()

    def _search(
        self,
        function: int,
        columns: tuple[int, ...],
        data: NearData,
        found: NearFound,
        flag: Array = RUNNING,
    ) -> int:
        free = self._free_variables(columns)
        x, y = columns[free[0]], columns[free[-1]]
        is_interval = bool(self._table.kinds[x] == INTERVAL)
        context = context_of(self._functions[function].function, free, is_interval)
        count: int = search_family(
            data,
            context,
            np.array([columns[v] for v in context.boxed], np.int64),
            x,
            y,
            self._goal,
            flag,
            self._work,
            found,
        )
        return count

    def _free_variables(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """The variables of the widest columns: two of cuts, or one, as that of an interval is."""
        widest = sorted(range(len(columns)), key=lambda v: columns[v])[-2:]
        if any(self._table.kinds[columns[v]] == INTERVAL for v in widest):
            widest = widest[-1:]
        return tuple(sorted(widest))


def _data(table: LiteralTable) -> NearData:
    widest = int(table.cards.max(initial=1)) + 2
    return NearData(
        table.ranks,
        table.weights.astype(np.int64),
        table.kinds,
        table.cards,
        np.zeros(0, np.int64),
        *(np.zeros(widest, np.int64) for _ in range(3)),
    )


def _work(table: LiteralTable, variables: int) -> NearWork:
    rows = len(table.rows)
    most = max(FEWEST_CELLS, CELLS_OF_A_ROW * rows)
    return NearWork(
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(2 * most + 2, np.int64),
        np.zeros(rows, np.uint8),
        np.zeros(variables, np.int64),
        np.zeros((DEPTH, variables + 1, 4), np.int64),
        np.zeros((variables + 1, 4), np.int64),
        np.zeros((variables, 2), np.int64),
        most,
    )


def _found(table: LiteralTable, variables: int, members: int) -> NearFound:
    return NearFound(
        np.zeros((variables, 4), np.int64),
        np.zeros(1, np.int64),
        np.zeros((variables, 2), np.int64),
        np.zeros(len(table.rows), np.int64),
        np.zeros((members, variables, 2), np.int32),
        np.zeros(members, np.int64),
    )
