"""conf/cuts: where numeric columns may be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.system.settings import Scope, check_least, setting


@dataclass(frozen=True, slots=True)
class CutSettings:
    """conf/cuts: where pivots and intervals may be cut; what a rule does not need is None."""

    name: CutRule = setting(
        help="where columns may be cut", changes=Scope.FORMULAS, legacy="observed"
    )
    n: int | None = setting(
        None,
        "quantiles of each column",
        least=1,
        changes=Scope.FORMULAS,
        result_name="cuts_n",
        legacy=None,
    )
    given: dict[str, Any] | None = setting(
        None,
        "the cuts of columns: {age: [18, 40]}",
        changes=Scope.FORMULAS,
        result_name="cuts_given",
        legacy=None,
    )
    slack: int | None = setting(
        None,
        "errors on the fitted rows that rounder cuts may cost",
        least=0,
        changes=Scope.FORMULAS,
        result_name="cuts_slack",
        legacy=None,
    )

    def __post_init__(self) -> None:
        check_least("cuts", self)
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
