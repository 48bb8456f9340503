"""Read CSV of any dialect: with Arrow if the file is regular, else record by record."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.csv

from fsm_hpc.data import limits
from fsm_hpc.data.decimal_sign import parsed_by_arrow
from fsm_hpc.data.errors import ErrorCollector
from fsm_hpc.data.raw import RawColumn, Sheet, coded_column, text_column, uncoded_column
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
_SAMPLE_ROWS = 100
_SHOWN_LINES = 5
_SAMPLE_BYTES = 200_000
_SAMPLE_CELLS = 2_000
_RARELY_EQUAL = 0.95  # share of distinct texts in the sample
_NO_SPACE = re.compile(rb"\S")
_QUOTED_DECIMALS = re.compile(
    rb'(?:^|(?<=[,\r\n]))[ \t]*"\s*(?:[-+]|\xe2\x88\x92)?\d*[.,]\d[\d.,]*\s*"'
)


def read(content: bytes, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> Sheet:
    """The table with its cells as stripped text."""
    if spec.separator not in ("auto", *SEPARATORS):
        known = ", ".join(["auto", *SEPARATORS])
        errors.add(f"dataset.separator: expected one of {known}, found {spec.separator!r}")
    encoded, notes = _as_utf8(content, path, spec.encoding, errors)
    encoded, separator = _without_first_line(encoded, spec)
    table = _regular(encoded, separator, spec) or _records(
        encoded.decode(), separator, path, errors
    )
    has_commas = separator != "," or bool(b'"' in encoded and _QUOTED_DECIMALS.search(encoded))
    return replace(table, notes=notes, may_have_commas=has_commas)


def _without_first_line(encoded: bytes, spec: DatasetSpec) -> tuple[bytes, str]:
    """The content without the line `sep=;` that Excel writes, and the separator."""
    announced = re.match(rb"sep=(.)\r?\n", encoded)
    if announced is not None:
        encoded = encoded[announced.end() :]
    stated = SEPARATORS.get(spec.separator) or (announced[1].decode() if announced else None)
    return encoded, stated or _sniff(encoded[:_SAMPLE_BYTES].decode("utf-8", "replace"))


def _as_utf8(
    content: bytes, path: Path, encoding: str, errors: ErrorCollector
) -> tuple[bytes, tuple[str, ...]]:
    """The content as UTF-8 without a byte order mark, and notes on its encoding."""
    if encoding == "auto":
        if content[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            encoding = "utf-32"
        elif content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif b"\0" in content[:4096]:
            raise UserError(
                f"{path}: expected CSV, Parquet or Excel, found bytes that are no text; "
                "if it is text of an encoding without a mark, name that with dataset.encoding=NAME"
            )
        else:
            try:
                content.isascii() or content.decode()
                return content.removeprefix(codecs.BOM_UTF8), ()
            except UnicodeDecodeError:
                text = content.decode("cp1252", errors="replace")
                note = "not UTF-8, so read as Windows-1252; otherwise set dataset.encoding=NAME"
                return text.encode(), (note,)
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode("utf-8", "replace"), ()
    except LookupError:
        errors.add(f"dataset.encoding: there is no encoding {encoding!r}")
        return _as_utf8(content, path, "auto", errors)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: expected {encoding} text, found other bytes at position {error.start}; "
            "name the right one with dataset.encoding=NAME"
        ) from error


def _sniff(text: str) -> str:
    """The separator that splits the first rows into the same number of cells, the largest one."""
    widths = {separator: _width(text, separator) for separator in SEPARATORS.values()}
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
    if separator == " ":  # words of a text are no columns: all rows must have the same number
        return widths[0] if agreeing == 1 and len(widths) > 1 else 1
    return widths[0] * agreeing


# ---------------------------------------------------------------------------- a regular file


def _regular(encoded: bytes, separator: str, spec: DatasetSpec) -> Sheet | None:
    """The table of a file whose rows all have the header's width; None for any other file."""
    line_end = re.search(rb"[\r\n]+", encoded)
    if separator == " " or line_end is None or not _has_plain_quotes(encoded, separator):
        return None
    line, has_rows = encoded[: line_end.start()], _NO_SPACE.search(encoded, line_end.end())
    if not line.strip() or line.count(b'"') % 2 or len(line) > limits.MOST_CELL or not has_rows:
        return None
    cells = next(csv.reader([line.decode()], delimiter=separator, skipinitialspace=True))
    header = [cell.strip() for cell in cells]
    body = pyarrow.py_buffer(encoded).slice(line_end.end())
    names = [str(at) for at in range(len(header))]
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.BufferReader(body),
            pyarrow.csv.ReadOptions(column_names=names),
            pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in encoded),
            pyarrow.csv.ConvertOptions(
                check_utf8=False,  # it is valid
                column_types=dict.fromkeys(names, pyarrow.string()),
                null_values=[""],
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    columns = [
        _stripped(_column(name, table.column(name), spec.infers(title)))
        for name, title in zip(names, header, strict=True)
    ]
    if len(header) < 2 or any(limits.has_long_cell(column.values) for column in columns):
        return None
    return Sheet(header, columns)


def _column(name: str, texts: Any, is_inferred: bool) -> RawColumn:
    """The column; to find equal texts among decimal numbers that hardly repeat costs too much."""
    sample = texts.slice(0, _SAMPLE_CELLS)
    is_rarely_equal = pyarrow.compute.count_distinct(sample).as_py() > _RARELY_EQUAL * len(sample)
    if is_inferred and len(texts) > _SAMPLE_CELLS and is_rarely_equal:
        has_points = pyarrow.compute.match_substring(texts, ".")
        known = texts.drop_null().combine_chunks()
        floats = parsed_by_arrow(known) if pyarrow.compute.all(has_points).as_py() else None
        if floats is not None:
            return uncoded_column(name, known, np.asarray(texts.is_null()), floats)
    return coded_column(name, texts)


def _has_plain_quotes(encoded: bytes, separator: str) -> bool:
    """Whether every quote belongs to a cell that is quoted from its first to its last character."""
    if b'"' not in encoded:
        return True
    sign = re.escape(separator.encode())
    cell = rb'(?:(?<=[%b\r\n])|^)"(?:[^"]|"")*"(?=[%b\r\n]|$)' % (sign, sign)
    return b'"' not in re.sub(cell, b"", encoded)


def _stripped(column: RawColumn) -> RawColumn:
    """The column without whitespace around its texts, each of which occurs once again."""
    texts = pyarrow.compute.utf8_trim_whitespace(column.values)
    if texts.equals(column.values):
        return column
    distinct = coded_column(column.name, texts)
    assert distinct.codes is not None
    return replace(distinct, codes=distinct.codes[column.codes], missing=column.missing)


# ------------------------------------------------------------------------------- any other file


def _records(text: str, separator: str, path: Path, errors: ErrorCollector) -> Sheet:
    """The header and the rows of its width; errors list the lines of other rows."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    records: list[list[str]] = []
    numbers: list[int] = []
    misfits: list[tuple[int, list[str]]] = []  # line, cells
    damage = None
    try:
        for record in reader:
            if not record or (len(record) == 1 and not record[0].strip() and records):
                continue
            if records and len(record) != len(records[0]):
                misfits.append((reader.line_num, record))
                continue
            numbers.append(len(records) + len(misfits))
            records.append([cell.strip() for cell in record])
    except csv.Error as error:
        damage = _damage(error, path, reader.line_num)
    if misfits:
        errors.add(_wrong_width(path, records[0], misfits, separator))
    if damage is not None:
        raise damage
    if not records:
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    if len(misfits) >= len(records):  # too few rows fit to check their cells
        records, numbers = records[:1], numbers[:1]
    header, *rows = records
    row_numbers = np.array(numbers[1:], dtype=np.int64)
    columns = [text_column(str(at), (row[at] for row in rows)) for at in range(len(header))]
    columns = [replace(column, row_numbers=row_numbers) for column in columns]
    return Sheet(header, columns, has_other_rows=bool(misfits))


def _damage(error: csv.Error, path: Path, line: int) -> UserError:
    if "field limit" in str(error):
        return limits.cell_too_long(path, f"line {line}")
    return UserError(
        f"{path}: line {line} cannot be read as CSV ({error}); expected quotes in pairs, with a "
        'quote inside a quoted cell written as ""'
    )


def _wrong_width(
    path: Path, header: Sequence[str], misfits: Sequence[tuple[int, list[str]]], separator: str
) -> str:
    name = next(word for word, sign in (*SEPARATORS.items(), (separator,) * 2) if sign == separator)
    (line, record), *others = misfits
    last = (
        f"column {header[len(record) - 1]!r} is the last"
        if len(record) < len(header)
        else f"cell {record[len(header)]!r} is one too many"
    )
    shown = ", ".join(str(line) for line, _ in others[:_SHOWN_LINES])
    more = ", ..." if len(others) > _SHOWN_LINES else ""
    likewise = f"; so it is in {len(others)} more: line {shown}{more}" if others else ""
    return (
        f"{path}: expected {counted(len(header), 'cell')} in line {line} as in the header, found "
        f"{len(record)} ({last}); cells were cut at each {name}: quote cells that hold one, or set "
        f"dataset.separator{likewise}"
    )
