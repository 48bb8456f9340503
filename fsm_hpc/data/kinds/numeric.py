"""Columns of numbers, which formulas compare with thresholds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.decimal_sign import DecimalSign, Numbers, are_numbers
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.base import CodeWriter, ColumnKind, ColumnSchema, Reading, T
from fsm_hpc.data.median import median
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.proposition import Proposition

_LONGEST = 18  # characters of a whole number that 64 bits hold
_WHOLE = re.compile(r"[-+]?\d+")
_ALWAYS_EXACT = 15  # digits that a float keeps
_EXACT = 2**53  # up to here a float holds every whole number
_INFINITY = ("inf", "infinity", "\u221e")
_MANY = 9
EXPECTED = "whole numbers that a 64-bit float holds exactly"
_REMEDY = "{drop}, write fewer digits, or, if these are codes, {categorical}"


class Numeric(ColumnKind):
    name = KindName.NUMERIC

    def fits(self, column: RawColumn) -> bool:
        if not column.is_text:
            return column.values.dtype.kind in "iuf"
        return not column.is_typed and column.numbers is not None and not are_codes(column)

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        require_numbers(column)
        if column.sign is not None:  # None was reported
            _refuse_wrong_numbers(column)
        return ColumnSchema(column.name, self.name)

    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        if column.is_text:
            values, bad = _of_texts(column)
        else:
            values, bad = _of_values(column)
        reading.note_bad(schema.name, EXPECTED, _rounded(column)[:1])
        reading.note_bad(schema.name, "a finite number", bad)
        reading.note_missing(schema.name, column.missing)
        return [Column(schema.name, Kind.NUMERIC, values)]

    def condition(self, schema: ColumnSchema, proposition: Proposition, writer: CodeWriter[T]) -> T:
        return writer.number(proposition)

    def facts(self, columns: Sequence[Column]) -> dict[str, Any]:
        values = columns[0].values
        spread = {"min": values.min(), "median": median(values), "max": values.max()}
        return {
            "distinct": len(np.unique(values)),
            **{word: float(value) for word, value in spread.items()},
        }

    def doubts(self, column: RawColumn, columns: Sequence[Column]) -> Iterator[str]:
        numbers = columns[0].values
        if column.is_text and len(column.values) < column.rows:
            return
        is_id = numbers.dtype.kind in "iu" and len(np.unique(numbers)) == column.rows > _MANY
        if is_id and numbers.min() >= 0:
            yield f"{column.name} has another value in every row; if it is an id, {{drop}}"


def are_codes(column: RawColumn) -> bool:
    """01234 is no number."""
    if column.numbers is not None and len(column.values) and np.ptp(column.numbers.widths):
        return False  # without a look at each of them
    return texts.looks_like_codes(column.texts)


def numbers_of(column: RawColumn) -> NDArray[Any]:
    """The values of a numeric column; any that is no number is refused."""
    require_numbers(column)
    _refuse_wrong_numbers(column)
    return (_of_texts if column.is_text else _of_values)(column)[0]


def require_numbers(column: RawColumn) -> None:
    """Refuse a value that is no number by its sign, or by any where the file has none."""
    if not column.is_text or column.numbers is not None:
        return
    refuse_infinity(column)
    refuse_other_sign(column)
    bad = next(text for text in column.texts if not are_numbers((text,), column.sign))
    raise column.error(
        f"expected numbers, found {bad!r} in row {column.row_of(bad)}",
        "if it means missing, {missing}; if these are categories, {categorical}",
    )


def refuse_infinity(column: RawColumn, found: Sequence[str] | None = None) -> None:
    """Infinity is no number that a threshold could be, and no category."""
    infinite = list(filter(is_infinite, column.texts)) if found is None else found
    if infinite:
        raise column.error(
            f"expected finite numbers, found {infinite[0]!r} in row {column.row_of(infinite[0])}",
            "correct it or {drop}",
        )


def is_infinite(text: str) -> bool:
    return text.casefold().lstrip("+-\u2212") in _INFINITY


def refuse_other_sign(column: RawColumn) -> None:
    """Numbers that are none by the decimal sign of the file are no categories either."""
    sign = column.sign
    if sign is not None and are_numbers(column.texts):
        bad = next(text for text in column.texts if not sign.reads(text))
        raise column.error(
            f"expected numbers with a decimal {sign.value}, found {bad!r} in row "
            f"{column.row_of(bad)}",
            f"if the whole file is written so, use dataset.decimal={sign.other.value}; if these "
            "are categories, {categorical}",
        )


# -------------------------------------------------------------------------------------- values


def _of_values(column: RawColumn) -> tuple[NDArray[Any], list[Any]]:
    """Numbers by row, and values that are none."""
    values = column.values
    if values.dtype.kind not in "iuf":
        return np.zeros(column.rows), column.as_text().texts
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)  # float32 would round the threshold instead
    return values, values[np.isinf(values)].tolist()


def _of_texts(column: RawColumn) -> tuple[NDArray[Any], list[Any]]:
    """Whole numbers where all texts are whole ones."""
    numbers = column.numbers
    if numbers is None:
        sign = column.sign or DecimalSign.POINT
        return np.zeros(column.rows), [text for text in column.texts if not sign.reads(text)]
    spread = column.spread(numbers.values, 0.0)
    is_whole = numbers.are_whole and numbers.widths.max() <= _LONGEST
    return (spread.astype(np.int64) if is_whole else spread), _infinite(column, numbers)


def _infinite(column: RawColumn, numbers: Numbers) -> list[str]:
    return [column.texts[at] for at in np.flatnonzero(np.isinf(numbers.values))]


def _rounded(column: RawColumn) -> list[Any]:
    """Whole numbers that would become others as a float."""
    if column.is_text:
        if column.numbers is None:
            return []
        large = np.abs(column.numbers.values) >= _EXACT
        texts = [column.texts[at] for at in np.flatnonzero(large)]
        read = [(text, _normalized(column, text)) for text in texts]
        return [t for t, number in read if _WHOLE.fullmatch(number) and _is_rounded(number)]
    values = column.values[~column.missing]
    if values.dtype.kind == "f":
        odd = values[np.isfinite(values) & (values.astype(np.float64) != values)]
        return list(odd[:1])
    if values.dtype.kind not in "iu":
        return []
    large = values[(values > _EXACT) | (values < -_EXACT)]
    return [value for value in large.tolist() if int(float(value)) != value]


def _is_rounded(text: str) -> bool:
    return Decimal(text) != Decimal(float(text)) if len(text) < 400 else True


def _refuse_wrong_numbers(column: RawColumn) -> None:
    """Thresholds are floats: numbers have to be finite, exact, and different if texts differ."""
    if not column.is_text:
        _, bad = _of_values(column)
        refuse_infinity(column, list(map(str, bad)))
        refuse_rounding(column)
        return
    numbers = column.numbers
    assert numbers is not None
    refuse_infinity(column, _infinite(column, numbers))
    for text in _rounded(column):
        raise column.error(
            f"expected {EXPECTED}, found {text!r} in row {column.row_of(text)}, which would "
            f"become {float(_normalized(column, text)):.0f}",
            _REMEDY,
        )
    if numbers.has_powers or numbers.widths.max(initial=0) > _ALWAYS_EXACT:
        _refuse_equal_floats(column, numbers)


def _normalized(column: RawColumn, text: str) -> str:
    return (column.sign or DecimalSign.POINT).normalized(text)


def refuse_rounding(column: RawColumn) -> None:
    """Refuse numbers of an array that would become others as a float."""
    rounded = [] if column.is_text else _rounded(column)
    if rounded:
        row = column.row_number(int(np.argmax(column.values == rounded[0])))
        raise column.error(f"expected {EXPECTED}, found {rounded[0]} in row {row}", _REMEDY)


def _refuse_equal_floats(column: RawColumn, numbers: Numbers) -> None:
    if len(np.unique(numbers.values)) == len(numbers.values):
        return
    seen: dict[float, str] = {}
    for text, number in zip(column.texts, numbers.values.tolist(), strict=True):
        other = seen.setdefault(number, text)
        if not _is_same_number(_normalized(column, text), _normalized(column, other)):
            raise column.error(
                f"expected numbers that a 64-bit float tells apart, found {other!r} in row "
                f"{column.row_of(other)} and {text!r} in row {column.row_of(text)}, which would "
                f"both become {number!r}",
                _REMEDY,
            )


def _is_same_number(text: str, other: str) -> bool:
    with localcontext() as context:
        context.traps[InvalidOperation] = False  # a power beyond all bounds is like no other
        return text == other or Decimal(text) == Decimal(other)
