"""The arrays of one thread that searches the near-optimal set."""

from __future__ import annotations

import numpy as np

from fsm_hpc.search.near_optimal.literals import LiteralTable
from fsm_hpc.search.solvers.native.kernels.near_boxes import COUNT
from fsm_hpc.search.solvers.native.kernels.shapes import NearData, NearFound, NearOut, NearWork
from fsm_hpc.search.solvers.native.table import Array

CELLS_OF_A_ROW = 4  # a plane of so many cells for each row costs about what its rows do
FEWEST_CELLS = 1 << 10
BUFFER = 256  # families that a kernel finds before it comes back
DEPTH = 640  # boxes on the stack: two ends of every variable, halved some thirty times


def data_of(table: LiteralTable, mode: int = COUNT, second: Array | None = None) -> NearData:
    widest = int(table.cards.max(initial=1)) + 2
    return NearData(
        table.ranks,
        table.weights,
        table.kinds,
        table.cards,
        np.zeros(len(table.rows), np.int64) if second is None else second.astype(np.int64),
        mode,
        np.zeros(widest, np.int64),
        np.zeros(widest, np.int64),
        np.zeros(widest, np.int64),
    )


def work_of(table: LiteralTable, variables: int) -> NearWork:
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
        np.zeros(variables, np.int64),
        np.zeros((len(table.columns), 2), np.bool_),
        most,
    )


def found_of(table: LiteralTable, variables: int, members: int = 0) -> NearFound:
    return NearFound(
        np.zeros((variables, 4), np.int64),
        np.zeros(1, np.int64),
        np.zeros((variables, 2), np.int64),
        np.zeros(len(table.rows), np.int64),
        np.zeros((members, variables, 2), np.int32),
        np.zeros(members, np.int64),
    )


def out_of(table: LiteralTable, variables: int) -> NearOut:
    return NearOut(
        np.zeros((BUFFER, variables), np.int32),
        np.zeros(BUFFER, np.int64),
        np.zeros(BUFFER, np.int64),
        np.zeros((BUFFER, variables, 4), np.int32),
        np.zeros((BUFFER, variables, 2), np.int32),
        np.zeros(len(table.rows), np.int64),
        np.zeros(1, np.int64),
    )
