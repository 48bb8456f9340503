"""Tell from the text of a column whether it holds numbers, truth values or categories."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.decimal_sign import DecimalSign, are_numbers, is_number
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn
from fsm_hpc.system.numbers import counted

_MOST_SPELLINGS = 20  # of true and false in one column: yes, Yes, YES, ...
_TRUTHS = (  # pairs in lower case; no word is true in one of them and false in another
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0")),
    *(("ja", "nein"), ("wahr", "falsch"), ("oui", "non"), ("vrai", "faux"), ("ja", "nee")),
    *(("si", "no"), ("sí", "no"), ("sì", "no"), ("verdadero", "falso"), ("vero", "falso")),
    *(("sim", "não"), ("sim", "nao"), ("verdadeiro", "falso"), ("ja", "nej"), ("ja", "nei")),
    *(("kyllä", "ei"), ("jah", "ei"), ("tak", "nie"), ("áno", "nie"), ("ano", "ne"), ("da", "ne")),
    *(("da", "nu"), ("igen", "nem"), ("evet", "hayır"), ("evet", "hayir"), ("да", "нет")),
    *(("так", "ні"), ("да", "не"), ("ναι", "όχι"), ("ya", "tidak"), ("có", "không")),
    *(
        ("نعم", "لا"),
        ("כן", "לא"),
        ("हाँ", "नहीं"),
        ("是", "否"),
        ("はい", "いいえ"),
        ("예", "아니요"),
    ),
)
_INT64 = re.compile(r"[-+]?\d{1,18}")
_WHOLE = re.compile(r"[-+]?\d+")
_ALWAYS_EXACT = 15  # digits that a float keeps
_CODE = re.compile(r"[-+\u2212]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")  # a number as a category
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}"
    r"|(-?\d+ days?,? )?\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_INFINITY = ("inf", "infinity", "\u221e")
_WITH_UNIT = re.compile(r"[-+]?([$€£]\s?\d[\d.,]*|\d[\d.,]*\s?([^\W\d_]{1,4}|[%°€$£]))")


class RawKind(Enum):
    """What a column of a file holds."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"


def infer(column: TextColumn, sign: DecimalSign | None) -> RawKind:
    """The kind that the values speak for; where they speak for none, what to do about it.

    Without a decimal sign of the file, what is a number by any sign is one.
    """
    distinct = column.distinct
    if is_truth(distinct):
        return RawKind.BOOLEAN
    if looks_like_codes(distinct):
        return RawKind.CATEGORICAL
    if are_numbers(distinct, sign):
        return RawKind.NUMERIC
    refuse_dates(column)
    if are_numbers(value for value in distinct if not _is_infinite(value)):
        _refuse_infinity(column)
    _refuse_other_sign(column, sign)
    _refuse_mixtures(column, distinct)
    return RawKind.CATEGORICAL


def is_truth(values: Iterable[str]) -> bool:
    """Whether these are the words for true and false: yes and no, 1 and 0, ..."""
    first = list(itertools.islice(values, _MOST_SPELLINGS + 1))
    words = set(map(_plain, first))
    return len(first) <= _MOST_SPELLINGS and any(words <= set(pair) for pair in _TRUTHS)


def means_true(value: str) -> bool:
    return _plain(value) in {positive for positive, _ in _TRUTHS}


def are_codes(values: Iterable[str]) -> bool:
    """Whether all are written as numbers."""
    return all(map(_CODE.fullmatch, values))


def match(wanted: str, values: Iterable[str]) -> str | None:
    """The one of `values` that the user means by `wanted`: the same text, or the same number."""
    values = list(values)
    for same in (str, str.casefold, _plain):
        found = [value for value in values if same(value) == same(wanted)]
        if len(found) == 1:
            return found[0]
    return None


