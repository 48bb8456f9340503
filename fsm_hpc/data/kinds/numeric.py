"""Columns of numbers, which formulas compare with thresholds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.data.decimal_sign import DecimalSign, PlainNumbers, are_numbers
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import texts
from fsm_hpc.data.kinds.base import CodeWriter, ColumnKind, ColumnSchema, Reading, T
from fsm_hpc.data.median import median
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.proposition import Proposition

_INT64 = re.compile(r"[-+]?\d{1,18}")
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
        if column.is_typed or _are_codes(column):
            return False
        return column.plain is not None or are_numbers(column.texts, column.sign)

    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        if column.is_text and column.plain is None:
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


def _are_codes(column: RawColumn) -> bool:
    if column.plain is not None and np.ptp(column.plain.widths):
        return False  # without a look at each of them
    return texts.looks_like_codes(column.texts)


def numbers_of(column: RawColumn) -> NDArray[Any]:
    """The values of a numeric column; any that is no number is refused."""
    if column.is_text and column.plain is None:
        require_numbers(column)
    _refuse_wrong_numbers(column)
    return (_of_texts if column.is_text else _of_values)(column)[0]


def require_numbers(column: RawColumn) -> None:
    """Refuse a value that is no number by its sign, or by any where the file has none."""
    if are_numbers(column.texts, column.sign):
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
    plain = column.plain
    if plain is not None:
        numbers = plain.values
        is_whole = not (plain.has_points or plain.has_powers) and plain.widths.max() <= 18
        bad = [column.texts[at] for at in np.flatnonzero(np.isinf(numbers))]
    else:
        sign = column.sign or DecimalSign.POINT
        read = {t: sign.normalized(t) if sign.reads(t) else "nan" for t in column.texts}
        numbers = np.array(list(map(float, read.values())), dtype=np.float64)
        is_whole = bool(read) and all(map(_INT64.fullmatch, read.values()))
        bad = [t for t, n in zip(read, numbers.tolist(), strict=True) if not math.isfinite(n)]
    spread = column.spread(numbers, 0.0)
    return (spread.astype(np.int64) if is_whole else spread), bad


def _rounded(column: RawColumn) -> list[Any]:
    """Whole numbers that would become others as a float."""
    if column.is_text:
        long = _long_texts(column)
        sign = column.sign or DecimalSign.POINT
        read = [(text, sign.normalized(text)) for text in long]
        return [t for t, number in read if _WHOLE.fullmatch(number) and _is_rounded(number)]
    values = column.values[~column.missing]
    if values.dtype.kind == "f":
        odd = values[np.isfinite(values) & (values.astype(np.float64) != values)]
        return list(odd[:1])
    if values.dtype.kind not in "iu":
        return []
    large = values[(values > _EXACT) | (values < -_EXACT)]
    return [value for value in large.tolist() if int(float(value)) != value]


def _long_texts(column: RawColumn) -> list[str]:
    """Texts that may be whole numbers with more digits than a float keeps."""
    import pyarrow.compute

    texts = column.values
    if column.plain is not None:
        texts = texts.filter(pyarrow.array(column.plain.widths > _ALWAYS_EXACT))
        has_decimals = pyarrow.compute.match_substring_regex(texts, "[.eE]")
        texts = texts.filter(pyarrow.compute.invert(has_decimals))
    return [text for text in texts.to_pylist() if len(text) > _ALWAYS_EXACT]


def _is_rounded(text: str) -> bool:
    return Decimal(text) != Decimal(float(text)) if len(text) < 400 else True


def _refuse_wrong_numbers(column: RawColumn) -> None:
    """Thresholds are floats: numbers have to be finite, exact, and different if texts differ."""
    if not column.is_text:
        _, bad = _of_values(column)
        refuse_infinity(column, list(map(str, bad)))
        refuse_rounding(column)
        return
    if column.plain is not None and _are_told_apart(column.plain) and not _rounded(column):
        return
    sign = column.sign or DecimalSign.POINT
    read = {text: sign.normalized(text) for text in column.texts}
    floats = {text: float(number) for text, number in read.items()}
    refuse_infinity(column, [text for text, number in floats.items() if math.isinf(number)])
    _refuse_equal_floats(column, read, floats)


def _are_told_apart(plain: PlainNumbers) -> bool:
    """Whether different texts are different, finite numbers."""
    if plain.widths.max() <= _ALWAYS_EXACT:
        zeros = int((plain.values == 0).sum())  # 1e-400 is none, but becomes one
        return not plain.has_powers or (zeros <= 1 and bool(np.isfinite(plain.values).all()))
    different = np.unique(plain.values)
    return len(different) == len(plain.values) and bool(np.isfinite(different).all())


def refuse_rounding(column: RawColumn) -> None:
    """Refuse numbers of an array that would become others as a float."""
    rounded = [] if column.is_text else _rounded(column)
    if rounded:
        row = column.row_number(int(np.argmax(column.values == rounded[0])))
        raise column.error(f"expected {EXPECTED}, found {rounded[0]} in row {row}", _REMEDY)


def _refuse_equal_floats(
    column: RawColumn, read: Mapping[str, str], floats: Mapping[str, float]
) -> None:
    for text in _rounded(column):
        raise column.error(
            f"expected {EXPECTED}, found {text!r} in row {column.row_of(text)}, which would "
            f"become {floats[text]:.0f}",
            _REMEDY,
        )
    if len(set(floats.values())) == len(floats):
        return
    seen: dict[float, str] = {}
    for text, number in floats.items():
        other = seen.setdefault(number, text)
        if not _is_same_number(read[text], read[other]):
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
