"""Which literals of a table are told apart, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Literal, holds
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.table import KernelColumn, KernelTable

FREE = -1  # the owner of a literal that may be combined with any other


class ListedLiteral(NamedTuple):
    """A literal, and the numeric column of which a formula may have only one."""

    place: Literal
    owner: int


def list_literals(table: KernelTable) -> Iterator[ListedLiteral]:
    """Literals that differ on some row; with constraints equal ones of two columns differ, too."""
    is_bound = bool(table.bounds.is_any)
    everywhere, nowhere = (np.full(len(table.rows), held).tobytes() for held in (True, False))
    free = set() if is_bound else {everywhere}
    for index in table.places.tolist():
        column = table.columns[index]
        is_numeric = column.kind != POINT
        seen = set() if is_bound else {nowhere}
        for low, high in _ends(column, is_bound):
            rows = holds(table, (index, low, high)).tobytes()
            if is_numeric and (rows in free or rows in seen):
                continue  # a literal that may be combined with any other is as good
            seen.add(rows)
            if not is_numeric and not is_bound:
                free.add(rows)
            yield ListedLiteral((index, low, high), index if is_numeric else FREE)
    if not is_bound:
        yield from (ListedLiteral(literal, FREE) for literal in _constants(table))


def _ends(column: KernelColumn, is_bound: bool) -> Iterable[tuple[int, int]]:
    """The ranks that each literal holds from and to; without constraints only ranks of rows."""
    if column.kind == POINT:
        return ((value, value) for value in range(1, column.card))
    if is_bound or column.step > 1:
        return column.literals
    if column.kind == SUFFIX:
        return ((value, column.card - 1) for value in column.values[1:])
    held = [value for value in column.values if value >= column.floor]
    return combinations_with_replacement(held, 2)


def _constants(table: KernelTable) -> Iterator[Literal]:
    """One cut that holds on every row, and one that holds on none, where columns have them."""
    numeric = [(i, c) for i, c in enumerate(table.columns) if c.kind != POINT]
    for index, column in numeric:
        if column.widest is not None:
            yield index, *column.widest
            break
    for index, column in numeric:
        if column.empty_at is not None:
            high = column.empty_at if column.kind == INTERVAL else column.card - 1
            yield index, column.empty_at, high
            return
