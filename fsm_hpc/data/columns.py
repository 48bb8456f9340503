"""A typed column of the one-hot table, and the names that categories get in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.formula import Proposition, missing_name


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
    is_threshold: bool = False  # of ordered categories, of which several hold in one row
    threshold: Callable[[float], float] = float  # how a number to compare with is written
    is_missing_indicator: bool = False  # whether it says where its source has no value

    @property
    def proposition(self) -> Proposition:
        """What a formula says with it, if it is Boolean."""
        if self.is_missing_indicator and self.source is not None:
            return Proposition.missing(self.source)
        return Proposition(self.name)

    def take(self, rows: NDArray[np.int64]) -> Column:
        return replace(self, values=self.values[rows])


def missing_indicator(name: str, missing: NDArray[np.bool_]) -> Column:
    """The column that says where another one has no value."""
    return Column(missing_name(name), Kind.BOOLEAN, missing, source=name, is_missing_indicator=True)


def same_names(columns: Iterable[Column]) -> Iterator[tuple[Column, Column]]:
    """All columns that are called like an earlier one, which comes first."""
    seen: dict[str, Column] = {}
    for column in columns:
        other = seen.setdefault(column.name, column)
        if other is not column:
            yield other, column
