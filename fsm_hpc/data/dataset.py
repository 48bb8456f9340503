"""A raw table -> typed columns and a target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import answers, cleaner, convention, kinds, reader, store
from fsm_hpc.data.columns import Column, Kind, one_hot, same_names
from fsm_hpc.data.complaints import Complaints
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn, setting

if TYPE_CHECKING:
    import pandas as pd

_MUCH = 0.2  # of the rows: losing more to missing values is worth a warning
_SHOWN_GAPS = 10


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
    groups: NDArray[Any] | None = None  # of the rows, where folds keep groups whole
    kept_rows: Sequence[int] = ()  # of the file, from 0
    own_labels: NDArray[np.bool_] | None = None  # of the target, where others stand in its place
    # of Boolean columns: how the file says true, and false
    truth_words: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

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
    raw = reader.inspect(found.content, found.path, spec)
    dataset = replace(from_table(raw, spec), path=found.path, place=found.place)
    if spec.labels is None:
        return dataset
    classes = (dataset.negative, dataset.positive)
    theirs = answers.read(Path(spec.labels).expanduser(), raw.rows, dataset.kept_rows, classes)
    return replace(dataset, labels=theirs, own_labels=dataset.labels)


def from_table(raw: RawTable, spec: DatasetSpec) -> Dataset:
    """Columns as the spec lists them, rows with missing values dropped and counted.

    Whatever is wrong with the table is told at once.
    """
    complaints = Complaints(raw.path, raw.problems)
    cleaner.check_settings(spec, complaints)
    names = cleaner.used_columns(raw, spec, complaints)
    if not raw.rows:
        raise complaints.error()
    sign = labelled = None
    with complaints.heard():
        sign = convention.find(raw, names, spec)
    missing = cleaner.gaps(raw, {*names, spec.target} - raw.unreadable, spec, sign)
    kept = cleaner.complete_rows(raw, missing, spec, complaints)
    texts = _texts(raw, missing, kept)
    if spec.target in texts:
        with complaints.heard():
            labelled = cleaner.labels(texts[spec.target], spec, complaints)
    kinds: list[tuple[str, RawKind]] = []
    columns: list[Column] = []
    for text in (texts[name] for name in names if name in texts):
        with complaints.heard():
            way = DecimalSign.POINT if text.name in raw.typed else sign
            kind = _kind(text, spec, way)
            columns += _columns(text, kind, spec, way)
            kinds.append((text.name, kind))
    _complain_of_same_names(columns, raw.path, complaints)
    complaints.settle()
    assert labelled is not None
    assert kept is not None
    labels, positive, negative = labelled
    groups = None if spec.group is None else np.array(raw.columns[spec.group])[kept]
    table = Dataset(
        spec.name,
        tuple(columns),
        labels,
        spec.target,
        positive,
        negative,
        dropped_rows=raw.rows - len(kept),
        kinds=tuple(kinds),
        groups=groups,
        kept_rows=kept.tolist(),
        truth_words={c.name: _truth_words(texts[c.name], c) for c in columns if c.name in texts},
    )
    told = _notes(table, spec, texts, cleaner.worst_first(missing), sign)
    return replace(table, notes=(*raw.notes, *told))


# ------------------------------------------------------------------------------------ columns


def _texts(
    raw: RawTable, missing: cleaner.Gaps, kept: NDArray[np.int64] | None
) -> dict[str, TextColumn]:
    """The columns in the rows to keep; where there are none, each in the rows that it has."""
    texts = {}
    for name, gaps in missing.items():
        rows = (np.flatnonzero(~gaps) if kept is None else kept).tolist()
        cells = [raw.columns[name][row] for row in rows]
        numbers = [raw.row_numbers[row] for row in rows]
        if rows:
            texts[name] = TextColumn(raw.path, name, cells, numbers)
    return texts


def _kind(column: TextColumn, spec: DatasetSpec, sign: DecimalSign | None) -> RawKind:
    for kind in RawKind:
        if column.name in getattr(spec, kind.value):
            return kind
    return kinds.infer(column, sign)


def _columns(
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


def _truth_words(text: TextColumn, column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if column.kind is not Kind.BOOLEAN or column.source is not None:
        return (), ()
    said = dict(zip(text.values, column.values.tolist(), strict=True))
    true, false = ([word for word, truth in said.items() if truth is t] for t in (True, False))
    return tuple(sorted(true)), tuple(sorted(false))


def _complain_of_same_names(columns: Iterable[Column], path: Path, complaints: Complaints) -> None:
    for twins in same_names(columns):
        sources = " and ".join(repr(c.source or c.name) for c in twins)
        complaints.add(
            f"{path}: expected different column names after one-hot, found {twins[0].name!r} "
            f"twice, from {sources}; rename one of them"
        )


# -------------------------------------------------------------------------------------- notes


def _notes(
    table: Dataset,
    spec: DatasetSpec,
    texts: Mapping[str, TextColumn],
    missing: Mapping[str, int],
    sign: DecimalSign | None,
) -> Iterator[str]:
    """What a user should know about the table before believing a formula."""
    if spec.infer:
        classes = f"true where it is {table.positive}, false where {table.negative}"
        yield f"target: {table.target} is {classes}"
        for kind in RawKind:
            names = [name for name, found in table.kinds if found is kind]
            yield f"{kind.value}: {', '.join(names) or 'none'}"
    if sign is DecimalSign.COMMA:
        yield "numbers are read with decimal commas: 1.234,5 is 1234.5"
    if table.dropped_rows:
        yield _loss(table, spec, missing)
    if spec.infer:
        for name, kind in table.kinds:
            yield from _doubts(texts[name], kind)


def _loss(table: Dataset, spec: DatasetSpec, missing: Mapping[str, int]) -> str:
    """What missing values cost; a warning where it is much."""
    lost, rows = table.dropped_rows, table.rows + table.dropped_rows
    cells = [f"{name} {count}" for name, count in missing.items()]
    more = [f"{len(cells) - _SHOWN_GAPS} more columns"] if len(cells) > _SHOWN_GAPS else []
    shown = ", ".join([*cells[:_SHOWN_GAPS], *more])
    if lost <= _MUCH * rows:
        return f"{lost} rows with missing values dropped ({shown})"
    worst = next((name for name in missing if name != table.target), None)
    listed = worst is not None and worst in (*spec.numeric, *spec.boolean, *spec.categorical)
    todo = "; leave such a column out with "
    todo += "dataset.drop instead of listing its kind" if listed else setting("drop", worst or "")
    return (
        f"warning: {100 * lost / rows:.0f} % of the rows ({lost} of {rows}) are dropped for "
        f"missing values: {shown}{todo if worst else ''}"
    )


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
