"""What the columns of a DataFrame or an array are, when a rule is fitted on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fsm_hpc.data import kinds
from fsm_hpc.data.kinds import RawKind
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn
from fsm_hpc.models.source import Source


def sources_of(X: Any) -> list[Source]:  # noqa: N803
    """One for each column; a date, an id or free text is refused as in a file."""
    if not hasattr(X, "iloc"):
        names = [f"x{number}" for number in range(X.shape[1])]
        return [Source(name, RawKind.NUMERIC, place=at) for at, name in enumerate(names)]
    found = [_source(str(name), X[name]) for name in X.columns]
    return [replace(source, place=at) for at, source in enumerate(found)]


def values_of(X: Any, source: Source) -> Any:  # noqa: N803
    """The values of a source in a DataFrame, by its name, or in an array, by its place."""
    if not hasattr(X, "iloc"):
        if source.place is None:
            raise ValueError(f"expected a DataFrame with a column {source.name!r}, found an array")
        return X[:, source.place]
    named = {str(name): name for name in X.columns}
    if source.name not in named:
        raise ValueError(f"expected a column {source.name!r}, found: {', '.join(named)}")
    return X[named[source.name]].to_numpy()


def _source(name: str, series: Any) -> Source:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    if is_bool_dtype(series):
        return Source(name, RawKind.BOOLEAN)
    if is_complex_dtype(series):
        raise ValueError(f"column {name!r}: expected real numbers, found complex ones")
    if is_numeric_dtype(series):
        return Source(name, RawKind.NUMERIC)
    texts = [str(value).strip() for value in series]
    column = TextColumn(Path("X"), name, texts, list(range(len(texts))))
    kinds.refuse_dates(column)
    found = kinds.categories(column, DatasetSpec(name="X", target=""))
    return Source(name, RawKind.CATEGORICAL, tuple(found))
