"""The settings of config groups: conf/method, conf/solver, conf/language, conf/cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.system.settings import Scope, setting


@dataclass(frozen=True, slots=True)
class MethodSettings:
    """conf/method: what is learnt, and how long a baseline is tuned."""

    name: Method = setting(help="what is learnt", changes=Scope.ALL)
    trials: int | None = setting(
        None, "of a baseline: how many settings Optuna tries", least=1, changes=Scope.BASELINES
    )
    time_limit_s: float | None = setting(
        None,
        "of one fit, for packages that take such a limit",
        least=1,
        changes=Scope.BASELINES,
        legacy=None,
    )


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """conf/solver: who searches for the formula."""

    name: SolverName = setting(help="who searches for the formula")
    threads: int | None = setting(None, "null: all cores that the job has", least=1)
    head_start_s: float | None = setting(
        None, "portfolio: seconds that native searches alone", least=0
    )
    encoding: Encoding | None = setting(
        None, "clingo_dl: fast rules, or plain, the paper's as they stand"
    )

    @property
    def options(self) -> dict[str, Any]:
        """What only some solvers take, by name."""
        of = {SolverName.PORTFOLIO: "head_start_s", SolverName.CLINGO_DL: "encoding"}
        name = of.get(self.name)
        value = getattr(self, name) if name else None
        return {} if name is None or value is None else {name: value}


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """conf/language: which formulas are searched."""

    name: Language = setting(
        help="which connectives formulas have", changes=Scope.FORMULAS, legacy="paper"
    )


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
