"""A raw table -> typed columns and a target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import cleaner, kinds, reader, store
from fsm_hpc.data.columns import Column, Kind, one_hot, same_name
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn
from fsm_hpc.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Dataset:
    """A table that a fold can be learnt from: one-hot columns and a truth value for each row."""

    name: str
    columns: tuple[Column, ...]
    labels: NDArray[np.bool_]
    target: str
    positive: str
    negative: str
    dropped_rows: int
    notes: tuple[str, ...] = ()
    path: Path | None = None
    place: str = ""
    kinds: tuple[tuple[str, RawKind], ...] = ()  # of the columns in the file

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what a solver or a baseline gets to see, wherever the file was."""
        digest = hashlib.sha256(f"{self.target}\0{self.positive}\0{self.rows}".encode())
        digest.update(np.packbits(self.labels).tobytes())
        for column in self.columns:
            named = f"\0{column.name}\0{column.kind.value}\0{column.source}\0{column.category}\0"
            digest.update(named.encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        return digest.hexdigest()

    def table(self) -> pd.DataFrame:
        """The one-hot table with numbers as they are, for the baselines."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame({c.name: c.values for c in self.columns})
        return frame

    def phrases(self) -> dict[str, tuple[str, str]]:
        """How a Boolean column is said in words: (its source, its category)."""
        return {
            c.name: (c.source or c.name, c.category or "true")
            for c in self.columns
            if c.kind is Kind.BOOLEAN
        }


def load(spec: DatasetSpec, data_dir: Path | None, allow_changed_data: bool = False) -> Dataset:
    """The table of a dataset config, checked, without missing values, one-hot."""
    found = store.find(spec, data_dir, allow_changed_data)
    raw = reader.read(found.content, found.path, spec)
    dataset = from_table(raw, spec)
    return replace(dataset, path=found.path, place=found.place)


def from_table(raw: RawTable, spec: DatasetSpec) -> Dataset:
    """Columns as the spec lists them, rows with missing values dropped and counted."""
    names = cleaner.used_columns(raw, spec)
    kept, missing = cleaner.complete_rows(raw, (*names, spec.target), spec)
    texts = {name: _kept(raw, name, kept) for name in (*names, spec.target)}
    labels, positive, negative = cleaner.labels(texts[spec.target], spec)
    kinds = tuple((name, _kind(texts[name], spec)) for name in names)
    columns = tuple(c for name, kind in kinds for c in _columns(texts[name], kind, spec))
    _refuse_same_names(columns, raw.path)
    dropped = raw.rows - len(kept)
    table = Dataset(
        spec.name, columns, labels, spec.target, positive, negative, dropped, kinds=kinds
    )
    return replace(table, notes=(*raw.notes, *_notes(table, spec, texts, missing)))


# ------------------------------------------------------------------------------------ columns


def _kept(raw: RawTable, name: str, kept: Sequence[int]) -> TextColumn:
    values = raw.columns[name]
    return TextColumn(raw.path, name, [values[row] for row in kept], [row + 1 for row in kept])


def _kind(column: TextColumn, spec: DatasetSpec) -> RawKind:
    for kind in RawKind:
        if column.name in getattr(spec, kind.value):
            return kind
    return kinds.infer(column, spec)


def _columns(text: TextColumn, kind: RawKind, spec: DatasetSpec) -> Iterator[Column]:
    if kind is RawKind.NUMERIC:
        yield Column(text.name, Kind.NUMERIC, kinds.numbers(text, spec))
    elif kind is RawKind.BOOLEAN:
        yield Column(text.name, Kind.BOOLEAN, kinds.truths(text, spec))
    else:
        values = np.array(text.values, dtype=object)
        yield from one_hot(text.name, kinds.categories(text, spec), values)


def _refuse_same_names(columns: Iterable[Column], path: Path) -> None:
    twins = same_name(columns)
    if twins is not None:
        sources = " and ".join(repr(c.source or c.name) for c in twins)
        raise UserError(
            f"{path}: expected different column names after one-hot, found {twins[0].name!r} "
            f"twice, from {sources}; rename one of them"
        )


# -------------------------------------------------------------------------------------- notes


def _notes(
    table: Dataset,
    spec: DatasetSpec,
    texts: Mapping[str, TextColumn],
    missing: Mapping[str, int],
) -> Iterator[str]:
    """What a user should know about the table before believing a formula."""
    if spec.infer:
        classes = f"true where it is {table.positive}, false where {table.negative}"
        yield f"target: {table.target} is {classes}"
        for kind in RawKind:
            names = [name for name, found in table.kinds if found is kind]
            yield f"{kind.value}: {', '.join(names) or 'none'}"
    if table.dropped_rows:
        cells = ", ".join(f"{name} {count}" for name, count in missing.items())
        yield f"{table.dropped_rows} rows with missing values dropped ({cells})"
    if spec.infer:
        for name, kind in table.kinds:
            yield from _doubts(texts[name], kind)


def _doubts(text: TextColumn, kind: RawKind) -> Iterator[str]:
    distinct = text.distinct
    todo = f"leave it out with {text.setting('drop')}"
    if len(distinct) == 1:
        yield f"{text.name} is constant ({distinct[0]}) and of no use; {todo}"
    elif len(distinct) == len(text.values) > 9 and (
        kind is RawKind.CATEGORICAL or all(value.isdecimal() for value in distinct)
    ):
        yield f"{text.name} has another value in every row; if it is an id, {todo}"
    if kind is RawKind.CATEGORICAL:
        for group in kinds.spellings(distinct):
            yield f"{text.name}: {' and '.join(group)} count as different categories"
