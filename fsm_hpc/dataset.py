"""A raw table -> typed columns and a target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Kind(Enum):
    """What a column offers to a formula: a truth value, or a number to be cut."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the one-hot table; a category knows the column that it comes from."""

    name: str
    kind: Kind
    values: NDArray[Any]
    source: str | None = None
    category: str | None = None

    def take(self, rows: NDArray[np.int64]) -> Column:
        return replace(self, values=self.values[rows])
