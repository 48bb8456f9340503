"""Read CSV, Parquet or Excel into columns of text, whatever its dialect."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fsm_hpc.data import limits, parquet, workbook
from fsm_hpc.data.complaints import Complaints
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.numbers import counted, listed

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
_SAMPLE_ROWS = 100
_SHOWN_LINES = 5
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_QUOTED_DECIMALS = re.compile(r'(?:^|(?<=[,\r\n]))[ \t]*"\s*[-+\u2212]?\d*[.,]\d[\d.,]*\s*"')
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


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns of text in the order of the file; a cell that has no value is None or empty.

    Where the file has types, only None is missing, and a text is what it is.
    """

    path: Path
    columns: dict[str, list[str | None]]
    row_numbers: Sequence[int]  # in the file, from 1; rows that do not fit the header are not here
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # what is wrong with it so far
    has_types: bool = False  # whether the file says what a cell is, as Parquet does and CSV not
    typed: frozenset[str] = frozenset()  # columns that are numbers, not text, in the file
    categories: frozenset[str] = frozenset()  # columns that the file calls categories
    unreadable: frozenset[str] = frozenset()  # columns whose cells are no text and no numbers
    may_have_commas: bool = True  # whether a cell can hold a decimal comma

    @property
    def rows(self) -> int:
        return len(self.row_numbers)

    def row_of(self, name: str, cell: str) -> int:
        """The number of the first row with this cell."""
        return self.row_numbers[self.columns[name].index(cell)]


def read(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """The table in the content of a file; cells of CSV are stripped, of Parquet as they are."""
    table = inspect(content, path, spec)
    Complaints(path, table.problems).settle()
    return table


def inspect(content: bytes, path: Path, spec: DatasetSpec) -> RawTable:
    """As much of a table as there is, with its problems, to look for more of them."""
    complaints = Complaints(path)
    with complaints.heard():
        table = _read(content, path, spec, complaints)
        return replace(table, problems=complaints.all)
    raise complaints.error()


def _read(content: bytes, path: Path, spec: DatasetSpec, complaints: Complaints) -> RawTable:
    if not content.strip(b"\xef\xbb\xbf \r\n\t"):
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    least = 2 if spec.target else 1  # a rule may need one column only
    if content[:4] == b"PAR1":
        cells = parquet.read(content, path, spec.drop, spec.target, complaints)
        numbers = range(1, len(cells.rows) + 1)
        if not cells.rows:
            complaints.add(_no_rows(path))
        table = _table(cells.header, cells.rows, numbers, path, complaints, least)
        names = _names(cells.header)
        typed, categories, unreadable = (
            frozenset(names[at] for at in places)
            for places in (cells.numbers, cells.categories, cells.unreadable)
        )
        table = replace(table, has_types=True, unreadable=unreadable)
        return replace(table, typed=typed, categories=categories)
    if workbook.is_workbook(content):
        return _of_workbook(content, path, complaints, least)
    for magic, what in _FOREIGN.items():
        if content[:64].lower().startswith(magic.lower()):
            raise UserError(f"{path}: expected CSV, Parquet or Excel, found {what}")
    text, notes = _decode(content, path, spec.encoding, complaints)
    if spec.separator not in ("auto", *SEPARATORS):
        known = ", ".join(["auto", *SEPARATORS])
        found = spec.separator
        complaints.add(f"dataset.separator: expected one of {known}, found {found!r}")
    announced = re.match(r"sep=(.)\r?\n", text)  # a first line that Excel writes
    if announced is not None:
        text = text[announced.end() :]
    stated = SEPARATORS.get(spec.separator) or (announced[1] if announced else None)
    separator = stated or _sniff(text)
    header, rows, row_numbers = _records(text, separator, path, complaints)
    table = _table(header, rows, row_numbers, path, complaints, least)
    has_commas = separator != "," or _QUOTED_DECIMALS.search(text) is not None
    return replace(table, notes=(*notes, *table.notes), may_have_commas=has_commas)


def _of_workbook(content: bytes, path: Path, complaints: Complaints, least: int) -> RawTable:
    sheet = workbook.read(content, path)
    if not sheet.rows:
        complaints.add(_no_rows(path))
    numbers = range(1, len(sheet.rows) + 1)
    table = _table(sheet.header, sheet.rows, numbers, path, complaints, least)
    names = _names(sheet.header)
    typed = frozenset(names[at] for at in sheet.numbers)
    return replace(table, typed=typed, notes=(*sheet.notes, *table.notes))


# ------------------------------------------------------------------------------------- parts


def _decode(
    content: bytes, path: Path, encoding: str, complaints: Complaints
) -> tuple[str, tuple[str, ...]]:
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
                return content.decode("utf-8-sig"), ()
            except UnicodeDecodeError:
                note = "not UTF-8, so read as Windows-1252; another one: dataset.encoding=NAME"
                return content.decode("cp1252", errors="replace"), (note,)
    try:
        return content.decode(encoding).removeprefix("\ufeff"), ()
    except LookupError:
        complaints.add(f"dataset.encoding: there is no encoding {encoding!r}")
        return _decode(content, path, "auto", complaints)
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


def _records(
    text: str, separator: str, path: Path, complaints: Complaints
) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows of the same width, and their numbers."""
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
        complaints.add(_wrong_width(path, records[0], misfits, separator))
    elif len(records) == 1 and damage is None:
        complaints.add(_no_rows(path))
    if damage is not None:
        raise damage
    if not records:
        raise UserError(f"{path}: expected a table with a header line, found an empty file")
    if len(misfits) >= len(records):  # too few rows fit to say more of them
        records, numbers = records[:1], numbers[:1]
    return records[0], records[1:], numbers[1:]


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


def _no_rows(path: Path) -> str:
    return f"{path}: expected rows below the header, found none"


def _names(header: Sequence[str]) -> list[str]:
    return [" ".join(name.split()) or f"column_{at}" for at, name in enumerate(header, start=1)]


def _table(
    header: Sequence[str],
    rows: Sequence[Sequence[str | None]],
    row_numbers: Sequence[int],
    path: Path,
    complaints: Complaints,
    least: int,
) -> RawTable:
    names = _names(header)
    limits.check_names(names, path)
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
            complaints.add(
                f"{path}: expected each column once, found {name!r} {often} in the header"
            )
    unnamed = tuple(n for n, given in zip(names, header, strict=True) if not given)
    told = (f"columns without a name are called {listed(unnamed)}",) if unnamed else ()
    columns: dict[str, list[str | None]] = {}
    for at, name in enumerate(names):
        columns.setdefault(name, [row[at] for row in rows])
    return RawTable(path, columns, row_numbers, told)