def in_order(values: Iterable[str]) -> list[str]:
    """Distinct values: numbers by size, then text by alphabet."""

    def key(value: str) -> tuple[int, float, str]:
        is_code = _CODE.fullmatch(value) is not None
        return (0, _number(value), value) if is_code else (1, 0.0, value)

    return sorted(set(values), key=key)


# ------------------------------------------------------------------------------------ values


def require_numbers(column: TextColumn, sign: DecimalSign | None) -> None:
    """Refuse a value that is no number by this sign, or by any where the file has none."""
    if are_numbers(column.distinct, sign):
        return
    _refuse_infinity(column)
    _refuse_other_sign(column, sign)
    bad = next(value for value in column.distinct if not are_numbers((value,), sign))
    raise column.error(
        f"expected numbers, found {bad!r} in row {column.row_of(bad)}",
        "if it means missing, add it to dataset.missing_values; if these are categories, use "
        + column.setting("categorical"),
    )


def numbers(column: TextColumn, sign: DecimalSign) -> NDArray[np.int64] | NDArray[np.float64]:
    """The column as numbers: whole ones where the file has whole ones."""
    require_numbers(column, sign)
    texts = {value: sign.pointed(value) for value in column.distinct}
    floats = {value: float(text) for value, text in texts.items()}
    _refuse_infinity(column, [value for value, number in floats.items() if math.isinf(number)])
    _refuse_rounding(column, texts, floats)
    if all(map(_INT64.fullmatch, texts.values())):
        whole = {value: int(text) for value, text in texts.items()}
        return np.array([whole[value] for value in column.values], dtype=np.int64)
    return np.array([floats[value] for value in column.values], dtype=np.float64)


def truths(column: TextColumn, spec: DatasetSpec) -> NDArray[np.bool_]:
    """The column as truth values: `true_values` hold, the one other value does not."""
    distinct = column.distinct
    stated = {match(value, distinct) for value in spec.true_values} - {None}
    is_clear = len(stated) == 1 and len(distinct) <= 2
    if not stated and is_truth(distinct):
        stated, is_clear = {value for value in distinct if means_true(value)}, True
    if not is_clear and not (spec.true_values and not stated and len(distinct) == 1):
        shown = ", ".join(in_order(distinct)[:5])
        raise column.error(
            f"expected two values, true and false, found {len(distinct)}: {shown}",
            "say which one is true with dataset.true_values=[...], or list the column in "
            "dataset.categorical or dataset.numeric",
        )
    return np.array([value in stated for value in column.values], dtype=bool)


def have_units(values: Iterable[str]) -> bool:
    """Whether all of them look like a number with a unit, such as `67 %`."""
    return all(map(_WITH_UNIT.fullmatch, values))


def categories(column: TextColumn, spec: DatasetSpec) -> list[str]:
    """The categories of a column, in order; too many to be of use are refused."""
    found = in_order(column.values)
    if len(found) > spec.max_categories:
        most = counted(spec.max_categories, "category", "categories")
        what = f"{len(found)} different ones in {counted(len(column.values), 'row')}"
        is_id = " (each once: an id or free text)" if len(found) == len(column.values) else ""
        unit = have_units(found[:1])
        hint = f"; if {found[0]!r} is a number with a unit, remove the unit" if unit else ""
        raise column.error(
            f"expected at most {most}, found {what}{is_id}",
            f"leave it out with {column.setting('drop')} or {column.more_categories}{hint}",
        )
    return found


# ------------------------------------------------------------------------------------- rules


def _plain(value: str) -> str:
    """Lower case, and 1 for 1.0."""
    if _CODE.fullmatch(value):
        return f"{_number(value):.17g}"
    return unicodedata.normalize("NFC", value.casefold())


def _number(value: str) -> float:
    return float(DecimalSign.POINT.pointed(value))


def looks_like_codes(distinct: Sequence[str]) -> bool:
    """01234 is no number: digits of one width, some with a leading zero."""
    widths = set(map(len, distinct))
    return (
        widths != {1}
        and len(widths) == 1
        and all(value.isdecimal() for value in distinct)
        and any(value[0] == "0" for value in distinct)
    )


