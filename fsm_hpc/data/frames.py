"""Read a DataFrame or an Arrow table, whatever library it is of, into typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.errors import ColumnError
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.raw import RawColumn, text_array, text_column

_NUMBERS = (int, float, Decimal, Fraction, np.integer, np.floating)
_TRUTHS = (bool, np.bool_)
_DURATIONS = (time, timedelta, np.timedelta64)
TIMES = (date, np.datetime64, *_DURATIONS)
_OTHERS = {
    (bytes, bytearray, np.bytes_): "bytes",
    (complex, np.complexfloating): "complex numbers",
    (list, tuple, dict, set, frozenset, np.ndarray): "lists",
}
_EXPECTED = "expected numbers, text or true/false, found"
_NO_ROWS = np.zeros(0, dtype=bool)
_REMEDY = "{drop}, or write it as a number or as text"


def is_frame(table: Any) -> bool:
    """Whether it is a DataFrame of pandas or polars, or an Arrow table."""
    import narwhals as nw

    is_known = nw.dependencies.is_into_dataframe(table)
    return bool(is_known) and not isinstance(table, (np.ndarray, dict))


def names_of(frame: Any) -> list[str]:
    """What formulas call the columns; those without a name are called as in a file."""
    columns = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    named = enumerate(map(str, columns if columns is not None else ()), start=1)
    return [name if name.strip() else f"column_{at}" for at, name in named]


def column_of(name: str, frame: Any, at: int) -> RawColumn:
    """One column of a frame, by its place."""
    import narwhals as nw

    native = frame.iloc[:, at] if hasattr(frame, "iloc") else None
    native = frame.column(at) if hasattr(frame, "column") and native is None else native
    native = frame.to_series(at) if native is None else native
    series = nw.from_native(native, series_only=True)
    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _categories(name, series)
    if dtype.is_numeric() and not isinstance(dtype, nw.Decimal):
        return _of_array(name, series.to_numpy(), series)
    if dtype == nw.Boolean:
        return _of_array(name, series.fill_null(False).to_numpy().astype(bool), series)
    if dtype == nw.String:
        return text_column(name, series.to_list(), is_typed=True)
    if isinstance(dtype, (nw.Date, nw.Datetime)):
        return _moments(name, series)
    if dtype.is_temporal() or dtype.is_nested() or dtype == nw.Binary:
        what = "dates or times" if dtype.is_temporal() else "lists or bytes"
        raise _refused(name, series, what)
    return of_objects(name, series.to_list())


def of_values(name: str, values: Any) -> RawColumn:
    """A column of an array, a list, or one that was read already."""
    if isinstance(values, RawColumn):
        return values
    array = np.asarray(values)
    if array.dtype.kind in "iufb":
        return RawColumn(name, array, _nan(array))
    return of_objects(name, array.tolist())


def _nan(array: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)


def _of_array(name: str, array: NDArray[Any], series: Any) -> RawColumn:
    """Numbers or truth values; whole numbers with missing ones have to be exact as floats."""
    if array.dtype.kind == "f" and series.dtype.is_integer():
        missing = series.is_null().to_numpy().astype(bool)
        return RawColumn(name, series.fill_null(0).to_numpy(), missing)
    if array.dtype.kind not in "iufb":
        return of_objects(name, series.to_list())
    missing = series.is_null().to_numpy().astype(bool) if series.null_count() else False
    return RawColumn(name, array, _nan(array) | missing)


def _refused(name: str, series: Any, what: str) -> ColumnError:
    native = series.to_native()
    found = f"{what}: {getattr(native, 'type', getattr(native, 'dtype', series.dtype))}"
    return RawColumn(name, None, _NO_ROWS).error(f"{_EXPECTED} {found}", _REMEDY)


def _moments(name: str, series: Any) -> RawColumn:
    """Dates, with their time of day as clocks of their own zone show it."""
    try:
        if getattr(series.dtype, "time_zone", None):
            series = series.dt.replace_time_zone(None)
        values = np.array([_moment(value) for value in series.to_list()], dtype="M8[us]")
    except (ValueError, OverflowError, OSError) as error:  # years or zones that nobody knows
        raise _refused(name, series, "dates or times") from error
    return RawColumn(name, values, np.isnat(values))


def _moment(value: Any) -> Any:
    if is_missing(value):
        return None
    is_aware = isinstance(value, datetime) and value.tzinfo is not None
    return value.replace(tzinfo=None) if is_aware else value


def _categories(name: str, series: Any) -> RawColumn:
    """Categories as text, in the order that the frame has for them, if it has one."""
    import narwhals as nw

    values = [None if value is None or value != value else str(value) for value in series.to_list()]
    column = text_column(name, values, is_typed=True)
    if isinstance(series.dtype, nw.Enum):
        order = tuple(map(str, series.dtype.categories))
        return replace(column, declared=KindName.ORDERED, order=order)
    kind = getattr(series.to_native(), "type", None)  # of Arrow, which notes an order itself
    if not getattr(kind, "ordered", False):
        return replace(column, declared=KindName.CATEGORICAL)
    order = tuple(map(str, series.to_native().combine_chunks().dictionary.to_pylist()))
    return replace(column, declared=KindName.ORDERED, order=order)


def of_objects(name: str, values: Sequence[Any]) -> RawColumn:
    """Values of any type: numbers, truth values, or else text; what is none of them is refused."""
    different = {_key(value): value for value in values}
    known = [value for value in different.values() if not is_missing(value)]
    refuse_values(name, known)
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    if known and all(isinstance(value, _TRUTHS) for value in known):
        truths = [False if lost else bool(v) for v, lost in zip(values, missing, strict=True)]
        return RawColumn(name, np.array(truths, dtype=bool), missing)
    if known and all(is_number(value) for value in known):
        return _of_numbers(name, values, missing)
    if known and all(isinstance(value, (date, np.datetime64)) for value in known):
        moments = np.array([_moment(value) for value in values], dtype="M8[us]")
        return RawColumn(name, moments, missing)
    refuse_values(name, known, TIMES)
    texts = dict.fromkeys(map(str, known))
    place = {text: at for at, text in enumerate(texts)}
    codes = {k: -1 if is_missing(v) else place[str(v)] for k, v in different.items()}
    listed = np.fromiter((codes[_key(v)] for v in values), dtype=np.int32, count=len(values))
    return RawColumn(name, text_array(list(texts)), missing, listed)


def _of_numbers(name: str, values: Sequence[Any], missing: NDArray[np.bool_]) -> RawColumn:
    from fsm_hpc.data.kinds.numeric import EXPECTED

    rounded = [value for value in values if _is_rounded(value)]
    if rounded:
        raise RawColumn(name, None, missing).error(
            f"expected {EXPECTED}, found {rounded[0]}",
            "{drop}, or, if these are codes, make them text",
        )
    are_whole = all(isinstance(v, (int, np.integer)) for v in values) and not missing.any()
    if are_whole and all(abs(int(v)) < 2**63 for v in values):
        return RawColumn(name, np.array([int(v) for v in values], dtype=np.int64), missing)
    numbers = [np.nan if lost else float(v) for v, lost in zip(values, missing, strict=True)]
    return RawColumn(name, np.array(numbers, dtype=np.float64), missing)


def _is_rounded(value: Any) -> bool:
    if not isinstance(value, (int, np.integer)):
        return False
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def refuse_values(name: str, values: Iterable[Any], times: tuple[type, ...] = _DURATIONS) -> None:
    """Raise for a column that holds something else, with the first value of that kind."""
    for value in values:
        other = "dates or times" if isinstance(value, times) else _other(value)
        if other is not None:
            raise RawColumn(name, None, _NO_ROWS).error(f"{_EXPECTED} {other} ({value!r})", _REMEDY)


def _other(value: Any) -> str | None:
    if type(value).__name__ == "Period":
        return "dates or times"
    other = next((what for types, what in _OTHERS.items() if isinstance(value, types)), None)
    is_signaling = isinstance(value, Decimal) and value.is_snan()
    return "a signaling NaN, which nothing can be compared with" if is_signaling else other


def is_number(value: Any) -> bool:
    """A real number of any type; truth values are none."""
    return isinstance(value, _NUMBERS) and not isinstance(value, _TRUTHS)


def is_missing(value: Any) -> bool:
    """Only null is: None, NaN, NaT, NA. A text is a value, the empty one too."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
    except (ArithmeticError, ValueError):  # a signaling NaN; an array in a cell
        return False


def _key(value: Any) -> Any:
    """1, 1.0 and True are equal, but not the same."""
    if type(value) is str:
        return value
    try:
        hash(value)
    except TypeError:  # a list in a cell
        return type(value), repr(value)
    return type(value), value
