"""Make typed columns of a column of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import cleaner, kinds
from fsm_hpc.data.columns import Column, Kind, gap, one_hot
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn


def kind_of(
    column: TextColumn, spec: DatasetSpec, raw: RawTable, sign: DecimalSign | None
) -> RawKind:
    """As the settings list it, else as the file types it, else as its cells look."""
    for kind in RawKind:
        if column.name in getattr(spec, kind.value):
            return kind
    if column.name in raw.categories:
        return RawKind.CATEGORICAL
    if column.name in raw.typed:
        return RawKind.BOOLEAN if kinds.is_truth(column.distinct) else RawKind.NUMERIC
    return kinds.infer(column, sign)


def groups_of(cells: Iterable[str | None]) -> NDArray[Any]:
    return np.array([cell or "" for cell in cells])


def columns_of(
    text: TextColumn, kind: RawKind, spec: DatasetSpec, sign: DecimalSign | None
) -> Iterator[Column]:
    if kind is RawKind.NUMERIC:
        if sign is None:  # which is told, and no reason to say nothing of words among numbers
            kinds.require_numbers(text, None)
            return
        yield Column(text.name, Kind.NUMERIC, kinds.numbers(text, sign))
    elif kind is RawKind.BOOLEAN:
        yield Column(text.name, Kind.BOOLEAN, kinds.truths(text, spec))
    else:
        values = np.array(text.values, dtype=object)
        yield from one_hot(text.name, kinds.categories(text, spec), values)


def truth_words(text: TextColumn, column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if column.kind is not Kind.BOOLEAN or column.source is not None:
        return (), ()
    said = dict(zip(text.values, column.values.tolist(), strict=True))
    true, false = ([word for word, truth in said.items() if truth is t] for t in (True, False))
    return tuple(sorted(true)), tuple(sorted(false))


def with_gaps(
    name: str, columns: Iterable[Column], missing: cleaner.Gaps, kept: NDArray[np.int64]
) -> Iterator[Column]:
    """Columns of the rows that have a value as columns of all rows, and one of where it lacks."""
    holes = missing[name][kept]
    if not holes.any():
        yield from columns
        return
    for column in columns:
        is_number = column.kind is Kind.NUMERIC
        values = np.full(len(holes), np.nan) if is_number else np.zeros(len(holes), dtype=bool)
        values[~holes] = column.values
        yield replace(column, values=values)
    yield gap(name, holes)
