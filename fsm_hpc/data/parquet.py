"""Read Parquet into columns of text, and keep in mind which of them are numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data import limits
from fsm_hpc.data.complaints import Complaints
from fsm_hpc.data.text_column import setting
from fsm_hpc.errors import UserError


@dataclass(frozen=True, slots=True)
class ParquetCells:
    """Header and rows; None is a null, and every cell of a column that cannot be read."""

    header: list[str]
    rows: list[tuple[str | None, ...]]
    numbers: list[int]  # places of the columns of numbers
    categories: list[int]  # places of the columns that the file calls categories
    unreadable: list[int]  # places of the columns of dates, lists, bytes and the like


def read(
    content: bytes, path: Path, drop: Collection[str], target: str, complaints: Complaints
) -> ParquetCells:
    """The cells as text; columns that have none are complained of, unless they are dropped."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UserError(
            f"{path}: Parquet needs pyarrow; install fsm_hpc[parquet] or save the table as CSV"
        ) from error
    try:
        _check_size(content, path)
        # unlike read_table it takes columns of the same name, which are told by name later
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            f"{path}: the Parquet file is damaged ({str(error).splitlines()[0]})"
        ) from error
    # pandas keeps row labels in columns of this name
    names = enumerate(table.column_names)
    table = table.select([at for at, name in names if not name.startswith("__index_level_")])
    header = [str(name).strip() for name in table.column_names]
    kinds = [_inner(field.type) for field in table.schema]
    categories = _categories(table.schema)
    numbers = [at for at, kind in enumerate(kinds) if _is_number(kind) and at not in categories]
    unreadable = [at for at, kind in enumerate(kinds) if not _is_readable(kind)]
    columns = [
        [None] * len(column) if at in unreadable else list(map(_text, column.to_pylist()))
        for at, column in enumerate(table.columns)
    ]
    for name, kind in ((header[at], kinds[at]) for at in unreadable):
        if name not in drop:
            complaints.add(_unreadable(path, name, kind, name == target))
    return ParquetCells(header, list(zip(*columns, strict=True)), numbers, categories, unreadable)


def _check_size(content: bytes, path: Path) -> None:
    """Refuse what a few bytes can state: any number of rows, or one long text in each of them."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    stated = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content))
    rows, columns = stated.metadata.num_rows, len(stated.schema_arrow)
    limits.check_names([str(name) for name in stated.schema_arrow.names], path)
    if rows * columns > limits.MOST_CELLS:
        raise UserError(
            f"{path}: expected at most {limits.MOST_CELLS:,} cells, found {rows:,} rows of "
            f"{columns:,} columns; keep the rows and columns that matter"
        )
    texts = [field.name for field in stated.schema_arrow if _is_text(_inner(field.type))]
    kept = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=texts)
    for batch in kept.iter_batches(columns=texts) if texts else ():
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = getattr(column, "dictionary", column)
            longest = pyarrow.compute.max(pyarrow.compute.binary_length(values)).as_py()
            if (longest or 0) > limits.MOST_CELL:
                raise limits.cell_too_long(path, f"column {name!r}")


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _categories(schema: Any) -> list[int]:
    """Places of categories: Arrow types those of text as such, pandas notes those of numbers."""
    import pyarrow.types as types

    try:
        noted = (schema.pandas_metadata or {}).get("columns", ())
        names = {column["field_name"] for column in noted if column["pandas_type"] == "categorical"}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        names = set()  # what pandas notes is not needed
    fields = enumerate(schema)
    return [at for at, field in fields if types.is_dictionary(field.type) or field.name in names]


def _unreadable(path: Path, name: str, kind: Any, is_target: bool) -> str:
    import pyarrow.types as types

    is_time = types.is_temporal(kind)
    todo = "as a number (a year, days since a start) or as text" if is_time else "as plain columns"
    todo = f"write it {todo}"
    if not is_target:
        todo = f"leave it out with {setting('drop', name)} or {todo}"
    return (
        f"{path}: column {name!r}: expected numbers, text or true/false, found "
        f"{'dates or times: ' * is_time}{kind}; {todo}"
    )


def _inner(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_readable(kind: Any) -> bool:
    import pyarrow.types as types

    texts = [
        getattr(types, f"is_{name}", None) for name in ("string", "large_string", "string_view")
    ]
    plain = [types.is_boolean, types.is_null, _is_number, *filter(None, texts)]
    return any(is_so(kind) for is_so in plain)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _text(value: Any) -> str | None:
    """The value as a file of text would have it, exactly; NaN is missing as null is."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
