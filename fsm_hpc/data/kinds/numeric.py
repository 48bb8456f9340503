"""Columns of numbers, which formulas compare with thresholds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.decimal_sign import DecimalSign, are_numbers
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.base import ColumnKind, ColumnSchema, Reading
from fsm_hpc.data.kinds.writer import T, Writer
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.proposition import Proposition

_LONGEST = 18  # characters of a whole number that 64 bits hold
_WHOLE = re.compile(r"[-+]?\d+")
_ALWAYS_EXACT = 15  # digits that a float keeps
_TINY = np.finfo(np.float64).tiny  # floats below keep fewer digits
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
        _check_numbers(column)
        return ColumnSchema(column.name, self.name)

    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        values, bad = _parsed(column)
        reading.note_bad(schema.name, EXPECTED, _rounded(column)[:1])
        reading.note_bad(schema.name, "a finite number", bad)
        return [Column(schema.name, Kind.NUMERIC, values)]

    def condition(self, schema: ColumnSchema, proposition: Proposition, writer: Writer[T]) -> T:
        return writer.number(proposition)

    def doubts(self, column: RawColumn, columns: Sequence[Column]) -> Iterator[str]:
        numbers = columns[0].values
        if column.is_text and len(column.values) < column.rows:
            return
        is_id = numbers.dtype.kind in "iu" and len(np.unique(numbers)) == column.rows > _MANY
        if is_id and numbers.min() >= 0:
            yield f"{column.name} has another value in every row; if it is an id, {{drop}}"


def are_codes(column: RawColumn) -> bool:
    """Whether digits are codes such as 01234, not numbers."""
    if column.numbers is not None and len(column.values) and np.ptp(column.numbers.widths):
        return False  # codes have one width; this avoids a list of all texts
    return texts.looks_like_codes(column.texts)


def numbers_of(column: RawColumn) -> NDArray[np.float64]:
    """The values of a numeric column; raise an error for a value that is no finite number."""
    _check_numbers(column)
    return _parsed(column)[0].astype(np.float64)


# -------------------------------------------------------------------------------------- values


def _parsed(column: RawColumn) -> tuple[NDArray[Any], list[Any]]:
    """Numbers by row, whole ones as integers, and cells that are no finite numbers."""
    numbers = column.numbers if column.is_text else None
    if numbers is not None:
        values = column.spread(numbers.values, 0.0)
        is_whole = numbers.are_whole and numbers.widths.max() <= _LONGEST
        infinite = np.flatnonzero(np.isinf(numbers.values))
        return values.astype(np.int64) if is_whole else values, column.texts_at(infinite)
    if column.is_text or column.values.dtype.kind not in "iuf":
        sign = column.sign or DecimalSign.POINT
        bad = [text for text in column.as_text().texts if not sign.reads(text)]
        return np.zeros(column.rows), bad
    values = column.values
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)  # float32 would round the threshold
    return values, values[np.isinf(values)].tolist()


def _rounded(column: RawColumn) -> list[Any]:
    """Whole numbers that a float cannot hold; of floats with more than 64 bits, any number."""
    if column.is_text:
        if column.numbers is None:
            return []
        large = np.flatnonzero(np.abs(column.numbers.values) >= _EXACT)
        return [text for text in column.texts_at(large) if _is_rounded(_normalized(column, text))]
    values = column.values[~column.missing]
    if values.dtype.kind == "f":
        odd = values[np.isfinite(values) & (values.astype(np.float64) != values)]
        return list(odd[:1])
    if values.dtype.kind not in "iu":
        return []
    large = values[(values > _EXACT) | (values < -_EXACT)]
    return [value for value in large.tolist() if int(float(value)) != value]


def _is_rounded(text: str) -> bool:
    if not _WHOLE.fullmatch(text):
        return False
    return len(text) >= 400 or Decimal(text) != Decimal(float(text))


def _normalized(column: RawColumn, text: str) -> str:
    return (column.sign or DecimalSign.POINT).normalized(text)


# -------------------------------------------------------------------------------------- errors


def _check_numbers(column: RawColumn) -> None:
    """Thresholds are floats: numbers must be finite, exact, and distinct if their texts are."""
    if column.is_text and column.numbers is None:
        refuse_infinity(column, list(filter(is_infinite, column.texts)))
        refuse_other_sign(column)
        bad = next(text for text in column.texts if not are_numbers((text,), column.sign))
        raise column.error(
            f"expected numbers, found {bad!r} in row {column.row_of(bad)}",
            "if it means missing, {missing}; if these are categories, {categorical}",
        )
    if column.sign is None:  # reported already
        return
    refuse_infinity(column, _parsed(column)[1])
    refuse_rounding(column)
    if column.is_text:
        _refuse_equal_floats(column)


def refuse_infinity(column: RawColumn, infinite: Sequence[Any]) -> None:
    """Infinity can be neither a threshold nor a category."""
    if infinite:
        raise column.error(
            f"expected finite numbers, found {str(infinite[0])!r} in row "
            f"{column.row_of(infinite[0])}",
            "correct it or {drop}",
        )


def is_infinite(text: str) -> bool:
    return text.casefold().lstrip("+-\u2212") in _INFINITY


def refuse_other_sign(column: RawColumn) -> None:
    """Numbers with the other decimal sign are not categories."""
    sign = column.sign
    if sign is not None and are_numbers(column.texts):
        bad = next(text for text in column.texts if not sign.reads(text))
        raise column.error(
            f"expected numbers with a decimal {sign.value}, found {bad!r} in row "
            f"{column.row_of(bad)}",
            f"if the whole file is written so, use dataset.decimal={sign.other.value}; if these "
            "are categories, {categorical}",
        )


def refuse_rounding(column: RawColumn) -> None:
    """Raise an error for numbers that conversion to a float would change."""
    for cell in _rounded(column)[:1]:
        number = float(_normalized(column, cell) if column.is_text else cell)
        becomes = f"{number:.0f}" if number.is_integer() else repr(number)
        shown = repr(cell) if column.is_text else cell
        raise column.error(
            f"expected {EXPECTED}, found {shown} in row {column.row_of(cell)}, which would become "
            f"{becomes}",
            _REMEDY,
        )


def _refuse_equal_floats(column: RawColumn) -> None:
    numbers = column.numbers
    assert numbers is not None
    longest = int(numbers.widths.max(initial=0)) - numbers.has_points
    has_tiny = numbers.has_powers and bool((np.abs(numbers.values) < _TINY).any())
    if longest <= _ALWAYS_EXACT and not has_tiny:
        return
    seen: dict[float, str] = {}
    repeated = _repeated(numbers.values)
    pairs = zip(column.texts_at(repeated), numbers.values[repeated].tolist(), strict=True)
    for text, number in pairs:
        other = seen.setdefault(number, text)
        if text != other and not _is_same_number(
            _normalized(column, text), _normalized(column, other)
        ):
            raise column.error(
                f"expected numbers that a 64-bit float tells apart, found {other!r} in row "
                f"{column.row_of(other)} and {text!r} in row {column.row_of(text)}, which would "
                f"both become {number!r}",
                _REMEDY,
            )


def _repeated(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The indices of values that occur more than once."""
    ordered = np.sort(values)
    equal = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(values, equal)) if len(equal) else np.empty(0, np.int64)


def _is_same_number(text: str, other: str) -> bool:
    with localcontext() as context:
        context.traps[InvalidOperation] = False  # a power beyond all limits equals no other
        return Decimal(text) == Decimal(other)
