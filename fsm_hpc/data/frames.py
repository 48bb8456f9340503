"""Read a DataFrame of any library, or an Arrow table, into typed columns."""

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
from fsm_hpc.data.raw import RawColumn, text_column

_NUMBERS = (int, float, Decimal, Fraction, np.integer, np.floating)
_TRUTHS = (bool, np.bool_)
_DURATIONS = (time, timedelta, np.timedelta64)
TIMES = (date, np.datetime64, *_DURATIONS)
_UNSUPPORTED = {
    (bytes, bytearray, np.bytes_): "bytes",
    (complex, np.complexfloating): "complex numbers",
    (list, tuple, dict, set, frozenset, np.ndarray): "lists",
}
_EXPECTED = "expected numbers, text or true/false, found"
_REMEDY = "{drop}, or write it as a number or as text"


def is_frame(table: Any) -> bool:
    """Whether it is a DataFrame of pandas or polars, or an Arrow table."""
    import narwhals as nw

    is_known = nw.dependencies.is_into_dataframe(table)
    return bool(is_known) and not isinstance(table, (np.ndarray, dict))


def names_of(frame: Any) -> list[str]:
    """The column names in formulas; columns without a name get the same names as in a file."""
    columns = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    named = enumerate(map(str, columns if columns is not None else ()), start=1)
    return [name if name.strip() else f"column_{at}" for at, name in named]


def column_of(name: str, frame: Any, at: int) -> RawColumn:
    """One column of a frame, by its position."""
    import narwhals as nw

    if hasattr(frame, "iloc"):
        native = frame.iloc[:, at]
    else:
        native = frame.column(at) if hasattr(frame, "column") else frame.to_series(at)
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
        return _dates(name, series)
    if dtype.is_temporal() or dtype.is_nested() or dtype == nw.Binary:
        raise _unsupported(name, series)
    return of_objects(name, series.to_list())


def of_values(name: str, values: Any) -> RawColumn:
    """A column of an array or a list; a RawColumn is returned as it is."""
    if isinstance(values, RawColumn):
        return values
    array = np.asarray(values)
    if array.dtype.kind in "iufb":
        return RawColumn(name, array, _is_nan(array))
    return of_objects(name, array.tolist())


def _is_nan(array: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)


def _of_array(name: str, array: NDArray[Any], series: Any) -> RawColumn:
    """Numbers or truth values; integers stay integers beside missing values."""
    missing = series.is_null().to_numpy().astype(bool) if series.null_count() else False
    if array.dtype.kind == "f" and series.dtype.is_integer():
        array = series.fill_null(0).to_numpy()
    if array.dtype.kind not in "iufb":
        return of_objects(name, series.to_list())
    return RawColumn(name, array, _is_nan(array) | missing)


def _unsupported(name: str, series: Any) -> ColumnError:
    native, what = series.to_native(), "dates or times"
    if not series.dtype.is_temporal():
        what = "lists or bytes"
    found = f"{what}: {getattr(native, 'type', getattr(native, 'dtype', series.dtype))}"
    return ColumnError(None, name, f"{_EXPECTED} {found}", _REMEDY)


def _dates(name: str, series: Any) -> RawColumn:
    """Dates, with their time of day in their own time zone."""
    try:
        if getattr(series.dtype, "time_zone", None):
            series = series.dt.replace_time_zone(None)
        return _of_dates(name, series.to_list())
    except (ValueError, OverflowError, OSError) as error:  # unknown years or time zones
        raise _unsupported(name, series) from error


def _of_dates(name: str, values: Iterable[Any]) -> RawColumn:
    local = [
        value.replace(tzinfo=None) if isinstance(value, datetime) and value.tzinfo else value
        for value in (None if is_missing(value) else value for value in values)
    ]
    dates = np.array(local, dtype="M8[us]")
    return RawColumn(name, dates, np.isnat(dates))


def _categories(name: str, series: Any) -> RawColumn:
    """Categories as text, in the order that the frame has for them, if it has one."""
    import narwhals as nw

    values = [None if is_missing(value) else str(value) for value in series.to_list()]
    column = text_column(name, values, is_typed=True)
    native_type = getattr(series.to_native(), "type", None)  # of Arrow, which notes an order itself
    if isinstance(series.dtype, nw.Enum):
        order = tuple(map(str, series.dtype.categories))
    elif getattr(native_type, "ordered", False):
        order = tuple(map(str, series.to_native().combine_chunks().dictionary.to_pylist()))
    else:
        return replace(column, declared=KindName.CATEGORICAL)
    return replace(column, declared=KindName.ORDERED, order=order)


# ------------------------------------------------------------------------------- Python objects


def of_objects(name: str, values: Sequence[Any]) -> RawColumn:
    """Values of any type: numbers, truth values, dates, or else text."""
    missing = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    known = [value for value, is_lost in zip(values, missing, strict=True) if not is_lost]
    types = set(map(type, known))
    refuse_values(name, known)
    if types and all(issubclass(kind, _TRUTHS) for kind in types):
        return RawColumn(name, _filled(known, missing, False, np.bool_), missing)
    if types and all(issubclass(k, _NUMBERS) and not issubclass(k, _TRUTHS) for k in types):
        return _of_numbers(name, known, missing)
    if types and all(issubclass(kind, (date, np.datetime64)) for kind in types):
        return _of_dates(name, values)
    refuse_values(name, known, TIMES)
    texts = (None if lost else str(value) for value, lost in zip(values, missing, strict=True))
    return text_column(name, texts, is_typed=True)


def _of_numbers(name: str, known: Sequence[Any], missing: NDArray[np.bool_]) -> RawColumn:
    from fsm_hpc.data.kinds.numeric import EXPECTED

    whole = [int(value) for value in known if isinstance(value, (int, np.integer))]
    for value in filter(_is_rounded, whole):
        finding = f"expected {EXPECTED}, found {value}"
        raise ColumnError(None, name, finding, "{drop}, or, if these are codes, make them text")
    if len(whole) == len(missing) and all(abs(value) < 2**63 for value in whole):
        return RawColumn(name, np.array(whole, dtype=np.int64), missing)
    return RawColumn(name, _filled(map(float, known), missing, np.nan, np.float64), missing)


def _filled(known: Iterable[Any], missing: NDArray[np.bool_], fill: Any, dtype: Any) -> Any:
    """The known values by row, and `fill` where they are missing."""
    array = np.full(len(missing), fill, dtype=dtype)
    array[~missing] = list(known)
    return array


def _is_rounded(value: int) -> bool:
    try:
        return int(float(value)) != value
    except OverflowError:
        return True


def refuse_values(name: str, values: Iterable[Any], times: tuple[type, ...] = _DURATIONS) -> None:
    """Raise an error for values of an unsupported type, with the first of them."""
    examples: dict[Any, Any] = {}
    for value in values:
        examples.setdefault((type(value), _is_signaling(value)), value)
    for value in examples.values():
        is_time = isinstance(value, times) or type(value).__name__ == "Period"
        unsupported = "dates or times" if is_time else _unsupported_type(value)
        if unsupported is not None:
            finding = f"{_EXPECTED} {unsupported} ({value!r})"
            raise ColumnError(None, name, finding, _REMEDY)


def _unsupported_type(value: Any) -> str | None:
    if _is_signaling(value):
        return "a signaling NaN, which cannot be compared"
    return next((what for types, what in _UNSUPPORTED.items() if isinstance(value, types)), None)


def _is_signaling(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_snan()


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT or NA; every text is a value, the empty one too."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
    except (ArithmeticError, ValueError):  # a signaling NaN; an array in a cell
        return False
