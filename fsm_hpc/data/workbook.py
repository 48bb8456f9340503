"""Read the first sheet of an Excel workbook: typed columns, or text where types differ."""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from fsm_hpc.data import limits
from fsm_hpc.data.frames import of_objects
from fsm_hpc.data.raw import RawColumn, Sheet, text_column
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted, listed

MEMBER = "xl/workbook.xml"  # a zip archive with this file is a workbook
_TYPES = ((int, float), (bool,), (datetime, date))  # of cells without text
_ERRORS_OF_DAMAGE = (OSError, EOFError, KeyError, ValueError, TypeError, AttributeError, IndexError)


def is_workbook(content: bytes) -> bool:
    if content[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return MEMBER in archive.namelist()
    except zipfile.BadZipFile:
        return False


def read(content: bytes, path: Path) -> Sheet:
    """The first sheet that has cells; a note names it if there are others."""
    stored = _sheets(content, path)
    sheets = {name: _trimmed(rows) for name, rows in stored.items()}
    used = [name for name, rows in sheets.items() if rows]
    if not used:
        raise UserError(f"{path}: expected a table with a header line, found an empty workbook")
    header, *rows = sheets[used[0]]
    notes = [] if len(used) == 1 else [f"read from the sheet {used[0]}, not {listed(used[1:])}"]
    if not all(map(_text, itertools.chain(*sheets[used[0]]))):
        written = _sheets(content, path, formulas=True)[used[0]]
        notes += _empty_formulas(stored[used[0]], written, path)
    names = list(map(_text, header))
    columns = [_column(name, [row[at] for row in rows]) for at, name in enumerate(names)]
    return Sheet(names, columns, tuple(notes))


def _empty_formulas(
    stored: Sequence[tuple[Any, ...]], written: Sequence[tuple[Any, ...]], path: Path
) -> Iterator[str]:
    """Note formulas without a stored value, which count as missing; raise an error if all are."""
    cells = zip(itertools.chain(*stored), itertools.chain(*written), strict=True)
    values = [value for value, cell in cells if _is_formula(cell)]
    empty = sum(not _text(value) for value in values)
    if not empty:
        return
    remedy = "open the workbook in a spreadsheet program and save it there"
    if empty == len(values):
        found = f"{counted(empty, 'formula')} without one"
        raise UserError(
            f"{path}: expected formulas with stored values, found {found}; {remedy}, or remove "
            "formulas that show nothing"
        )
    have = "formula has" if empty == 1 else "formulas have"
    yield f"{empty} {have} no stored value, or an empty text, and count as missing; {remedy}"


def _is_formula(cell: Any) -> bool:
    is_text = isinstance(cell, str) and cell.startswith("=")
    return is_text or type(cell).__name__ in ("ArrayFormula", "DataTableFormula")


def _sheets(content: bytes, path: Path, formulas: bool = False) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each sheet, with values of formulas or with the formulas themselves."""
    try:
        import openpyxl
    except ImportError as error:
        raise UserError(
            f"{path}: an Excel workbook needs openpyxl; install fsm_hpc[excel] or save the sheet "
            "as CSV"
        ) from error
    try:
        _check_size(content, path)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=not formulas)
        return {sheet.title: _rows(sheet, path) for sheet in book.worksheets}
    except UserError:
        raise
    except (*_ERRORS_OF_DAMAGE, zipfile.BadZipFile, SyntaxError) as error:
        raise UserError(f"{path}: the workbook is damaged ({error})") from error


def _rows(sheet: Any, path: Path) -> list[tuple[Any, ...]]:
    """The rows up to the limit of cells: one cell in the last corner implies billions."""
    rows, cells = [], 0
    for row in sheet.iter_rows(values_only=True):
        rows.append(row)
        cells += len(row)
        if cells > limits.MOST_SHEET_CELLS:
            raise UserError(
                f"{path}: expected at most {limits.MOST_SHEET_CELLS:,} cells in the sheet "
                f"{sheet.title}, found more; remove stray cells far out, or save it as CSV"
            )
        if any(isinstance(cell, str) and len(cell) > limits.MOST_CELL for cell in row):
            raise limits.cell_too_long(path, f"row {len(rows)} of the sheet {sheet.title}")
    return rows


def _check_size(content: bytes, path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > limits.MOST_BYTES:
        raise UserError(
            f"{path}: expected at most {limits.MOST_BYTES:,} bytes once decompressed, found "
            f"{size:,}; save the sheet as CSV"
        )


def _trimmed(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Without empty rows and empty columns."""
    used = [row for row in rows if any(map(_text, row))]
    width = max((len(row) for row in used), default=0)
    even = [(*row, *[None] * (width - len(row))) for row in used]
    kept = [at for at in range(width) if any(_text(row[at]) for row in even)]
    return [tuple(row[at] for at in kept) for row in even]


def _column(name: str, cells: Sequence[Any]) -> RawColumn:
    """Numbers, truth values or dates if all cells have that type; else text, as in CSV."""
    known = {type(cell) for cell in cells if _text(cell)}
    if known and any(known <= set(types) for types in _TYPES):
        return of_objects(name, [cell if _text(cell) else None for cell in cells])
    return text_column(name, map(_text, cells))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
