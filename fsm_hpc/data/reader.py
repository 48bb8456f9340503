"""Read CSV, Parquet or Excel into a raw table, whatever its dialect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fsm_hpc.data import frames, limits
from fsm_hpc.data.errors import ColumnError, ErrorCollector
from fsm_hpc.data.raw import RawColumn, RawTable, text_column
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import listed

_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_FOREIGN = {  # how other files open -> what they are
    b"<!DOC": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "XML",
    b"{": "JSON",
    b"[{": "JSON",
    b"%PDF": "a PDF",
    b"SQLite": "a SQLite database",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Excel workbook; save it as .xlsx or CSV",
    b"\x89HDF": "HDF5",
    b"ARROW1": "an Arrow or Feather file",
    b"ORC": "ORC",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"@relation": "ARFF",
    b"version https://git-lfs": "a Git LFS pointer, not the file that it stands for",
}


def read(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """The table with its cells as they are written; texts of CSV are stripped."""
    table = inspect(content, path, spec)
    ErrorCollector(path, table.problems).raise_if_any()
    return table


def inspect(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """As much of a table as there is, with its problems, to look for more of them."""
    errors = ErrorCollector(path)
    with errors.collected():
        table = _read(content, path, spec, errors)
        return replace(table, problems=errors.all)
    raise errors.error()


def _read(content: bytes, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> RawTable:
    from fsm_hpc.data import csv_file, parquet, workbook

    if not re.search(rb"[^\xef\xbb\xbf \r\n\t]", content):
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    if content[:4] == b"PAR1":
        return _of_arrow(parquet.read(content, path), path, spec, errors)
    for magic, what in _FOREIGN.items():
        if content[:64].lower().startswith(magic.lower()):
            raise UserError(f"{path}: expected CSV, Parquet or Excel, found {what}")
    is_workbook = workbook.is_workbook(content)
    sheet = (
        workbook.read(content, path) if is_workbook else csv_file.read(content, path, spec, errors)
    )
    if not sheet.has_other_rows:
        _check_rows(sheet.columns, path, errors)
    table = _table(sheet.header, sheet.columns, path, spec, errors, sheet.notes)
    return replace(table, may_have_commas=sheet.may_have_commas)


def _of_arrow(arrow: Any, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> RawTable:
    """The table of a Parquet file; columns of no use are reported, unless they are dropped."""
    header = [str(name).strip() for name in arrow.column_names]
    columns, unreadable = [], set()
    for at, name in enumerate(_names(header)):
        try:
            columns.append(frames.column_of(name, arrow, at))
        except ColumnError as error:
            unreadable.add(name)
            columns.append(text_column(name, [None] * len(arrow), is_typed=True))
            if name not in spec.drop:
                errors.add(ColumnError(path, name, error.finding, error.remedy))
    _check_rows(columns, path, errors)
    table = _table(header, columns, path, spec, errors)
    return replace(table, unreadable=frozenset(unreadable), native=arrow)


def _names(header: Sequence[str]) -> list[str]:
    return [" ".join(name.split()) or f"column_{at}" for at, name in enumerate(header, start=1)]


def _table(
    header: Sequence[str],
    columns: Sequence[RawColumn],
    path: Path,
    spec: DatasetSpec,
    errors: ErrorCollector,
    notes: tuple[str, ...] = (),
) -> RawTable:
    """The columns by name, the first of those that have the same, unless the header is none."""
    names = _names(header)
    _check_header(names, path, spec, errors)
    unnamed = [name for name, given in zip(names, header, strict=True) if not given.strip()]
    if unnamed:
        notes = (*notes, f"columns without a name are called {listed(unnamed)}")
    named: dict[str, RawColumn] = {}
    for name, column in zip(names, columns, strict=True):
        named.setdefault(name, replace(column, name=name, place=path))
    return RawTable(path, named, columns[0].rows, notes)


def _check_rows(columns: Sequence[RawColumn], path: Path, errors: ErrorCollector) -> None:
    if columns and not columns[0].rows:
        errors.add(f"{path}: expected rows below the header, found none")


def _check_header(
    names: Sequence[str], path: Path, spec: DatasetSpec, errors: ErrorCollector
) -> None:
    limits.check_names(names, path)
    least = 2 if spec.target else 1  # a rule may need one column only
    if len(names) < least:
        found = f"one column {names[0]!r}" if names else "none"
        raise UserError(
            f"{path}: expected a target and at least one more column, found {found}; if cells are "
            "cut by another sign, set dataset.separator"
        )
    if all(_NUMBER.fullmatch(name) for name in names):
        raise UserError(
            f"{path}: expected column names in the first line, found numbers "
            f"({', '.join(names[:4])}, ...); add a header line"
        )
    for name, count in Counter(names).items():
        if count > 1:
            often = "twice" if count == 2 else f"{count} times"
            errors.add(f"{path}: expected each column once, found {name!r} {often} in the header")