def refuse_dates(column: TextColumn) -> None:
    """A date is no number and no category until somebody says which."""
    distinct = column.distinct
    if all(_DATE.fullmatch(value) for value in distinct):
        raise column.error(
            f"expected numbers or categories, found dates or times ({distinct[0]!r})",
            f"leave it out with {column.setting('drop')}, write it as a number (a year, days "
            f"since a start), or use {column.setting('categorical')}",
        )


def _is_infinite(value: str) -> bool:
    return value.casefold().lstrip("+-\u2212") in _INFINITY


def _refuse_infinity(column: TextColumn, found: Sequence[str] | None = None) -> None:
    """Infinity is no number that a threshold could be, and no category."""
    infinite = list(filter(_is_infinite, column.distinct)) if found is None else found
    if infinite:
        raise column.error(
            f"expected finite numbers, found {infinite[0]!r} in row {column.row_of(infinite[0])}",
            f"correct it or leave the column out with {column.setting('drop')}",
        )


def _refuse_other_sign(column: TextColumn, sign: DecimalSign | None) -> None:
    """Numbers that are none by the decimal sign of the file are no categories either."""
    if sign is not None and are_numbers(column.distinct):
        bad = next(value for value in column.distinct if not sign.reads(value))
        raise column.error(
            f"expected numbers with a decimal {sign.value}, found {bad!r} in row "
            f"{column.row_of(bad)}",
            f"if the whole file is written so, use dataset.decimal={sign.other.value}; if these "
            f"are categories, use {column.setting('categorical')}",
        )


def _refuse_mixtures(column: TextColumn, distinct: Sequence[str]) -> None:
    """A few words among numbers are mistakes or unknown missing values, not categories."""
    words = [value for value in distinct if not is_number(value)]
    cells = sum(map(set(words).__contains__, column.values))
    if cells * 2 < len(column.values):
        raise column.error(
            f"expected numbers, found {words[0]!r} in row {column.row_of(words[0])} (numbers in "
            f"{len(column.values) - cells} of {len(column.values)} rows)",
            "if it means missing, add it to dataset.missing_values; if these are categories, use "
            + column.setting("categorical"),
        )


def _refuse_rounding(
    column: TextColumn, texts: Mapping[str, str], floats: Mapping[str, float]
) -> None:
    """Cuts are floats: whole numbers have to be exact in them, and different ones different."""
    todo = (
        f"leave it out with {column.setting('drop')}, write fewer digits, or, if these are codes, "
        f"use {column.setting('categorical')}"
    )
    long = (v for v, text in texts.items() if len(text) > _ALWAYS_EXACT and _WHOLE.fullmatch(text))
    for value in long:
        if Decimal(texts[value]) != Decimal(floats[value]):
            raise column.error(
                f"expected whole numbers that a 64-bit float holds exactly, found {value!r} in row "
                f"{column.row_of(value)}, which would become {floats[value]:.0f}",
                todo,
            )
    if len(set(floats.values())) == len(floats):
        return
    seen: dict[float, str] = {}
    for value, number in floats.items():
        other = seen.setdefault(number, value)
        if not _is_same_number(texts[value], texts[other]):
            raise column.error(
                f"expected numbers that a 64-bit float tells apart, found {other!r} in row "
                f"{column.row_of(other)} and {value!r} in row {column.row_of(value)}, which would "
                f"both become {number!r}",
                todo,
            )


def _is_same_number(text: str, other: str) -> bool:
    with localcontext() as context:
        context.traps[InvalidOperation] = False  # a power beyond all bounds is like no other
        return text == other or Decimal(text) == Decimal(other)


def spellings(values: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of categories that differ only in upper and lower case."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        groups[value.casefold()].append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]
