"""What the columns of a DataFrame or an array are, when a rule is fitted on them."""

from __future__ import annotations

from collections.abc import Mapping
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


def sources_of(
    X: Any,  # noqa: N803
    keeps_missing: bool = False,
    feature_types: Mapping[str, str] | None = None,
) -> list[Source]:
    """One for each column; a date, an id or free text is refused as in a file."""
    wanted = dict(feature_types or {})
    if not hasattr(X, "iloc"):
        found = [Source(f"x{number}", RawKind.NUMERIC) for number in range(X.shape[1])]
    else:
        named = enumerate(column_names(X))
        found = [_source(n, _known(n, X.iloc[:, at]), wanted.pop(n, None)) for at, n in named]
    if wanted:
        raise ValueError(f"feature_types: expected names of columns, found {next(iter(wanted))!r}")
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


def _source(name: str, series: Any, wanted: str | None = None) -> Source:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    if wanted is not None:
        return _as_wanted(name, series, wanted)

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


def _as_wanted(name: str, series: Any, wanted: str) -> Source:
    """The source of a column whose kind its user states."""
    known = [kind.value for kind in RawKind]
    if wanted not in known:
        raise ValueError(
            f"feature_types: expected one of {', '.join(known)} for {name!r}, found {wanted!r}"
        )
    if RawKind(wanted) is RawKind.CATEGORICAL:
        return _categorical(name, series.astype("category"))
    return Source(name, RawKind(wanted))


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
