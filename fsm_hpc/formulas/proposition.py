"""A proposition: a yes-or-no statement about one column, and its truth on a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from fsm_hpc.formulas.text import Threshold, number, quote

if TYPE_CHECKING:  # `status` reads formulas, and answers before numpy is loaded
    import numpy as np
    from numpy.typing import NDArray

Truth: TypeAlias = "NDArray[np.bool_]"
Table = Mapping[str, Any]  # column name -> values; a pandas DataFrame is one
# Boolean column -> (subject, value); `x is missing` where x may be missing
Phrases = Mapping[str, tuple[str, str]]


class Relation(Enum):
    """How a proposition compares its column with its thresholds."""

    HOLDS = "holds"
    ABOVE = ">"
    AT_LEAST = ">="
    WITHIN = "<= <="
    MISSING = "is missing"


@dataclass(frozen=True, slots=True)
class Proposition:
    """A yes-or-no statement about one column of a row."""

    column: str
    relation: Relation = Relation.HOLDS
    low: float = 0.0
    high: float = 0.0

    @staticmethod
    def above(column: str, median: float) -> Proposition:
        return Proposition(column, Relation.ABOVE, _threshold(median))

    @staticmethod
    def at_least(column: str, pivot: float) -> Proposition:
        return Proposition(column, Relation.AT_LEAST, _threshold(pivot))

    @staticmethod
    def within(column: str, low: float, high: float) -> Proposition:
        return Proposition(column, Relation.WITHIN, _threshold(low), _threshold(high))

    @staticmethod
    def missing(column: str) -> Proposition:
        return Proposition(column, Relation.MISSING)

    @property
    def thresholds(self) -> tuple[str, ...]:
        """The numbers that it compares with, as they are printed."""
        if self.relation in (Relation.HOLDS, Relation.MISSING):
            return ()
        ends = (self.low, self.high) if self.relation is Relation.WITHIN else (self.low,)
        return tuple(map(number, ends))

    def moved(self, low: float | None = None, high: float | None = None) -> Proposition:
        """The same with other thresholds of the same type."""
        kind = type(self.low)
        ends = (self.low if low is None else kind(low), self.high if high is None else kind(high))
        return replace(self, low=ends[0], high=ends[1])

    def with_numbers(self) -> Proposition:
        """The same with thresholds as plain numbers."""
        return replace(self, low=float(self.low), high=float(self.high))

    def is_known_in(self, table: Iterable[str]) -> bool:
        """Whether a table with these columns determines it."""
        names = {self.column}
        if self.relation is Relation.MISSING:
            names.add(missing_name(self.column))
        return not names.isdisjoint(table)

    def evaluate(self, table: Table) -> Truth:
        import numpy as np

        if self.relation is Relation.MISSING and missing_name(self.column) in table:
            return np.asarray(table[missing_name(self.column)]).astype(bool)
        values = np.asarray(table[self.column])
        if self.relation is Relation.MISSING:
            return _missing(values)
        if self.relation is Relation.HOLDS:
            return values.astype(bool) & ~_missing(values)
        if values.dtype.kind == "f":
            values = values.astype(np.float64)  # float32 would round the threshold instead
        if self.relation is Relation.ABOVE:
            return np.asarray(values > self.low)
        if self.relation is Relation.AT_LEAST:
            return np.asarray(values >= self.low)
        return np.asarray((values >= self.low) & (values <= self.high))

    def __str__(self) -> str:
        name = quote(self.column)
        if self.relation is Relation.HOLDS:
            return name
        if self.relation is Relation.MISSING:
            return f"{name} is missing"
        if self.relation is Relation.WITHIN:
            return f"{number(self.low)} <= {name} <= {number(self.high)}"
        return f"{name} {self.relation.value} {number(self.low)}"

    def latex(self, symbol: str) -> str:
        """The symbol with the paper's subscript: `p_{\\geq 767}`, `p_{[25,60]}`, `p_{m}`."""
        subscript = {
            Relation.HOLDS: "",
            Relation.ABOVE: "_{m}",
            Relation.AT_LEAST: f"_{{\\geq {number(self.low)}}}",
            Relation.WITHIN: f"_{{[{number(self.low)},{number(self.high)}]}}",
            Relation.MISSING: r"_{\emptyset}",
        }[self.relation]
        return symbol + subscript

    def words(self, phrases: Phrases, is_true: bool = True) -> str:
        low, high = number(self.low), number(self.high)
        if self.relation is Relation.HOLDS:
            subject, category = phrases.get(self.column, (self.column, "true"))
            category = f'"{category}"' if category != category.strip() or not category else category
            return f"{subject} is {'' if is_true else 'not '}{category}"
        if self.relation is Relation.MISSING:
            return f"{self.column} is {'' if is_true else 'not '}missing"
        texts = {
            Relation.ABOVE: (f"above {low}", f"at most {low}"),
            Relation.AT_LEAST: (f"at least {low}", f"below {low}"),
            Relation.WITHIN: (f"from {low} to {high}", f"outside {low} to {high}"),
        }[self.relation]
        if self.relation is Relation.WITHIN and self.low == self.high:
            texts = (low, f"not {low}")
        if missing_name(self.column) in phrases:
            texts = (texts[0], f"not {texts[0]}")  # a missing value does not satisfy it either
        return f"{self.column} is {texts[0 if is_true else 1]}"


def _threshold(value: float) -> float:
    return value if isinstance(value, Threshold) else float(value)


def missing_name(column: str) -> str:
    """The name of the column for `column is missing` in tables without missing values."""
    return f"{column} is missing"


def _missing(values: NDArray[Any]) -> Truth:
    import numpy as np

    if values.dtype.kind not in "fO":
        return np.zeros(len(values), dtype=bool)
    return np.asarray([v is None or v != v for v in values.tolist()], dtype=bool)
