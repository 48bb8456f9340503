"""Read a number by one of two conventions: 1,234.5 or 1.234,5."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

_SIGN, _EXPONENT = "[-+\u2212]?", r"([eE][-+]?\d+)?"  # with the typographic minus sign


def _number(decimal: str, group: str) -> str:
    """A first group does not begin with 0, which tells 0.123 from 1.123; powers have no groups."""
    plain = rf"(\d+{decimal}?\d*|{decimal}\d+){_EXPONENT}"
    grouped = rf"[1-9]\d{{0,2}}({group}\d{{3}})+({decimal}\d*)?"
    return rf"{_SIGN}({plain}|{grouped})"


_POINT = re.compile(_number(r"\.", ","))
_COMMA = re.compile(_number(",", r"\."))
_ANY = re.compile(f"{_POINT.pattern}|{_COMMA.pattern}")


class DecimalSign(Enum):
    """What stands before the decimals; groups of three digits have the other sign, or none."""

    POINT = "point"
    COMMA = "comma"

    @property
    def other(self) -> DecimalSign:
        return DecimalSign.COMMA if self is DecimalSign.POINT else DecimalSign.POINT

    def reads(self, text: str) -> bool:
        """Whether the text is a number by this convention."""
        return are_numbers((text,), self)

    def pointed(self, text: str) -> str:
        """The number as Python writes it."""
        text = text.replace("\u2212", "-")
        if self is DecimalSign.POINT:
            return text.replace(",", "")
        return text.replace(".", "").replace(",", ".")


def are_numbers(texts: Iterable[str], sign: DecimalSign | None = None) -> bool:
    """Whether all are numbers by this convention, or each by any where none is given."""
    pattern = {None: _ANY, DecimalSign.POINT: _POINT, DecimalSign.COMMA: _COMMA}[sign]
    return all(map(pattern.fullmatch, texts))


def is_number(text: str) -> bool:
    """Whether it is one by any convention."""
    return _ANY.fullmatch(text) is not None


def which(texts: Iterable[str]) -> Iterator[tuple[str, bool, bool]]:
    """Of texts with a point or a comma: is it a number by the decimal point, by the comma?"""
    signed = [text for text in texts if "." in text or "," in text]
    by_point, by_comma = map(_POINT.fullmatch, signed), map(_COMMA.fullmatch, signed)
    for text, point, comma in zip(signed, by_point, by_comma, strict=True):
        yield text, point is not None, comma is not None
