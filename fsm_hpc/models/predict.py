"""Apply a rule to a table in a file: every row's answer, and how often such answers were right."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fsm_hpc.data import convention, reader, store
from fsm_hpc.data.dataset import columns_with_missing, missing_texts
from fsm_hpc.data.raw import RawColumn, RawTable, text_array
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.models.model import Model
from fsm_hpc.system import files
from fsm_hpc.system.numbers import counted

COLUMNS = ("prediction", "training_precision")
STANDARD = "-"  # standard input, or output


@dataclass(frozen=True)
class Predicted:
    """The table with the answers as its last columns, and what its user should know."""

    table: Any  # of Arrow
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.table.to_pylist()]


def predict(model: Model, place: str, spec: DatasetSpec) -> Predicted:
    """The rows of a table with their answers; those that miss a value they need get none."""
    raw = read(place, spec)
    taken = [name for name in COLUMNS if name in raw.columns]
    if taken:
        raise UserError(f"{place}: it has a column {taken[0]!r} already; rename or remove it")
    columns = _columns(model, raw, spec)
    chosen, reading = model.read(columns, raw.rows)
    notes = [*raw.notes, *missing_texts(raw, columns), *reading.notes]
    if reading.missing.any():
        count = int(reading.missing.sum())
        notes.append(f"no prediction for {count} of {counted(raw.rows, 'row')}")
    return Predicted(_with_answers(raw, model, chosen, reading.missing), tuple(notes))


def _columns(model: Model, raw: RawTable, spec: DatasetSpec) -> Mapping[str, RawColumn]:
    """The columns that the rule reads, with cells that mean "missing" as missing ones."""
    needed = [source.name for source in model.sources if source.name in raw.columns]
    fitted = replace(
        spec.with_kinds({s.name: (s.kind, s.categories) for s in model.sources}),
        missing_values=(*spec.missing_values, *model.reading.get("missing_values", ())),
        zero_is_missing=tuple(model.reading.get("zero_is_missing", ())),
    )
    sign = convention.find(raw, needed, fitted)
    return columns_with_missing(raw, needed, fitted, sign)


def _with_answers(raw: RawTable, model: Model, chosen: Any, missing: Any) -> Any:
    """The columns of the table, as Arrow has them, and the answers."""
    import pyarrow

    table = raw.native
    if table is None:
        columns = {name: _as_arrow(column) for name, column in raw.columns.items()}
        table = pyarrow.table(columns)
    answers = model.answers(chosen)
    answers[missing] = None
    shares = model.shares_of(chosen).round(4)
    types = {type(answer) for answer in answers[~missing]}
    if types <= {str} or len(types) > 1:
        given = text_array([None if answer is None else str(answer) for answer in answers])
    else:
        given = pyarrow.array(answers)
    table = table.append_column(COLUMNS[0], [given])
    return table.append_column(COLUMNS[1], [pyarrow.array(shares, mask=missing)])


def _as_arrow(column: RawColumn) -> Any:
    import pyarrow

    if column.codes is None:
        return pyarrow.array(column.values, mask=column.missing)
    codes = pyarrow.array(column.codes, mask=column.missing)
    return pyarrow.DictionaryArray.from_arrays(codes, column.values).cast(pyarrow.string())


def write(predicted: Predicted, place: str, say: Callable[[str], None]) -> None:
    """As CSV, or as Parquet where the file is called so."""
    import pyarrow.parquet

    path = Path(place)
    if place == STANDARD:
        _write_csv(predicted, sys.stdout)
    elif place.endswith(".parquet"):
        with files.errors_with_path(path):
            pyarrow.parquet.write_table(predicted.table, path)
    else:
        with files.errors_with_path(path), path.open("w", encoding="utf-8", newline="") as stream:
            _write_csv(predicted, stream)
    for note in predicted.notes:
        say(note)


def _write_csv(predicted: Predicted, stream: Any) -> None:
    predicted.table.to_pandas().to_csv(stream, index=False, lineterminator="\n")


def read(place: str, spec: DatasetSpec) -> RawTable:
    path = Path("standard input" if place == STANDARD else place)
    if place == STANDARD:
        content = store.decompress(sys.stdin.buffer.read(), path)
    elif not path.is_file():
        raise UserError(f"{place}: there is no such file")
    else:
        content = store.read_bytes(path)
    return reader.read(content, path, spec)
