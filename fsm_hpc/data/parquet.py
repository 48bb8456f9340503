"""Read a Parquet file, unless it is damaged or too large."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pyarrow.types as types

from fsm_hpc.data import limits
from fsm_hpc.data.errors import ColumnError, ErrorCollector
from fsm_hpc.data.frames import column_of
from fsm_hpc.data.raw import RawColumn, Sheet, normalized_names, text_column
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError


def read(content: bytes, path: Path, spec: DatasetSpec, errors: ErrorCollector) -> Sheet:
    """All columns; those of unsupported types are errors, unless they are dropped."""
    table = _table(content, path)
    header = [str(name).strip() for name in table.column_names]
    columns = []
    for at, name in enumerate(normalized_names(header)):
        try:
            columns.append(column_of(name, table, at))
        except ColumnError as error:
            columns.append(_unreadable(name, len(table)))
            if name not in spec.drop:
                errors.add(ColumnError(path, name, error.finding, error.remedy))
    return Sheet(header, columns, native=table)


def _unreadable(name: str, rows: int) -> RawColumn:
    return replace(text_column(name, [None] * rows, is_typed=True), is_readable=False)


def _table(content: bytes, path: Path) -> Any:
    """Without the row labels of pandas; numbers that pandas declares as categories are text."""
    try:
        _check_size(content, path)
        # unlike read_table it accepts columns of the same name, which are reported later
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            f"{path}: the Parquet file is damaged ({str(error).splitlines()[0]})"
        ) from error
    names = enumerate(table.column_names)
    table = table.select([at for at, name in names if not name.startswith("__index_level_")])
    categories = _pandas_categories(table.schema)
    for at, field in enumerate(table.schema):
        if field.name in categories and not types.is_dictionary(field.type):
            encoded = table.column(at).cast(pyarrow.string()).dictionary_encode()
            table = table.set_column(at, field.name, encoded)
    return table


def _check_size(content: bytes, path: Path) -> None:
    """A few bytes can declare any number of rows, or one long text in each of them."""
    stated = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content))
    rows, columns = stated.metadata.num_rows, len(stated.schema_arrow)
    limits.check_names([str(name) for name in stated.schema_arrow.names], path)
    if rows * columns > limits.MOST_CELLS:
        raise UserError(
            f"{path}: expected at most {limits.MOST_CELLS:,} cells, found {rows:,} rows of "
            f"{columns:,} columns; keep the rows and columns that matter"
        )
    texts = [field.name for field in stated.schema_arrow if _is_text(field.type)]
    encoded = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=texts)
    for batch in encoded.iter_batches(columns=texts) if texts else ():
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if limits.has_long_cell(getattr(column, "dictionary", column)):
                raise limits.cell_too_long(path, f"column {name!r}")


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _pandas_categories(schema: Any) -> set[str]:
    """Columns of categories: the type shows those of text, pandas' metadata those of numbers."""
    try:
        columns = (schema.pandas_metadata or {}).get("columns", ())
        return {c["field_name"] for c in columns if c["pandas_type"] == "categorical"}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()  # the metadata is optional
