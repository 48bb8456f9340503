"""The settings of config groups: conf/method, conf/solver, conf/language, conf/cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.cuts import OBSERVED, CutRule, Cuts
from fsm_hpc.search.method import Method
from fsm_hpc.search.solvers.names import Encoding, SolverName
from fsm_hpc.system.settings import (
    baseline_setting,
    formula_setting,
    result_setting,
    setting,
)


@dataclass(frozen=True, slots=True)
class MethodSettings:
    """conf/method: the model to fit, and how to tune a baseline."""

    name: Method = result_setting(help="the model to fit")
    trials: int | None = baseline_setting(None, "number of Optuna trials of a baseline", least=1)
    time_limit_s: float | None = baseline_setting(
        None, "seconds for one fit, for packages with a time limit", least=1, legacy=None
    )


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """conf/solver: the program that searches for formulas."""

    name: SolverName = setting(help="the solver")
    threads: int | None = setting(
        None, "threads of the solver; null: all cores of the job", least=1
    )
    head_start_s: float | None = setting(
        None,
        "with solver=portfolio: seconds between the start of native and that of clingo_dl",
        least=0,
    )
    encoding: Encoding | None = setting(
        None, "encoding of clingo_dl: fast, or plain as in the paper"
    )

    @property
    def options(self) -> dict[str, Any]:
        """The options of this solver only, by name."""
        names = {SolverName.PORTFOLIO: "head_start_s", SolverName.CLINGO_DL: "encoding"}
        name = names.get(self.name)
        value = getattr(self, name) if name else None
        return {} if name is None or value is None else {name: value}


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """conf/language: the connectives of formulas."""

    name: Language = formula_setting(help="the connectives of formulas", legacy="paper")


@dataclass(frozen=True, slots=True)
class CutSettings:
    """conf/cuts: the candidate thresholds of numeric columns; None where a rule has no use."""

    name: CutRule = formula_setting(help="the candidate thresholds", legacy="observed")
    n: int | None = formula_setting(
        None, "number of quantiles per column", least=1, result_name="cuts_n", legacy=None
    )
    given: dict[str, Any] | None = formula_setting(
        None, "thresholds by column: {age: [18, 40]}", result_name="cuts_given", legacy=None
    )
    slack: int | None = formula_setting(
        None,
        "additional errors on the fitted rows that rounded thresholds may cause",
        least=0,
        result_name="cuts_slack",
        legacy=None,
    )

    def __post_init__(self) -> None:
        if self.name is CutRule.GIVEN:
            Cuts.of_lists(self.given or {})
            if not self.given:
                raise UserError("cuts=given: expected a list, such as cuts.given.age=[18,40,65]")

    def of(self, method: Method) -> Cuts:
        """The thresholds for a method; median has none to choose."""
        if method not in (Method.PIVOT, Method.INTERVAL):
            return OBSERVED
        if self.name is CutRule.GIVEN:
            return Cuts.of_lists(self.given or {})
        return Cuts(self.name, n=self.n or OBSERVED.n, slack=self.slack or 0)

    def that_matter(self, method: Method) -> dict[str, Any]:
        """The settings that change results, by name in a result; None where they have no effect."""
        cuts = self.of(method)
        given = {column: list(numbers) for column, numbers in cuts.given}
        return {
            "cuts": cuts.rule.value,
            "cuts_n": cuts.n if cuts.rule is CutRule.QUANTILES else None,
            "cuts_given": given or None,
            "cuts_slack": cuts.slack or None,
        }
