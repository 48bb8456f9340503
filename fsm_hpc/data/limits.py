"""How large a table may be that is read, and what is said of a larger one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fsm_hpc.errors import UserError

MOST_BYTES = 2**30  # of a compressed file, once decompressed
MOST_COLUMNS = 100_000
MOST_CELLS = 1_000_000_000  # of Parquet, where a file of a few bytes may state any number
MOST_SHEET_CELLS = 20_000_000  # of a workbook's sheet, empty ones included
MOST_NAME = 1_000  # characters of a column's name
MOST_CELL = 131_072  # characters of a cell: what Python's csv reads at most
_STEP = 2**20


def read_decompressed(read: Callable[[int], bytes], path: Path) -> bytes:
    """All that a decompressing stream gives, unless that is more than a table of ours."""
    content = bytearray()
    while part := read(_STEP):
        content += part
        if len(content) > MOST_BYTES:
            raise UserError(
                f"{path}: expected at most {MOST_BYTES:,} bytes once decompressed, found more; if "
                "it is a table and that large, decompress the file yourself"
            )
    return bytes(content)


def check_names(names: Sequence[str], path: Path) -> None:
    """Refuse more columns, or longer names of them, than a rule could ever show."""
    if len(names) > MOST_COLUMNS:
        raise UserError(
            f"{path}: expected at most {MOST_COLUMNS:,} columns, found {len(names):,}; keep those "
            "that matter, or turn the table if its columns are rows"
        )
    for name in names:
        if len(name) > MOST_NAME:
            raise UserError(
                f"{path}: expected column names of at most {MOST_NAME:,} characters, found "
                f"{len(name):,} in {name[:40]!r}...; give the column a shorter name"
            )


def cell_too_long(path: Path, where: str) -> UserError:
    """What is said of a cell that is no value of a table."""
    return UserError(
        f"{path}: expected cells of at most {MOST_CELL:,} characters, found a longer one in "
        f"{where}; close its quotes if they are open, else shorten it or remove the column"
    )
