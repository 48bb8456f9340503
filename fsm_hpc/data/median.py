"""The median that a person would compute: 4.69 between 4.68 and 4.70."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ENOUGH_DIGITS = 1000  # for the exact sum of the largest and the smallest float


def median(values: NDArray[Any]) -> float:
    """The middle value, or the exact mean of the two middle ones as they are written.

    It is never above all of the upper half: `value > median` holds there.
    """
    count = len(values)
    low, high = np.partition(values, [(count - 1) // 2, count // 2])[
        [(count - 1) // 2, count // 2]
    ].tolist()
    if low == high:
        return float(low)
    with localcontext() as context:
        context.prec = _ENOUGH_DIGITS
        middle = float((Decimal(repr(low)) + Decimal(repr(high))) / 2)
    return middle if middle < high else float(low)  # no float lies between two neighbours
