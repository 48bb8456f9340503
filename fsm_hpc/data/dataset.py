"""Convert a raw table into typed columns and a target."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data import answers, cleaner, convention, reader, store
from fsm_hpc.data.columns import Column, same_names
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.errors import (
    COMMAND_LINE,
    MOST_LISTED,
    ErrorCollector,
    assignment,
    setting,
)
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import KINDS, ColumnSchema, Reading, schema_of, texts
from fsm_hpc.data.raw import RawColumn, RawTable, Rows
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import shortened
from fsm_hpc.system.numbers import counted, listed

if TYPE_CHECKING:
    import pandas as pd

_MUCH = 0.2  # of the rows: losing more to missing values is worth a warning
_SHOWN_MISSING = 10
READ_AS_MISSING = "read as missing"
_ALWAYS_NOTED = (KindName.NUMERIC, KindName.BOOLEAN, KindName.CATEGORICAL)


@dataclass(frozen=True)
class Dataset:
    """A table to fit formulas on: one-hot columns and a truth value for each row."""

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
    schemas: tuple[ColumnSchema, ...] = ()  # of the columns in the file
    groups: NDArray[Any] | None = None  # of the rows, where folds keep groups whole
    weights: NDArray[np.float64] | None = None  # of the rows, none of them 0
    kept_rows: Sequence[int] = ()  # of the file, from 0
    own_labels: NDArray[np.bool_] | None = None  # of the target, if other labels replace it
    keeps_missing: bool = False  # whether rows with missing values are among the rows

    @property
    def rows(self) -> int:
        return len(self.labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content that solvers and baselines use, independent of the file."""
        digest = hashlib.sha256(f"{self.target}\0{self.positive}\0{self.rows}".encode())
        digest.update(np.packbits(self.labels).tobytes())
        for column in self.columns:
            named = f"\0{column.name}\0{column.kind.value}\0{column.source}\0{column.category}\0"
            digest.update(named.encode())
            digest.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
        if self.weights is not None:
            digest.update(b"\0weights\0" + self.weights.tobytes())
        return digest.hexdigest()

    def table(self) -> pd.DataFrame:
        """The one-hot table with numbers as they are, for the baselines."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame({c.name: c.values for c in self.columns})
        return frame

    def schemas_of(self, used: Collection[str]) -> tuple[ColumnSchema, ...]:
        """The columns of the file that a formula over these one-hot columns needs."""
        return tuple(schema for schema in self.schemas if set(schema.names) & set(used))

    def phrases(self) -> dict[str, tuple[str, str]]:
        """The words for each Boolean column: (its source, its category)."""
        return {name: words for s in self.schemas for name, words in s.phrases.items()}


def load(spec: DatasetSpec, data_dir: Path | None, allow_changed_data: bool = False) -> Dataset:
    """The table of a dataset config, checked, without missing values, one-hot."""
    file = store.find(spec, data_dir, allow_changed_data)
    raw = reader.inspect(file.content, file.path, spec)
    dataset = replace(from_table(raw, spec), path=file.path, place=file.place)
    if spec.labels is None:
        return dataset
    classes = (dataset.negative, dataset.positive)
    labels = answers.read(Path(spec.labels).expanduser(), raw.rows, dataset.kept_rows, classes)
    return replace(dataset, labels=labels, own_labels=dataset.labels)


def target_values(
    spec: DatasetSpec, data_dir: Path | None, allow_changed_data: bool = False
) -> list[str]:
    """The distinct values of the target, sorted; none if it is no column of the table."""
    file = store.find(spec, data_dir, allow_changed_data)
    raw = reader.inspect(file.content, file.path, spec)
    if spec.target not in raw.columns:
        return []
    errors = ErrorCollector(raw.path)  # reported by `load`
    names = cleaner.used_columns(raw, spec, errors)
    columns = columns_with_missing(raw, {*names, spec.target}, spec, None)
    known = _known(columns, cleaner.complete_rows(raw, columns, spec, errors))
    return texts.in_order(known[spec.target].texts) if spec.target in known else []


def from_table(raw: RawTable, spec: DatasetSpec) -> Dataset:
    """Columns of the kinds in the spec, without rows that have missing values.

    One error lists all problems of the table.
    """
    errors = ErrorCollector(raw.path, raw.problems)
    cleaner.check_settings(spec, errors)
    names = cleaner.used_columns(raw, spec, errors)
    if not raw.rows:
        raise errors.error()
    sign = labelled = weights = None
    with errors.collected():
        weight = (spec.weight,) if spec.weight is not None else ()
        sign = convention.find(raw, (*names, *weight), spec)
    columns = columns_with_missing(raw, {*names, spec.target, *weight}, spec, sign)
    kept = cleaner.complete_rows(raw, columns, spec, errors)
    keeps_missing = spec.missing == "keep" and kept is not None
    complete = 0 if kept is None else len(kept)
    with errors.collected():
        weights, kept = _weighed(columns, kept, spec)
    known = _known(columns, kept)
    if keeps_missing:
        _report_empty(raw.path, names, known, errors)
    if spec.target in known:
        with errors.collected():
            labelled = cleaner.labels(known[spec.target], spec, errors)
    schemas: dict[ColumnSchema, list[Column]] = {}
    for name in (name for name in names if name in known):
        with errors.collected():
            schema = replace(schema_of(known[name], spec), keeps_missing=keeps_missing)
            schemas[schema] = _columns(schema, columns[name], kept, sign)
    one_hot = [column for own_columns in schemas.values() for column in own_columns]
    _report_same_names(one_hot, raw.path, errors)
    errors.raise_if_any()
    assert labelled is not None
    assert kept is not None
    labels, positive, negative = labelled
    table = Dataset(
        spec.name,
        tuple(one_hot),
        labels,
        spec.target,
        positive,
        negative,
        dropped_rows=raw.rows - complete,
        schemas=tuple(schemas),
        groups=None if spec.group is None else raw.columns[spec.group].text_by_row()[kept],
        weights=weights,
        kept_rows=kept.tolist(),
        keeps_missing=keeps_missing,
    )
    missing = {name: column.missing for name, column in columns.items()}
    notes = (*missing_texts(raw, columns), *raw.notes) if spec.infer else raw.notes
    notes += tuple(_notes(table, spec, known, cleaner.worst_first(missing), sign))
    if complete > table.rows:
        notes = (*notes, f"{counted(complete - table.rows, 'row')} of weight 0 left out")
    notes = (*_choice(table, spec, known), *notes)
    return replace(table, notes=tuple(map(shortened, notes)))


# ------------------------------------------------------------------------------------ columns


def columns_with_missing(
    raw: RawTable, names: Collection[str], spec: DatasetSpec, sign: DecimalSign | None
) -> dict[str, RawColumn]:
    """The named columns in the order of the file, with all that means "missing" as missing."""
    readable = [c for n, c in raw.columns.items() if n in names and c.is_readable]
    signed = (c if c.is_typed or c.sign is sign else replace(c, sign=sign) for c in readable)
    return {column.name: cleaner.with_missing(column, spec) for column in signed}


def _known(columns: Mapping[str, RawColumn], kept: Rows | None) -> dict[str, RawColumn]:
    """The known values of each column, in the kept rows if there are some."""
    known = {n: (c if kept is None else c.take(kept)).known() for n, c in columns.items()}
    return {name: column for name, column in known.items() if column.rows}


def _columns(
    schema: ColumnSchema, column: RawColumn, kept: Rows | None, sign: DecimalSign | None
) -> list[Column]:
    if kept is None or (sign is None and not column.is_typed):  # reported already
        return []
    columns = schema.columns(column.take(kept), Reading(len(kept)))
    return [c for c in columns if not c.is_missing_indicator or c.values.any()]


def _report_empty(
    path: Path, names: Iterable[str], known: Mapping[str, RawColumn], errors: ErrorCollector
) -> None:
    for name in names:
        if name not in known:
            errors.add(
                f"{path}: column {name!r}: expected values, found none; leave it out with "
                f"{setting('drop', name)}"
            )


def _weighed(
    columns: Mapping[str, RawColumn], kept: Rows | None, spec: DatasetSpec
) -> tuple[NDArray[np.float64] | None, Rows | None]:
    """The positive weights, and their rows; rows without a weight are not used."""
    if spec.weight is None or spec.weight not in columns or kept is None:
        return None, kept
    column = columns[spec.weight]
    kept = kept[~column.missing[kept]]
    weights = cleaner.weights(column.take(kept))
    return weights[weights > 0], kept[weights > 0]


def _report_same_names(columns: Iterable[Column], path: Path, errors: ErrorCollector) -> None:
    for pair in same_names(columns):
        sources = " and ".join(repr(c.source or c.name) for c in pair)
        errors.add(
            f"{path}: expected different column names after one-hot, found {pair[0].name!r} "
            f"twice, from {sources}; rename one of them"
        )


# -------------------------------------------------------------------------------------- notes


def _choice(table: Dataset, spec: DatasetSpec, known: Mapping[str, RawColumn]) -> Iterator[str]:
    """The class that the rule predicts, with the reason if the table determines it."""
    if not spec.infer:
        return
    yes, no = table.positive, table.negative
    is_chosen = spec.positive is None and spec.negative is None
    if is_chosen and cleaner.rarer_text(known[table.target]) == yes:
        yes = f"{yes} (the rarer class, {int(table.labels.sum())} of {counted(table.rows, 'row')})"
        no = f"{no}; to swap them set {assignment('positive', no)}"
    yield f"target: {table.target} is true where it is {yes}, false where {no}"


def missing_texts(raw: RawTable, columns: Mapping[str, RawColumn]) -> Iterator[str]:
    """A note of the texts that were read as missing, by column."""
    removed = []
    for name, column in columns.items():
        rows = np.flatnonzero(column.missing & ~raw.columns[name].missing)
        if len(rows):
            texts_of_rows = Counter(raw.columns[name].as_text().take(rows).text_by_row())
            counts = texts_of_rows.most_common()
            removed += [f"{text!r} in {name} ({count})" for text, count in counts if text]
    if removed:
        remedy = "if these are values, set dataset.usual_missing_values=[]"
        yield f"{READ_AS_MISSING}: {listed(removed, _SHOWN_MISSING)}; {remedy}"


def _notes(
    table: Dataset,
    spec: DatasetSpec,
    known: Mapping[str, RawColumn],
    missing: Mapping[str, int],
    sign: DecimalSign | None,
) -> Iterator[str]:
    """Notes that help to judge a formula of the table."""
    if spec.infer:
        for kind in KindName:
            names = [schema.name for schema in table.schemas if schema.kind is kind]
            if names or kind in _ALWAYS_NOTED:
                yield f"{kind.value}: {listed(names) or 'none'}"
    if sign is DecimalSign.COMMA:
        yield "numbers are read with decimal commas: 1.234,5 is 1234.5"
    if table.keeps_missing:
        kept = {name: n for name, n in missing.items() if name != table.target}
        if kept:
            yield f"missing values are kept ({_cells(kept)}): no comparison holds on them"
        missing = {name: n for name, n in missing.items() if name == table.target}
    if table.dropped_rows:
        yield _loss(table, spec, missing)
    if spec.infer:
        doubts = [doubt for schema in table.schemas for doubt in _doubts(table, schema, known)]
        yield from doubts[:MOST_LISTED]
        if len(doubts) > MOST_LISTED:
            yield f"and {counted(len(doubts) - MOST_LISTED, 'more note')} of this kind"


def _loss(table: Dataset, spec: DatasetSpec, missing: Mapping[str, int]) -> str:
    """A note of the rows that missing values cost; a warning if they are many."""
    lost, rows = table.dropped_rows, table.rows + table.dropped_rows
    shown = _cells(missing)
    if lost <= _MUCH * rows:
        return f"{counted(lost, 'row')} with missing values dropped ({shown})"
    worst = next((name for name in missing if name != table.target), None)
    is_given = worst is not None and spec.kind_of(worst) is not None
    remedy = "; leave such a column out with "
    remedy += (
        "dataset.drop instead of listing its kind" if is_given else setting("drop", worst or "")
    )
    return (
        f"warning: {100 * lost / rows:.0f} % of the rows ({lost} of {rows}) are dropped for "
        f"missing values: {shown}{remedy if worst else ''}"
    )


def _cells(missing: Mapping[str, int]) -> str:
    return listed([f"{name} {count}" for name, count in missing.items()], _SHOWN_MISSING)


def _doubts(table: Dataset, schema: ColumnSchema, known: Mapping[str, RawColumn]) -> Iterator[str]:
    column = known[schema.name]
    columns = [c for c in table.columns if (c.source or c.name) == schema.name]
    distinct = column.first_texts(2)
    if len(distinct) == 1:
        remedy = COMMAND_LINE["drop"](schema.name)
        yield f"{schema.name} is constant ({distinct[0]}) and of no use; {remedy}"
    else:
        for doubt in KINDS[schema.kind].doubts(column, columns):
            yield doubt.replace("{drop}", COMMAND_LINE["drop"](schema.name))
