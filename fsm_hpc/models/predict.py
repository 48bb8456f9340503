"""Apply a rule to a table in a file: every row's answer, and how often such answers were right."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fsm_hpc.data import cleaner, convention, reader, store
from fsm_hpc.data.dataset import missing_texts
from fsm_hpc.data.decimal_sign import DecimalSign
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.reader import RawTable
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.models.model import Model
from fsm_hpc.system import files
from fsm_hpc.system.numbers import counted

Cells = dict[str, list[str | None]]  # column -> its cells, None where there is no value
COLUMNS = ("prediction", "share")
STANDARD = "-"  # standard input, or output


@dataclass(frozen=True)
class Predicted:
    """The table's columns and the answers, with what its user should know."""

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    notes: tuple[str, ...]


def predict(model: Model, place: str, spec: DatasetSpec) -> Predicted:
    """The rows of a table with their answers; those that miss a value they need get none."""
    raw = _read(place, spec)
    taken = [name for name in COLUMNS if name in raw.columns]
    if taken:
        raise UserError(f"{place}: it has a column {taken[0]!r} already; rename or remove it")
    values, read_as_missing = _values(model, raw, spec)
    chosen, reading = model.read(values, raw.rows)
    answers = model.answers(chosen).tolist()
    shares = [f"{share:.4f}" for share in model.shares_of(chosen).tolist()]
    for row in reading.gaps.nonzero()[0].tolist():
        answers[row], shares[row] = "", ""
    notes = list(reading.notes)
    if reading.gaps.any():
        notes.append(f"no prediction for {int(reading.gaps.sum())} of {counted(raw.rows, 'row')}")
    cells = zip(*raw.columns.values(), answers, shares, strict=True)
    return Predicted((*raw.columns, *COLUMNS), list(cells), (*raw.notes, *read_as_missing, *notes))


def _values(model: Model, raw: RawTable, spec: DatasetSpec) -> tuple[Cells, Iterable[str]]:
    """The cells that the rule reads, numbers as Python writes them, and texts read as missing."""
    numeric = {s.name for s in model.sources if s.kind is RawKind.NUMERIC} - set(raw.typed)
    sign = convention.find(raw, numeric & raw.columns.keys(), spec)
    needed = {source.name for source in model.sources}
    missing = cleaner.gaps(raw, needed, _as_fitted(model, spec), sign)
    table: Cells = {}
    for name, cells in raw.columns.items():
        way = sign if name in numeric else None
        texts = {cell: _pointed(cell, way) for cell in set(cells)} if name in needed else {}
        gaps = missing[name].tolist() if name in needed else []
        table[name] = [None if gap else texts[cell] for cell, gap in zip(cells, gaps, strict=False)]
    return table, missing_texts(raw, missing)


def _pointed(cell: str | None, sign: DecimalSign | None) -> str | None:
    if cell is None or sign is None or not sign.reads(cell):
        return cell
    return sign.pointed(cell)


def _as_fitted(model: Model, spec: DatasetSpec) -> DatasetSpec:
    """What counts as missing: as in this table, and as in the fitted one."""
    return replace(
        spec,
        missing_values=(*spec.missing_values, *model.reading.get("missing_values", ())),
        zero_is_missing=tuple(model.reading.get("zero_is_missing", ())),
        categorical=tuple(s.name for s in model.sources if s.kind is RawKind.CATEGORICAL),
    )


def write(predicted: Predicted, place: str, say: Callable[[str], None]) -> None:
    """As CSV, or as Parquet where the file is called so."""
    if place.endswith(".parquet"):
        _write_parquet(predicted, Path(place))
    elif place == STANDARD:
        _write_csv(predicted, sys.stdout)
    else:
        path = Path(place)
        with files.naming(path), path.open("w", encoding="utf-8", newline="") as stream:
            _write_csv(predicted, stream)
    for note in predicted.notes:
        say(note)


def _read(place: str, spec: DatasetSpec) -> RawTable:
    path = Path("standard input" if place == STANDARD else place)
    if place == STANDARD:
        content = store.decompress(sys.stdin.buffer.read(), path)
    elif not path.is_file():
        raise UserError(f"{place}: there is no such file")
    else:
        content = store.read_bytes(path)
    return reader.read(content, path, spec)


def _write_csv(predicted: Predicted, stream: io.TextIOBase | Any) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(predicted.header)
    writer.writerows(predicted.rows)


def _write_parquet(predicted: Predicted, path: Path) -> None:
    import pandas as pd

    columns = dict(zip(predicted.header, zip(*predicted.rows, strict=True), strict=True))
    answers = [None if answer == "" else answer for answer in columns["prediction"]]
    frame = pd.DataFrame(columns | {"prediction": answers})
    frame["share"] = pd.to_numeric(frame["share"])
    try:
        with files.naming(path):
            frame.to_parquet(path, index=False)
    except ImportError:
        raise UserError(
            f"{path}: Parquet needs pyarrow; install fsm_hpc[parquet], or write CSV"
        ) from None
