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
    """The first group does not start with 0, unlike 0.123; powers of ten have no groups."""
    plain = rf"(\d+{decimal}?\d*|{decimal}\d+){_EXPONENT}"
    grouped = rf"[1-9]\d{{0,2}}({group}\d{{3}})+({decimal}\d*)?"
    return rf"{_SIGN}({plain}|{grouped})"


_POINT = re.compile(_number(r"\.", ","))
_COMMA = re.compile(_number(",", r"\."))
_ANY = re.compile(f"{_POINT.pattern}|{_COMMA.pattern}")


class DecimalSign(Enum):
    """The sign before the decimals; groups of three digits have the other sign, or none."""

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
    """Whether all are numbers by this convention; without one, each by either of them."""
    pattern = {None: _ANY, DecimalSign.POINT: _POINT, DecimalSign.COMMA: _COMMA}[sign]
    return all(map(pattern.fullmatch, texts))


@dataclass(frozen=True, slots=True)
class Numbers:
    """Distinct texts as numbers."""

    values: NDArray[np.float64]
    widths: NDArray[np.int32]  # characters of each
    has_points: bool
    has_powers: bool  # of ten: 1e5
    is_plain: bool  # whether Arrow can parse all of them

    @property
    def are_whole(self) -> bool:
        return not (self.has_points or self.has_powers) and len(self.values) > 0


def read_numbers(
    texts: Any, sign: DecimalSign | None, floats: NDArray[np.float64] | None = None
) -> Numbers | None:
    """Parse an Arrow array; None if a text is no number by this convention, or by any."""
    import pyarrow
    import pyarrow.compute

    values, written = parsed_by_arrow(texts) if floats is None else floats, texts
    is_plain = values is not None and (sign is DecimalSign.POINT or b"." not in _content(texts))
    if not is_plain:
        listed = texts.to_pylist()
        if not are_numbers(listed, sign):
            return None
        normalized = [(sign or _sign_of(text)).normalized(text) for text in listed]
        written = pyarrow.array(normalized, pyarrow.string())
        values = np.array(list(map(float, normalized)), dtype=np.float64)
    assert values is not None
    content = _content(written)
    widths = np.asarray(pyarrow.compute.binary_length(written))
    has_powers = b"e" in content or b"E" in content
    return Numbers(values, widths, b"." in content, has_powers, is_plain)


def _sign_of(text: str) -> DecimalSign:
    return DecimalSign.POINT if DecimalSign.POINT.reads(text) else DecimalSign.COMMA


def parsed_by_arrow(texts: Any) -> NDArray[np.float64] | None:
    """Fast, but without groups of digits, plus signs and hexadecimal numbers."""
    import pyarrow
    import pyarrow.compute

    try:
        values = np.asarray(pyarrow.compute.cast(texts, pyarrow.float64()))
    except pyarrow.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None  # nan and inf are words here


def _content(texts: Any) -> bytes:
    """All texts of an Arrow array, one after the other."""
    if not len(texts):
        return b""
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset :]
    return bytes(content.slice(int(ends[0]), int(ends[len(texts)] - ends[0])))
