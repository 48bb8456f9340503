"""Where a numeric column may be cut: among its values, at quantiles, or where a list says."""

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
    """Which numbers a formula compares a column with."""

    OBSERVED = "observed"  # values of the fitted rows, as in the paper
    MIDPOINTS = "midpoints"  # the middle of the gap below such a value
    QUANTILES = "quantiles"  # some values that part the fitted rows evenly
    ROUNDED = "rounded"  # the roundest number in the gap
    GIVEN = "given"  # a list for each column; columns without one are cut at observed values

    @property
    def rewrites(self) -> bool:
        """Whether the search is that of observed values, and its formula is written anew."""
        return self in (CutRule.MIDPOINTS, CutRule.ROUNDED)


Given = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """A rule for cuts, and what some rules need besides."""

    rule: CutRule = CutRule.OBSERVED
    n: int = 10  # of quantiles
    given: Given = ()  # column, and its cuts from the lowest to the highest
    slack: int = 0  # errors that rounding may cost

    @staticmethod
    def of_lists(lists: Mapping[Any, Any]) -> Cuts:
        """The cuts that are given for each column by name."""
        return Cuts(CutRule.GIVEN, given=tuple((str(k), _numbers(k, v)) for k, v in lists.items()))

    def check(self, numeric: Iterable[str]) -> None:
        """Refuse a list for what is no numeric column of the table."""
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
        """The cuts of a column with these values on the fitted rows, none of which is missing.

        `counts` says how many rows each of them is.
        """
        import numpy as np

        from fsm_hpc.data.median import quantiles

        if self.rule is CutRule.QUANTILES and len(values):
            values = quantiles(values, self.n, counts)
        listed = dict(self.given).get(name) if self.rule is CutRule.GIVEN else None
        return np.unique(np.asarray(values if listed is None else listed, dtype=np.float64))

    @property
    def text(self) -> str:
        """All that decides which cuts a formula has, and nothing else; empty for observed ones."""
        said = {CutRule.QUANTILES: f" {self.n}", CutRule.GIVEN: f" {self.given}"}
        is_plain = self.rule is CutRule.OBSERVED
        return "" if is_plain else self.rule.value + said.get(self.rule, "")


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
        raise ValueError(value)  # 2**53 + 1 would be another number than the one that is printed
    return float(value)
