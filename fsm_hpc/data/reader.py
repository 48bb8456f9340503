"""Read CSV of any dialect, Parquet or Excel into a raw table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fsm_hpc.data import limits
from fsm_hpc.data.errors import ErrorCollector
from fsm_hpc.data.raw import RawColumn, RawTable, Sheet, normalized_names
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import listed

_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_FOREIGN = {  # first bytes of other files -> their format
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
    b"version https://git-lfs": "a Git LFS pointer instead of the file",
}


def read(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """The table of a file; raise all its problems as one error."""
    table = inspect(content, path, spec)
    ErrorCollector(path, table.problems).raise_if_any()
    return table


def inspect(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """As much of the table as can be read, with its problems, so that more can be found."""
    errors = ErrorCollector(path)
    with errors.collected():
        table = _table(_sheet(content, path, spec, errors), path, spec, errors)
        return replace(table, problems=errors.all)
    raise errors.error()


def _sheet(content: bytes, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> Sheet:
    from fsm_hpc.data import csv_file, parquet, workbook

    if not re.search(rb"[^\xef\xbb\xbf \r\n\t]", content):
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    if content[:4] == b"PAR1":
        return parquet.read(content, path, spec, errors)
    for magic, what in _FOREIGN.items():
        if content[:64].lower().startswith(magic.lower()):
            raise UserError(f"{path}: expected CSV, Parquet or Excel, found {what}")
    if workbook.is_workbook(content):
        return workbook.read(content, path)
    return csv_file.read(content, path, spec, errors)


def _table(sheet: Sheet, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> RawTable:
    """The columns by name; of columns with the same name, which is an error, the first."""
    names = normalized_names(sheet.header)
    _check_header(names, path, spec, errors)
    notes, rows = sheet.notes, sheet.columns[0].rows
    if not rows and not sheet.has_other_rows:
        errors.add(f"{path}: expected rows below the header, found none")
    unnamed = [n for n, given in zip(names, sheet.header, strict=True) if not given.strip()]
    if unnamed:
        notes = (*notes, f"columns without a name are called {listed(unnamed)}")
    columns: dict[str, RawColumn] = {}
    for name, column in zip(names, sheet.columns, strict=True):
        columns.setdefault(name, replace(column, name=name, path=path))
    table = RawTable(path, columns, rows, notes, native=sheet.native)
    return replace(table, may_have_commas=sheet.may_have_commas)


def _check_header(
    names: Sequence[str], path: Path, spec: DatasetSpec, errors: ErrorCollector
) -> None:
    limits.check_names(names, path)
    least = 2 if spec.target else 1  # a rule may need one column only
    if len(names) < least:
        found = f"one column {names[0]!r}" if names else "none"
        raise UserError(
            f"{path}: expected a target and at least one more column, found {found}; if another "
            "sign separates cells, set dataset.separator"
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
