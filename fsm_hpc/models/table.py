"""What the columns of a DataFrame or an array are, when a rule is fitted on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data import kinds
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn
from fsm_hpc.errors import UserError
from fsm_hpc.models import exact
from fsm_hpc.models.frames import column_names
from fsm_hpc.models.refused import refuse_values
from fsm_hpc.models.source import Source
from fsm_hpc.system.numbers import listed


class FrameColumn(TextColumn):
    """A column of a DataFrame, whose errors say what to do in Python."""

    def error(self, expected: str, todo: str) -> UserError:
        return UserError(f"column {self.name!r}: {expected}; {todo}")

    def setting(self, key: str) -> str:
        if key == "categorical":
            return f"X.astype({{{self.name!r}: 'category'}})"
        return f"X.drop(columns=[{self.name!r}])"

    @property
    def more_categories(self) -> str:
        return "put its values into fewer groups"


def sources_of(X: Any, keeps_missing: bool = False) -> list[Source]:  # noqa: N803
    """One for each column; a date, an id or free text is refused as in a file."""
    if not hasattr(X, "iloc"):
        found = [Source(f"x{number}", RawKind.NUMERIC) for number in range(X.shape[1])]
    else:
        named = enumerate(column_names(X))
        found = [_source(name, _known(name, X.iloc[:, at])) for at, name in named]
    return [replace(s, place=at, keeps_missing=keeps_missing) for at, s in enumerate(found)]


def _known(name: str, series: Any) -> Any:
    """The values that are there, as what they are without the others."""
    if not series.isna().any():
        return series
    if series.isna().all():
        raise ValueError(f"column {name!r}: expected values, found only missing ones; leave it out")
    return series.dropna().infer_objects()


def values_of(X: Any, source: Source) -> Any:  # noqa: N803
    """The values of a source in a DataFrame, by its name, or in an array, by its place."""
    if not hasattr(X, "iloc"):
        if source.place is None:
            raise ValueError(f"expected a DataFrame with a column {source.name!r}, found an array")
        return X[:, source.place]
    names = column_names(X)
    if source.name not in names:
        raise ValueError(f"expected a column {source.name!r}, found: {listed(names)}")
    series = X.iloc[:, names.index(source.name)]
    is_plain = series.dtype.kind == "f" or not series.isna().any()
    if is_plain and isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    return (
        series.to_numpy(dtype=object, na_value=None) if series.isna().any() else series.to_numpy()
    )


def _refuse_rounding(name: str, series: Any) -> None:
    """Cuts are floats: whole numbers have to be exact in them, as those of a file have to."""
    found = exact.inexact(series.to_numpy())
    if found is not None:
        raise ValueError(
            f"column {name!r}: expected {exact.EXPECTED}, found {found}; {exact.ADVICE}"
        )


def _source(name: str, series: Any) -> Source:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    if _is_categorical(series.dtype):
        return _categorical(name, series)
    if all(isinstance(value, (bool, np.bool_)) for value in series):
        return Source(name, RawKind.BOOLEAN)
    if is_complex_dtype(series) or not is_numeric_dtype(series):
        refuse_values(name, series)
    if is_numeric_dtype(series) or all(exact.is_number(value) for value in series):
        _refuse_rounding(name, series)
        return Source(name, RawKind.NUMERIC)
    return _categorical(name, series)


def _is_categorical(kind: Any) -> bool:
    """Whether its user calls a column one of categories, whatever they are."""
    return str(kind) == "category" or str(kind).startswith("dictionary<")


def _categorical(name: str, series: Any) -> Source:
    texts = [str(value) for value in series]
    column = FrameColumn(Path("X"), name, texts, list(range(len(texts))))
    if not _is_categorical(series.dtype):
        kinds.refuse_dates(column)
    found = kinds.categories(column, DatasetSpec(name="X", target=""))
    return Source(name, RawKind.CATEGORICAL, tuple(found))
