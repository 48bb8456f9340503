"""Read the first sheet of an Excel workbook into cells of text."""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsm_hpc.data import limits
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted, listed

MEMBER = "xl/workbook.xml"  # by which a zip archive is known to be a workbook
_DAMAGES = (OSError, EOFError, KeyError, ValueError, TypeError, AttributeError, IndexError)


@dataclass(frozen=True, slots=True)
class SheetCells:
    """Header and rows; every cell is stripped text, and an empty one is empty."""

    header: list[str]
    rows: list[list[str]]
    numbers: list[int]  # places of the columns whose cells are all numbers
    notes: tuple[str, ...]


def is_workbook(content: bytes) -> bool:
    if content[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return MEMBER in archive.namelist()
    except zipfile.BadZipFile:
        return False


def read(content: bytes, path: Path) -> SheetCells:
    """The first sheet that has cells; a note names it where there are others."""
    stored = _sheets(content, path)
    sheets = {name: _trimmed(rows) for name, rows in stored.items()}
    used = [name for name, rows in sheets.items() if rows]
    if not used:
        raise UserError(f"{path}: expected a table with a header line, found an empty workbook")
    header, *rows = sheets[used[0]]
    columns = list(zip(*rows, strict=True))
    numbers = [at for at, cells in enumerate(columns) if _are_numbers(cells)]
    notes = [] if len(used) == 1 else [f"read from the sheet {used[0]}, not {listed(used[1:])}"]
    if not all(map(_text, itertools.chain(*sheets[used[0]]))):
        written = _sheets(content, path, formulas=True)[used[0]]
        notes += _empty_formulas(stored[used[0]], written, path)
    return SheetCells(_texts(header), list(map(_texts, rows)), numbers, tuple(notes))


def _empty_formulas(
    stored: Sequence[tuple[Any, ...]], written: Sequence[tuple[Any, ...]], path: Path
) -> Iterator[str]:
    """Tell of formulas without a value, which count as missing; refuse them where none has one."""
    cells = zip(itertools.chain(*stored), itertools.chain(*written), strict=True)
    values = [value for value, cell in cells if _is_formula(cell)]
    empty = sum(not _text(value) for value in values)
    if not empty:
        return
    todo = "open the workbook in a spreadsheet program and save it there"
    if empty == len(values):
        found = f"{counted(empty, 'formula')} without one"
        raise UserError(
            f"{path}: expected formulas with stored values, found {found}; {todo}, or remove "
            "formulas that show nothing"
        )
    have = "formula has" if empty == 1 else "formulas have"
    yield f"{empty} {have} no stored value, or an empty text, and count as missing; {todo}"


def _is_formula(cell: Any) -> bool:
    is_text = isinstance(cell, str) and cell.startswith("=")
    return is_text or type(cell).__name__ in ("ArrayFormula", "DataTableFormula")


def _sheets(content: bytes, path: Path, formulas: bool = False) -> dict[str, list[tuple[Any, ...]]]:
    """The cells of each sheet by their values, or with formulas as they are written."""
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
    except (*_DAMAGES, zipfile.BadZipFile, SyntaxError) as error:
        raise UserError(f"{path}: the workbook is damaged ({error})") from error


def _rows(sheet: Any, path: Path) -> list[tuple[Any, ...]]:
    """The rows, unless there are too many cells: one in the last corner stands for billions."""
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
    """Without empty rows, and without columns that no row has a cell in."""
    used = [row for row in rows if any(map(_text, row))]
    width = max((len(row) for row in used), default=0)
    even = [(*row, *[None] * (width - len(row))) for row in used]
    kept = [at for at in range(width) if any(_text(row[at]) for row in even)]
    return [tuple(row[at] for at in kept) for row in even]


def _are_numbers(cells: Sequence[Any]) -> bool:
    found = list(_known(cells))
    return bool(found) and all(type(cell) in (int, float) for cell in found)


def _known(cells: Sequence[Any]) -> Iterator[Any]:
    return (cell for cell in cells if _text(cell))


def _texts(cells: Sequence[Any]) -> list[str]:
    return list(map(_text, cells))


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell).strip()
