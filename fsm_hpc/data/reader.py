"""Read CSV or Parquet into columns of text, whatever its dialect."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
_SAMPLE_ROWS = 100
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_FOREIGN = {  # how other files open -> what they are
    b"<!DOC": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "XML",
    b"{": "JSON",
    b"[{": "JSON",
    b"%PDF": "a PDF",
    b"SQLite": "a SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x89HDF": "HDF5",
    b"ARROW1": "an Arrow or Feather file",
    b"ORC": "ORC",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"@relation": "ARFF",
    b"version https://git-lfs": "a Git LFS pointer, not the file that it stands for",
}


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns of text in the order of the file; a missing cell is the empty text."""

    path: Path
    columns: dict[str, list[str]]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def read(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """The table in the content of a file; every cell is stripped text."""
    if not content.strip(b"\xef\xbb\xbf \r\n\t"):
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    if content[:4] == b"PAR1":
        return _table(*_parquet_records(content, path), path, ())
    for magic, what in _FOREIGN.items():
        if content[:64].lower().startswith(magic.lower()):
            raise UserError(f"{path}: expected CSV or Parquet, found {what}")
    text, notes = _decode(content, path, spec.encoding)
    if spec.separator not in ("auto", *SEPARATORS):
        known = ", ".join(["auto", *SEPARATORS])
        raise UserError(f"dataset.separator: expected one of {known}, found {spec.separator!r}")
    announced = re.match(r"sep=(.)\r?\n", text)  # a first line that Excel writes
    if announced is not None:
        text = text[announced.end() :]
    chosen = SEPARATORS.get(spec.separator) or (announced[1] if announced else None)
    header, *rows = _records(text, chosen or _sniff(text), path)
    return _table(header, rows, path, notes)


# ------------------------------------------------------------------------------------- parts


def _decode(content: bytes, path: Path, encoding: str) -> tuple[str, tuple[str, ...]]:
    if encoding == "auto":
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif b"\0" in content[:4096]:
            raise UserError(f"{path}: expected CSV or Parquet, found bytes that are no text")
        else:
            try:
                return content.decode("utf-8-sig"), ()
            except UnicodeDecodeError:
                note = "not UTF-8, so read as Windows-1252; another one: dataset.encoding=NAME"
                return content.decode("cp1252", errors="replace"), (note,)
    try:
        return content.decode(encoding).removeprefix("\ufeff"), ()
    except LookupError as error:
        raise UserError(f"dataset.encoding: there is no encoding {encoding!r}") from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: expected {encoding} text, found other bytes at position {error.start}; "
            "name the right one with dataset.encoding=NAME"
        ) from error


def _sniff(text: str) -> str:
    """The separator that cuts the first rows into the same number of cells, as many as it can."""
    sample = text[:200_000]
    widths = {separator: _width(sample, separator) for separator in SEPARATORS.values()}
    best = max(",;\t|", key=lambda separator: widths[separator])
    return " " if widths[best] < 2 <= widths[" "] else best


def _width(sample: str, separator: str) -> float:
    lines = csv.reader(io.StringIO(sample), delimiter=separator, skipinitialspace=True)
    widths = []
    try:
        for record in lines:
            if record:
                widths.append(len(record))
            if len(widths) > _SAMPLE_ROWS:
                break
    except csv.Error:
        return 0
    if not widths:
        return 0
    agreeing = sum(width == widths[0] for width in widths) / len(widths)
    if separator == " ":  # words in a text are no columns: every row has to agree
        return widths[0] if agreeing == 1 and len(widths) > 1 else 1
    return widths[0] * agreeing


def _records(text: str, separator: str, path: Path) -> list[list[str]]:
    """Header and rows, all of the same width."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    records: list[list[str]] = []
    try:
        for record in reader:
            if not record or (len(record) == 1 and not record[0].strip() and records):
                continue
            if records and len(record) != len(records[0]):
                _refuse_width(path, reader.line_num, records[0], record, separator)
            records.append([cell.strip() for cell in record])
    except csv.Error as error:
        raise UserError(
            f"{path}: line {reader.line_num} cannot be read as CSV ({error}); expected quotes in "
            'pairs, with a quote inside a quoted cell written as ""'
        ) from error
    return records


def _refuse_width(
    path: Path, line: int, header: Sequence[str], record: Sequence[str], separator: str
) -> None:
    name = next(word for word, sign in (*SEPARATORS.items(), (separator,) * 2) if sign == separator)
    last = (
        f"column {header[len(record) - 1]!r} is the last"
        if len(record) < len(header)
        else (f"cell {record[len(header)]!r} is one too many")
    )
    raise UserError(
        f"{path}: expected {len(header)} cells in line {line} as in the header, found "
        f"{len(record)} ({last}); cells were cut at each {name}: quote cells that hold one, or set "
        "dataset.separator"
    )


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], path: Path, notes: tuple[str, ...]
) -> RawTable:
    names = [" ".join(name.split()) or f"column_{at}" for at, name in enumerate(header, start=1)]
    if len(names) < 2:
        raise UserError(
            f"{path}: expected a target and at least one more column, found one column "
            f"{names[0]!r}; if cells are cut by another sign, set dataset.separator"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice and not all(_NUMBER.fullmatch(name) for name in names):
        raise UserError(
            f"{path}: expected each column once, found {twice[0]!r} twice in the header"
        )
    if all(_NUMBER.fullmatch(name) for name in names):
        raise UserError(
            f"{path}: expected column names in the first line, found numbers "
            f"({', '.join(names[:4])}, ...); add a header line"
        )
    if not rows:
        raise UserError(f"{path}: expected rows below the header, found none")
    unnamed = tuple(n for n, given in zip(names, header, strict=True) if not given)
    told = (f"columns without a name are called {', '.join(unnamed)}",) if unnamed else ()
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return RawTable(path, columns, (*notes, *told))


def _parquet_records(content: bytes, path: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UserError(
            f"{path}: Parquet needs pyarrow; install fsm_hpc[parquet] or save the table as CSV"
        ) from error
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            f"{path}: the Parquet file is damaged ({str(error).splitlines()[0]})"
        ) from error
    # pandas keeps row labels in columns of this name
    table = table.select([n for n in table.column_names if not n.startswith("__index_level_")])
    names = [str(name).strip() for name in table.column_names]
    cells = [
        _texts(name, field, column.to_pylist(), path)
        for name, field, column in zip(names, table.schema, table.columns, strict=True)
    ]
    return names, list(zip(*cells, strict=True))


def _texts(name: str, field: Any, values: Sequence[Any], path: Path) -> list[str]:
    import pyarrow.types

    kind = field.type
    if pyarrow.types.is_nested(kind) or pyarrow.types.is_binary(kind):
        raise UserError(
            f"{path}: column {name!r}: expected numbers, text or true/false, found {kind}; "
            "leave it out of the file or write it as plain columns"
        )
    if pyarrow.types.is_float32(kind) or pyarrow.types.is_float16(kind):
        values = [None if value is None else np.float32(value) for value in values]
    return ["" if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and value != value:
        return ""
    return str(value).strip()
