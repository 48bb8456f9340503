"""Read a number by one of two conventions: 1,234.5 or 1.234,5."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    def normalized(self, text: str) -> str:
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


@dataclass(frozen=True, slots=True)
class Numbers:
    """Different texts as numbers."""

    values: NDArray[np.float64]
    widths: NDArray[np.int32]  # characters of each
    has_points: bool
    has_powers: bool  # of ten: 1e5
    is_plain: bool  # whether all are digits, decimal points, minus signs and powers of ten

    @property
    def are_whole(self) -> bool:
        return not (self.has_points or self.has_powers) and len(self.values) > 0


def read_numbers(texts: Any, sign: DecimalSign | None) -> Numbers | None:
    """Those of an Arrow array, unless some text is no number by this convention, or by any."""
    plain = _plain_numbers(texts)
    if plain is not None and (sign is DecimalSign.POINT or not plain.has_points):
        return plain
    listed = texts.to_pylist()
    if not are_numbers(listed, sign):
        return None
    written = [(sign or _sign_of(text)).normalized(text) for text in listed]
    values = np.array(list(map(float, written)), dtype=np.float64)
    signs = set("".join(written))
    widths = np.array(list(map(len, written)), dtype=np.int32)
    return Numbers(values, widths, "." in signs, bool(signs & {"e", "E"}), is_plain=False)


def _sign_of(text: str) -> DecimalSign:
    return DecimalSign.POINT if DecimalSign.POINT.reads(text) else DecimalSign.COMMA


def _plain_numbers(texts: Any) -> Numbers | None:
    """Numbers that Arrow reads, which is fast."""
    import pyarrow
    import pyarrow.compute

    try:  # which takes no groups of digits, no plus sign and no hexadecimal numbers
        values = np.asarray(pyarrow.compute.cast(texts, pyarrow.float64()))
    except pyarrow.ArrowInvalid:
        return None
    if not len(values) or not np.isfinite(values).all():  # nan and inf are words here
        return None
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    content = np.frombuffer(texts.buffers()[2], np.uint8)[ends[0] : ends[-1]]
    has_points, *powers = ((content == ord(sign)).any() for sign in ".eE")
    return Numbers(values, np.diff(ends), bool(has_points), any(powers), is_plain=True)
