"""Tell from the text of a column whether it holds numbers, truth values or categories."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.text_column import TextColumn
from fsm_hpc.errors import UserError

_MOST_SPELLINGS = 20  # of true and false in one column: yes, Yes, YES, ...
_TRUTHS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0"))
_SIGN, _EXPONENT = "[-+\u2212]?", r"([eE][-+]?\d+)?"  # with the typographic minus sign
_WHOLE = re.compile(r"[-+]?\d{1,18}")
_POINT = re.compile(_SIGN + r"(\d+\.?\d*|\.\d+)" + _EXPONENT)  # 1234.5
_COMMA = re.compile(_SIGN + r"(\d+|\d{1,3}(\.\d{3})+)(,\d+)?" + _EXPONENT)  # 1.234,5
_GROUPED = re.compile(_SIGN + r"(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")  # 1,234.5
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}|\d{1,2}:\d{2}(:\d{2})?"
)
_WITH_UNIT = re.compile(r"[-+]?([$€£]\s?\d[\d.,]*|\d[\d.,]*\s?([^\W\d_]{1,4}|[%°€$£]))")


class RawKind(Enum):
    """What a column of a file holds."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"


def infer(column: TextColumn, spec: DatasetSpec) -> RawKind:
    """The kind that the values speak for; where they speak for none, what to do about it."""
    distinct = column.distinct
    if is_truth(distinct):
        return RawKind.BOOLEAN
    if _looks_like_codes(distinct):
        return RawKind.CATEGORICAL
    if _decimal_sign(column, spec) is not None:
        return RawKind.NUMERIC
    _refuse_dates(column, distinct)
    _refuse_mixtures(column, distinct)
    return RawKind.CATEGORICAL


def is_truth(values: Iterable[str]) -> bool:
    """Whether these are the words for true and false: yes and no, 1 and 0, ..."""
    first = list(itertools.islice(values, _MOST_SPELLINGS + 1))
    words = set(map(_plain, first))
    return len(first) <= _MOST_SPELLINGS and any(words <= set(pair) for pair in _TRUTHS)


def means_true(value: str) -> bool:
    return _plain(value) in {positive for positive, _ in _TRUTHS}


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
        is_number = _POINT.fullmatch(value) is not None
        return (0, _number(value), value) if is_number else (1, 0.0, value)

    return sorted(set(values), key=key)


# ------------------------------------------------------------------------------------ values


def numbers(column: TextColumn, spec: DatasetSpec) -> NDArray[np.int64] | NDArray[np.float64]:
    """The column as numbers: whole ones where the file has whole ones."""
    sign = _decimal_sign(column, spec)
    if sign is None:
        bad = next(v for v in column.values if not _is_number(v, spec.decimal))
        raise column.error(
            f"expected numbers, found {bad!r} in row {column.row_of(bad)}",
            "if it means missing, add it to dataset.missing_values; if these are categories, use "
            + column.setting("categorical"),
        )
    texts = {value: _pointed(value, sign) for value in column.distinct}
    if all(map(_WHOLE.fullmatch, texts.values())):
        whole = {value: int(text) for value, text in texts.items()}
        return np.array([whole[value] for value in column.values], dtype=np.int64)
    broken = {value: float(text) for value, text in texts.items()}
    values = np.array([broken[value] for value in column.values], dtype=np.float64)
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise column.error(
            f"expected finite numbers, found {column.values[at]!r} in row {column.rows[at]}",
            f"correct it or leave the column out with {column.setting('drop')}",
        )
    return values


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


def categories(column: TextColumn, spec: DatasetSpec) -> list[str]:
    """The categories of a column, in order; too many to be of use are refused."""
    found = in_order(column.values)
    if len(found) > spec.max_categories:
        what = f"{len(found)} different ones in {len(column.values)} rows"
        is_id = " (each once: an id or free text)" if len(found) == len(column.values) else ""
        unit = _WITH_UNIT.fullmatch(found[0])
        hint = f"; if {found[0]!r} is a number with a unit, remove the unit" if unit else ""
        raise column.error(
            f"expected at most {spec.max_categories} categories, found {what}{is_id}",
            f"leave it out with {column.setting('drop')} or raise dataset.max_categories{hint}",
        )
    return found


# ------------------------------------------------------------------------------------- rules


def _plain(value: str) -> str:
    """Lower case, and 1 for 1.0."""
    return f"{_number(value):.17g}" if _POINT.fullmatch(value) else value.casefold()


def _number(value: str) -> float:
    return float(_pointed(value, "."))


def _looks_like_codes(distinct: Sequence[str]) -> bool:
    """01234 is no number: digits of one width, some with a leading zero."""
    widths = {len(value) for value in distinct}
    return (
        widths != {1}
        and len(widths) == 1
        and all(value.isdecimal() for value in distinct)
        and any(value[0] == "0" for value in distinct)
    )


def _is_number(value: str, decimal: str) -> bool:
    patterns = {"point": (_POINT, _GROUPED), "comma": (_COMMA,)}.get(decimal, (_POINT, _COMMA))
    return any(pattern.fullmatch(value) for pattern in patterns)


def _decimal_sign(column: TextColumn, spec: DatasetSpec) -> str | None:
    """'.' or ',' when every value is a number written with it; None when some is no number."""
    if spec.decimal not in ("auto", "point", "comma"):
        found = spec.decimal
        raise UserError(f"dataset.decimal: expected auto, point or comma, found {found!r}")
    with_point = all(map(_POINT.fullmatch, column.distinct))
    grouped = with_point or all(map(_GROUPED.fullmatch, column.distinct))
    with_comma = all(map(_COMMA.fullmatch, column.distinct))
    if spec.decimal == "comma":
        return "," if with_comma else None
    if with_point or (spec.decimal == "point" and grouped):
        return "."
    if with_comma and grouped and spec.decimal == "auto":
        example = next(value for value in column.distinct if "," in value)
        raise column.error(
            f"{example!r} can be read as {example.replace(',', '.')} or {example.replace(',', '')}",
            "say dataset.decimal=comma for the first, dataset.decimal=point for the second",
        )
    if spec.decimal == "auto":
        return "," if with_comma else "." if grouped else None
    return None


def _pointed(value: str, sign: str) -> str:
    value = value.replace("\u2212", "-")
    return value.replace(",", "") if sign == "." else value.replace(".", "").replace(",", ".")


def _refuse_dates(column: TextColumn, distinct: Sequence[str]) -> None:
    if all(_DATE.fullmatch(value) for value in distinct):
        raise column.error(
            f"expected numbers or categories, found dates or times ({distinct[0]!r})",
            f"leave it out with {column.setting('drop')}, write it as a number (a year, days "
            f"since a start), or use {column.setting('categorical')}",
        )


def _refuse_mixtures(column: TextColumn, distinct: Sequence[str]) -> None:
    """A few words among numbers are mistakes or unknown missing values, not categories."""
    words = [value for value in distinct if not _is_number(value, "auto")]
    cells = sum(map(set(words).__contains__, column.values))
    if cells * 2 < len(column.values):
        raise column.error(
            f"expected numbers, found {words[0]!r} in row {column.row_of(words[0])} (numbers in "
            f"{len(column.values) - cells} of {len(column.values)} rows)",
            "if it means missing, add it to dataset.missing_values; if these are categories, use "
            + column.setting("categorical"),
        )


def spellings(values: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of categories that differ only in upper and lower case."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        groups[value.casefold()].append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]
