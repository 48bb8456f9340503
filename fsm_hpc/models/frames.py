"""Schemas and columns of a DataFrame or an array, and checks of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsm_hpc.data.columns import Column
from fsm_hpc.data.errors import worded_for_python
from fsm_hpc.data.frames import TIMES, column_of, is_frame, names_of, of_values, refuse_values
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema, Reading, schema_of
from fsm_hpc.data.kinds.numeric import refuse_rounding
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.system.numbers import listed

_DTYPES = {"M": "dates or times", "m": "dates or times", "S": "bytes"}
_EXPECTED = "expected numbers, text or true/false, found"
_ADVICE = "leave it out, or write it as a number or as text"

FeatureTypes = Mapping[str, str | Sequence[str]]  # column -> a kind, or categories in order


def spec_of(feature_types: FeatureTypes | None) -> DatasetSpec:
    """The kinds in `feature_types` as settings of a dataset."""
    known = [kind.value for kind in KindName]
    kinds = {}
    for name, kind in (feature_types or {}).items():
        kind_name = kind if isinstance(kind, str) else KindName.ORDERED.value
        if kind_name not in known:
            raise ValueError(
                f"feature_types: expected one of {', '.join(known)}, or categories in order, for "
                f"column {name!r}, found {kind!r}"
            )
        order = () if isinstance(kind, str) else tuple(map(str, kind))
        kinds[str(name)] = (KindName(kind_name), order)
    return DatasetSpec("X", "").with_kinds(kinds)


def schemas_of(
    X: Any, keeps_missing: bool = False, feature_types: FeatureTypes | None = None
) -> list[ColumnSchema]:
    """The schema of each column; raise the errors of a file, and one for missing values."""
    spec, is_array = spec_of(feature_types), not is_frame(X)
    names = [f"x{number}" for number in range(X.shape[1])] if is_array else names_of(X)
    absent = [name for name in feature_types or () if str(name) not in names]
    if absent:
        raise ValueError(f"feature_types: expected a column of X, found {absent[0]!r}")
    schemas = []
    for at, name in enumerate(names):
        if is_array and spec.kind_of(name) is None:
            schema = ColumnSchema(name, KindName.NUMERIC)
        else:
            schema = _schema_of(_column(X, name, at), keeps_missing, spec)
        schemas.append(replace(schema, place=at, keeps_missing=keeps_missing))
    return schemas


def _schema_of(column: RawColumn, keeps_missing: bool, spec: DatasetSpec) -> ColumnSchema:
    if not keeps_missing:
        refuse_missing(column)
    if column.missing.all():
        raise ValueError(
            f"column {column.name!r}: expected values, found only missing ones; leave it out"
        )
    with worded_for_python():
        return schema_of(column.known(), spec)


def columns_of(X: Any, schemas: Sequence[ColumnSchema]) -> list[Column]:
    """The one-hot columns of `X` by these schemas."""
    reading = Reading(len(X))
    columns = []
    for schema in schemas:
        column = values_of(X, schema)
        if not schema.keeps_missing:
            refuse_missing(column)
        columns += schema.columns(column, reading)
    if reading.problems:
        raise ValueError("; ".join(reading.problems))
    return columns


def refuse_missing(column: RawColumn) -> None:
    if column.missing.any():
        raise ValueError(
            f"expected no missing values, found NaN in column {column.name!r}; missing='keep' lets "
            "no comparison hold there"
        )


def values_of(X: Any, schema: ColumnSchema) -> RawColumn:
    """The values of a column, by its name in a frame, by its position in an array."""
    if not is_frame(X):
        if schema.place is None:
            raise ValueError(f"expected a DataFrame with a column {schema.name!r}, found an array")
        return _column(X, schema.name, schema.place)
    names = names_of(X)
    if schema.name not in names:
        raise ValueError(f"expected a column {schema.name!r}, found: {listed(names)}")
    return _column(X, schema.name, names.index(schema.name))


def _column(X: Any, name: str, at: int) -> RawColumn:
    with worded_for_python():
        return column_of(name, X, at) if is_frame(X) else of_values(name, X[:, at])


def refuse_table(X: Any) -> None:
    """Raise errors for tables that scikit-learn would convert silently or not explain."""
    if not is_frame(X):
        refuse_array("X", X)
        _refuse_inexact(X)
        return
    for name, count in Counter(names_of(X)).items():
        if count > 1:
            raise ValueError(
                f"expected each column once, found {count} columns that are called {name!r}; "
                "rename or drop the others"
            )
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )


def refuse_array(what: str, table: Any) -> None:
    """Raise for an array with masked values, or of dates, times, durations or bytes."""
    if np.ma.is_masked(table):
        raise ValueError(
            f"{what}: expected an array without a mask, found masked values; fill them in, or "
            "make them NaN with .filled(numpy.nan) where missing values are kept"
        )
    kind = getattr(getattr(table, "dtype", None), "kind", None)
    if kind == "c":  # in the words that scikit-learn asks for
        raise ValueError(f"{what}: Complex data not supported; {_EXPECTED} complex numbers")
    if kind in _DTYPES:
        raise ValueError(f"{what}: {_EXPECTED} {_DTYPES[kind]} ({table.dtype}); {_ADVICE}")
    if kind == "O" and isinstance(table, np.ndarray) and table.ndim == 2:
        for number in range(table.shape[1]):
            with worded_for_python():
                refuse_values(f"x{number}", table[:, number].tolist(), TIMES)


def _refuse_inexact(table: Any) -> None:
    """Raise an error for numbers that the conversion of an array to floats would change."""
    try:
        cells = np.asarray(table if isinstance(table, (np.ndarray, list, tuple)) else [])
    except ValueError:  # not a table, which scikit-learn reports
        return
    if cells.ndim != 2 or cells.dtype == np.float64 or cells.dtype.kind in "US":
        return
    for number in range(cells.shape[1]):
        with worded_for_python():
            refuse_rounding(of_values(f"x{number}", cells[:, number]))
