"""Numbers that a 64-bit float does not hold: cuts are floats, so such a column is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 2**53  # up to here a float holds every whole number
_WHOLE = re.compile(r"\s*[-+]?[0-9]{16,400}\s*")
EXPECTED = "whole numbers that a 64-bit float holds exactly"
ADVICE = "leave it out, or, if these are codes, make them text"


def inexact(values: NDArray[Any]) -> Any | None:
    """The first value that would become another number; None where all stay what they are."""
    if values.dtype.kind in "iu":
        large = values[(values > _EXACT) | (values < -_EXACT)]
        return _first(large.tolist())
    if values.dtype.kind == "f":
        odd = values[np.isfinite(values) & (values.astype(np.float64) != values)]
        return odd[0] if odd.size else None
    return _first(values.ravel().tolist()) if values.dtype.kind == "O" else None


def refuse_inexact(table: Any) -> None:
    """Of an array with a column for each feature, before it becomes one of floats."""
    try:
        cells = np.asarray(table if isinstance(table, (np.ndarray, list, tuple)) else [])
    except ValueError:  # no table at all, which scikit-learn has words for
        return
    for number in range(cells.shape[1] if cells.ndim == 2 else 0):
        found = inexact(cells[:, number])
        if found is not None:
            raise ValueError(f"column 'x{number}': expected {EXPECTED}, found {found}; {ADVICE}")


def is_number(value: Any) -> bool:
    """A real number of any type; truth values are none."""
    kinds = (int, float, Decimal, Fraction, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def _first(values: Iterable[Any]) -> Any | None:
    return next((value for value in values if _is_rounded(value)), None)


def _is_rounded(value: Any) -> bool:
    if isinstance(value, str):
        return _WHOLE.fullmatch(value) is not None and _is_rounded(int(value))
    if not isinstance(value, (int, np.integer)) or abs(int(value)) <= _EXACT:
        return False
    try:
        return int(float(value)) != value
    except OverflowError:
        return True
