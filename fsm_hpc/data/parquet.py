"""Read Parquet into columns of text, and keep in mind which of them are numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data.complaints import Complaints
from fsm_hpc.data.text_column import setting
from fsm_hpc.errors import UserError


@dataclass(frozen=True, slots=True)
class ParquetCells:
    """Header and rows; the cells of a column that cannot be read are empty."""

    header: list[str]
    rows: list[tuple[str, ...]]
    typed: list[int]  # places of the columns of numbers
    unreadable: list[int]  # places of the columns of lists, bytes and the like


def read(content: bytes, path: Path, drop: Collection[str], complaints: Complaints) -> ParquetCells:
    """The cells as text; columns that have none are complained of, unless they are dropped."""
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
    header = [str(name).strip() for name in table.column_names]
    kinds = [_inner(field.type) for field in table.schema]
    typed = [at for at, kind in enumerate(kinds) if _is_number(kind)]
    unreadable = [at for at, kind in enumerate(kinds) if _is_unreadable(kind)]
    columns = [
        [""] * len(column) if at in unreadable else _texts(kinds[at], column.to_pylist())
        for at, column in enumerate(table.columns)
    ]
    for name, kind in ((header[at], kinds[at]) for at in unreadable):
        if name not in drop:
            complaints.add(
                f"{path}: column {name!r}: expected numbers, text or true/false, found {kind}; "
                f"leave it out with {setting('drop', name)} or write it as plain columns"
            )
    return ParquetCells(header, list(zip(*columns, strict=True)), typed, unreadable)


def _inner(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_unreadable(kind: Any) -> bool:
    import pyarrow.types as types

    bytes_ = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return bool(types.is_nested(kind)) or any(is_so(kind) for is_so in bytes_)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _texts(kind: Any, values: Sequence[Any]) -> list[str]:
    import pyarrow.types as types

    if types.is_float32(kind) or types.is_float16(kind):
        values = [None if value is None else np.float32(value) for value in values]
    return ["" if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and value != value:
        return ""
    return str(value).strip()
