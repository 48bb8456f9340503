"""Limits on the size of a table, and the errors for a larger one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fsm_hpc.errors import UserError

MOST_BYTES = 2**30  # of a decompressed file
MOST_COLUMNS = 100_000
MOST_CELLS = 1_000_000_000  # of Parquet, where a file of a few bytes may declare any number
MOST_SHEET_CELLS = 20_000_000  # of a workbook's sheet, empty ones included
MOST_NAME = 1_000  # characters of a column's name
MOST_CELL = 131_072  # characters of a cell: what Python's csv reads at most
_STEP = 2**20


def read_decompressed(read: Callable[[int], bytes], path: Path) -> bytes:
    """Read a decompressing stream to its end, up to the limit."""
    content = bytearray()
    while part := read(_STEP):
        content += part
        if len(content) > MOST_BYTES:
            raise UserError(
                f"{path}: expected at most {MOST_BYTES:,} bytes once decompressed, found more; if "
                "the table is really that large, decompress the file first"
            )
    return bytes(content)


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise an error for too many columns, or for names that are too long."""
    if len(names) > MOST_COLUMNS:
        raise UserError(
            f"{path}: expected at most {MOST_COLUMNS:,} columns, found {len(names):,}; keep the "
            "relevant ones, or transpose the table if its columns are rows"
        )
    for name in names:
        if len(name) > MOST_NAME:
            raise UserError(
                f"{path}: expected column names of at most {MOST_NAME:,} characters, found "
                f"{len(name):,} in {name[:40]!r}...; give the column a shorter name"
            )


def has_long_cell(texts: Any) -> bool:
    """Whether an Arrow array has a text that exceeds the limit."""
    import pyarrow.compute

    longest = pyarrow.compute.max(pyarrow.compute.binary_length(texts)).as_py()
    return (longest or 0) > MOST_CELL


def cell_too_long(path: Path, where: str) -> UserError:
    return UserError(
        f"{path}: expected cells of at most {MOST_CELL:,} characters, found a longer one in "
        f"{where}; close its quotes if they are open, else shorten it or remove the column"
    )
