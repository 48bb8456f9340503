"""Which literals of a table are told apart, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from fsm_hpc.search.solvers.native.decoder import Literal, holds
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL, POINT, SUFFIX
from fsm_hpc.search.solvers.native.table import KernelTable

FREE = -1  # the owner of a literal that may be combined with any other


class ListedLiteral(NamedTuple):
    """A literal, and the numeric column of which a formula may have only one."""

    place: Literal
    owner: int


def list_literals(table: KernelTable) -> Iterator[ListedLiteral]:
    """Those that differ on some row; under constraints all of them, as columns then differ."""
    return _all_of(table) if table.bounds.is_any else _different(table)


def _different(table: KernelTable) -> Iterator[ListedLiteral]:
    free = {np.packbits(np.ones(len(table.rows), bool)).tobytes()}
    nowhere = np.packbits(np.zeros(len(table.rows), bool)).tobytes()
    for index, literals in groupby(_candidates(table), key=itemgetter(0)):
        is_numeric = table.columns[index].kind != POINT
        seen = {nowhere}
        for literal in literals:
            rows = np.packbits(holds(table, literal)).tobytes()
            if is_numeric and (rows in free or rows in seen):
                continue  # a literal that may be combined with any other is as good
            seen.add(rows)
            if not is_numeric:
                free.add(rows)
            yield ListedLiteral(literal, index if is_numeric else FREE)
    yield from (ListedLiteral(literal, FREE) for literal in _constants(table))


def _all_of(table: KernelTable) -> Iterator[ListedLiteral]:
    """Literals of two columns are not as good as each other."""
    for index in table.places.tolist():
        column, seen = table.columns[index], set()
        is_numeric = column.kind != POINT
        ends = column.literals if is_numeric else ((v, v) for v in range(1, column.card))
        for low, high in ends:
            rows = holds(table, (index, low, high)).tobytes()
            if not is_numeric or rows not in seen:
                seen.add(rows)
                yield ListedLiteral((index, low, high), index if is_numeric else FREE)


def _candidates(table: KernelTable) -> Iterator[Literal]:
    """Every literal that holds on some rows and not on others, column by column."""
    for index in table.places.tolist():
        column = table.columns[index]
        if column.kind == POINT:
            yield from ((index, value, value) for value in range(1, column.card))
        elif column.kind == SUFFIX:
            yield from ((index, value, column.card - 1) for value in column.values[1:])
        elif column.step > 1:
            yield from ((index, *ends) for ends in column.literals)
        else:
            held = [value for value in column.values if value >= column.floor]
            yield from ((index, *ends) for ends in combinations_with_replacement(held, 2))


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
