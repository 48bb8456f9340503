"""Candidate thresholds of a numeric column: observed values, quantiles, or a given list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any

from fsm_hpc.errors import UserError

if TYPE_CHECKING:  # `status` reads settings, and answers before numpy is loaded
    import numpy as np
    from numpy.typing import NDArray


class CutRule(Enum):
    """Which thresholds a formula may use."""

    OBSERVED = "observed"  # values of the fitted rows, as in the paper
    MIDPOINTS = "midpoints"  # the middle of the gap below such a value
    QUANTILES = "quantiles"  # values that divide the fitted rows evenly
    ROUNDED = "rounded"  # the roundest number in the gap
    GIVEN = "given"  # a list for each column; observed values for columns without one

    @property
    def rewrites(self) -> bool:
        """Whether the search uses observed values and its thresholds are rewritten afterwards."""
        return self in (CutRule.MIDPOINTS, CutRule.ROUNDED)


Given = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """A rule for thresholds with its parameters."""

    rule: CutRule = CutRule.OBSERVED
    n: int = 10  # of quantiles
    given: Given = ()  # columns with their thresholds in ascending order
    slack: int = 0  # errors that rounding may cost

    @staticmethod
    def of_lists(lists: Mapping[Any, Any]) -> Cuts:
        """Given thresholds by column."""
        return Cuts(CutRule.GIVEN, given=tuple((str(k), _numbers(k, v)) for k, v in lists.items()))

    def check(self, numeric: Iterable[str]) -> None:
        """Reject lists for columns that are not numeric columns of the table."""
        known = set(numeric)
        for name, _ in self.given if self.rule is CutRule.GIVEN else ():
            if name not in known:
                shown = ", ".join(sorted(known)[:20]) or "none"
                raise UserError(
                    f"cuts.given: expected the names of numeric columns, found {name!r}; they are: "
                    f"{shown}"
                )

    def candidates(
        self, name: str, values: NDArray[Any], counts: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """The thresholds of a column with these values on the fitted rows, none of them missing.

        `counts` are the multiplicities of the values.
        """
        import numpy as np

        from fsm_hpc.data.median import quantiles

        if self.rule is CutRule.QUANTILES and len(values):
            values = quantiles(values, self.n, counts)
        listed = dict(self.given).get(name) if self.rule is CutRule.GIVEN else None
        return np.unique(np.asarray(values if listed is None else listed, dtype=np.float64))

    @property
    def text(self) -> str:
        """All that decides which thresholds a formula has; empty for observed ones."""
        details = {CutRule.QUANTILES: f" {self.n}", CutRule.GIVEN: f" {self.given}"}
        is_plain = self.rule is CutRule.OBSERVED
        return "" if is_plain else self.rule.value + details.get(self.rule, "")


OBSERVED = Cuts()


def _numbers(name: Any, found: Any) -> tuple[float, ...]:
    values = [found] if isinstance(found, (int, float)) else found
    try:
        numbers = sorted({_exactly(value) for value in values})
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if not numbers or not all(map(isfinite, numbers)):
        raise UserError(f"cuts.given.{name}: expected a list of numbers, found {found!r}")
    return tuple(numbers)


def _exactly(value: Any) -> float:
    if isinstance(value, (bool, str, bytes)) or float(value) != value:
        raise ValueError(value)  # 2**53 + 1 is not a float
    return float(value)
