"""Medians and quantiles that are exact, with rows that may count several times."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ENOUGH_DIGITS = 1000  # for the exact sum of the largest and the smallest float


def median(values: NDArray[Any], counts: NDArray[Any] | None = None) -> float:
    """The middle value, or the exact mean of the two middle ones as they are written.

    It is never above all of the upper half: `value > median` holds there. `counts` are whole
    numbers: a row of count 2 is two rows.
    """
    total = len(values) if counts is None else int(counts.sum())
    low, high = _at(values, counts, ((total + 1) // 2, total // 2 + 1)).tolist()
    if low == high:
        return float(low)
    with localcontext() as context:
        context.prec = _ENOUGH_DIGITS
        middle = float((Decimal(repr(low)) + Decimal(repr(high))) / 2)
    return middle if middle < high else float(low)  # no float lies between two neighbours


def quantiles(values: NDArray[Any], n: int, counts: NDArray[Any] | None = None) -> NDArray[Any]:
    """The values that part the rows evenly: the k-th has k/(n+1) of the rows up to it, or more."""
    total = len(values) if counts is None else int(counts.sum())
    return _at(values, counts, [-(-total * k // (n + 1)) for k in range(1, n + 1)])


def _at(values: NDArray[Any], counts: NDArray[Any] | None, places: Sequence[int]) -> NDArray[Any]:
    """The values at these places, from 1 on, of the rows in order."""
    if counts is None:
        return np.asarray(np.sort(values)[[place - 1 for place in places]])
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(counts[order])
    return np.asarray(values[order[[int(np.searchsorted(upto, place)) for place in places]]])
