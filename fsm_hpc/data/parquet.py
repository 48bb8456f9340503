"""Open a Parquet file as an Arrow table, unless it is damaged or too large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pyarrow.types as types

from fsm_hpc.data import limits
from fsm_hpc.errors import UserError


def read(content: bytes, path: Path) -> Any:
    """The table without pandas' row labels; numbers that pandas noted as categories are some."""
    try:
        _check_size(content, path)
        # unlike read_table it takes columns of the same name, which are reported by name later
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            f"{path}: the Parquet file is damaged ({str(error).splitlines()[0]})"
        ) from error
    names = enumerate(table.column_names)
    table = table.select([at for at, name in names if not name.startswith("__index_level_")])
    noted = _noted_categories(table.schema)
    for at, field in enumerate(table.schema):
        if field.name in noted and not types.is_dictionary(field.type):
            encoded = table.column(at).cast(pyarrow.string()).dictionary_encode()
            table = table.set_column(at, field.name, encoded)
    return table


def _check_size(content: bytes, path: Path) -> None:
    """Refuse what a few bytes can state: any number of rows, or one long text in each of them."""
    stated = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content))
    rows, columns = stated.metadata.num_rows, len(stated.schema_arrow)
    limits.check_names([str(name) for name in stated.schema_arrow.names], path)
    if rows * columns > limits.MOST_CELLS:
        raise UserError(
            f"{path}: expected at most {limits.MOST_CELLS:,} cells, found {rows:,} rows of "
            f"{columns:,} columns; keep the rows and columns that matter"
        )
    texts = [field.name for field in stated.schema_arrow if _is_text(field.type)]
    kept = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=texts)
    for batch in kept.iter_batches(columns=texts) if texts else ():
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = getattr(column, "dictionary", column)
            longest = pyarrow.compute.max(pyarrow.compute.binary_length(values)).as_py()
            if (longest or 0) > limits.MOST_CELL:
                raise limits.cell_too_long(path, f"column {name!r}")


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _noted_categories(schema: Any) -> set[str]:
    """Arrow types categories of text as such, pandas notes those of numbers."""
    try:
        noted = (schema.pandas_metadata or {}).get("columns", ())
        return {column["field_name"] for column in noted if column["pandas_type"] == "categorical"}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()  # what pandas notes is not needed
