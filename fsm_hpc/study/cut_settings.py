"""conf/cuts: where numeric columns may be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.study.checks import at_least


@dataclass(frozen=True, slots=True)
class CutSettings:
    """conf/cuts: where pivots and intervals may be cut; what a rule does not need is None."""

    name: CutRule
    n: int | None = None  # quantiles of each column
    given: dict[str, Any] | None = None  # column -> its cuts
    slack: int | None = None  # errors that rounding may cost

    def __post_init__(self) -> None:
        at_least("cuts.n", 1 if self.n is None else self.n, 1)
        at_least("cuts.slack", self.slack or 0, 0)
        if self.name is CutRule.GIVEN:
            Cuts.of_lists(self.given or {})
            if not self.given:
                raise UserError("cuts=given: expected a list, such as cuts.given.age=[18,40,65]")

    def of(self, method: Method) -> Cuts:
        """The rule for a method; only pivots and intervals have cuts to choose."""
        if method not in (Method.PIVOT, Method.INTERVAL):
            return OBSERVED
        if self.name is CutRule.GIVEN:
            return Cuts.of_lists(self.given or {})
        return Cuts(self.name, n=self.n or OBSERVED.n, slack=self.slack or 0)

    def that_matter(self, method: Method) -> dict[str, Any]:
        """What changes the answer, by name, None where it does not."""
        cuts = self.of(method)
        given = {column: list(numbers) for column, numbers in cuts.given}
        return {
            "cuts": cuts.rule.value,
            "cuts_n": cuts.n if cuts.rule is CutRule.QUANTILES else None,
            "cuts_given": given or None,
            "cuts_slack": cuts.slack or None,
        }
