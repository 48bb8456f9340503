"""The facts of a model in words and tables, which terminal, card, text and notebook all show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.parser import parse
from fsm_hpc.formulas.text import escape_latex
from fsm_hpc.models.comparison import of_figures
from fsm_hpc.models.model import Class, Coverage, Model, Rule
from fsm_hpc.models.notes import FrontEnd
from fsm_hpc.search.constraints import named_in_words
from fsm_hpc.search.proof import VERIFIED, Verification, bounds_in_words
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.system.numbers import counted, percent

if TYPE_CHECKING:
    import pandas as pd

_MEANINGS = {
    "accuracy": "of all rows are predicted correctly",
    "balanced_accuracy": "is the mean over the classes",
    "precision": "of the rows with the prediction {yes} have it",
    "recall": "of the rows with {yes} are found",
}
_STOPS = {
    StopReason.EARLY_STOPPING: "longer formulas were less accurate on validation rows",
    StopReason.PERFECT: "no formula of any length makes fewer errors",
    StopReason.EXHAUSTED: "no longer formula is a different function",
    StopReason.PLATEAU: "longer formulas were not more accurate on validation rows",
    StopReason.MAX_LENGTH: "the largest length was reached ({max_length})",
    StopReason.TIMEOUT: "the time limit was reached",
    StopReason.OUT_OF_MEMORY: "the memory limit was reached",
    StopReason.TOO_LARGE: "the next length has more formulas than the solver can number",
}


@dataclass(frozen=True)
class Figure:
    """A measure on held-out rows, with what it means."""

    name: str
    value: str
    interval: str
    meaning: str


@dataclass(frozen=True)
class RuleFacts:
    """One rule for a reader."""

    rule: Rule
    answer: str  # `y = yes`
    condition: tuple[str, ...]  # in words, for a line each
    errors: str
    proof: str
    stop: str
    stability: str

    @property
    def sentence(self) -> str:
        """`y = yes when age is at least 40`."""
        separator = " " if len(self.condition) == 1 else "\n  "
        return f"{self.answer} when" + "".join(separator + part for part in self.condition)


@dataclass(frozen=True)
class Summary:
    """All that a front end shows of a model, in the order in which a reader asks for it."""

    model: Model
    rules: tuple[RuleFacts, ...]
    otherwise: str
    totals: str  # of several rules together
    constraints: str
    notes: tuple[tuple[str, bool], ...]  # text, and whether it is a warning
    figures: tuple[Figure, ...]
    majority: str
    comparison: str
    provenance: tuple[tuple[str, str], ...]

    @property
    def precisions(self) -> list[tuple[Class, str]]:
        """How often each prediction was right on the fitted rows, the rules first."""
        pairs = zip(self.model.classes, map(percent, self.model.shares), strict=True)
        return sorted(pairs, key=lambda pair: pair[0] == self.model.otherwise)

    @property
    def sentence(self) -> str:
        """The rules in words: a line for each of several rules, and of more than two parts."""
        separator = " " if len(self.rules) == len(self.rules[0].condition) == 1 else "\n"
        parts = f";{separator}else ".join(facts.sentence for facts in self.rules)
        return f"Predict {parts};{separator}otherwise {self.otherwise}."

    def lines(self) -> list[str]:
        """The model as text."""
        return [*self.sentence.split("\n"), *self.fact_lines()]

    def fact_lines(self) -> list[str]:
        """Size, errors and proof of each rule."""
        lines = ["", self.totals] if self.totals else []
        for facts in self.rules:
            lines += ["", *self._rule_lines(facts)]
        return lines

    def _rule_lines(self, facts: RuleFacts) -> list[str]:
        rule, model = facts.rule, self.model
        return [
            *([] if len(self.rules) == 1 else [f"class    {rule.prediction}"]),
            f"formula  {rule.formula}",
            f"size     {rule.size}",
            f"errors   {facts.errors}",
            *([] if rule.weight is None else [f"measure  {model.measure}"]),
            *([f"meets    {self.constraints}"] if self.constraints else []),
            f"proved   {'yes' if rule.proved else 'no'}: {facts.proof}",
        ]


def summarize(model: Model, front_end: FrontEnd = FrontEnd.COMMAND) -> Summary:
    """The facts of a model for a front end."""
    return Summary(
        model=model,
        rules=tuple(_rule_facts(model, rule, front_end) for rule in model.rules),
        otherwise=f"{model.target} = {model.otherwise}",
        totals=_totals(model) if len(model.rules) > 1 else "",
        constraints=named_in_words(model.constraints),
        notes=tuple((note.sentence(front_end), note.is_warning) for note in model.notes),
        figures=tuple(_figures(model)),
        majority=percent(model.figures["majority"]) if "majority" in model.figures else "",
        comparison=comparison_in_words(model),
        provenance=tuple(_provenance(model)),
    )


def comparison_in_words(model: Model) -> str:
    """One sentence on the rule and other models; empty where none was evaluated."""
    comparison = of_figures(model.figures.get("comparison"))
    return "" if comparison is None else str(comparison)


def errors_in_words(errors: int, rows: int, measure: str, weight: int | None) -> str:
    """`12 of 200 rows (6.0 %)`; where rows have weights, what share of all weight is right."""
    told = counted(rows, "row")
    if weight is None:
        return f"{errors:,} of {told} ({percent(errors / max(rows, 1))})"
    return f"{errors:,} of weight {weight:,} ({measure} {percent(1 - errors / weight)}) on {told}"


def rules_table(model: Model) -> pd.DataFrame:
    """One rule a row, in the order of evaluation, the default prediction last."""
    import pandas as pd

    columns = ("rule", "prediction", "support", "precision", "recall")
    covered: list[tuple[str, Class, Rule | Coverage | None]] = [
        (str(rule.formula), rule.prediction, rule) for rule in model.rules
    ]
    covered.append(("otherwise", model.otherwise, model.default))
    rows = [
        (text, prediction, *(getattr(of, name, None) for name in columns[2:]))
        for text, prediction, of in covered
    ]
    table: pd.DataFrame = pd.DataFrame(rows, columns=list(columns))
    return table


def latex(model: Model) -> str:
    """The formulas between dollar signs, with an arrow to each prediction."""
    target = escape_latex(model.target)
    cases = [
        rf"{rule.formula.latex()} &\Rightarrow \text{{{target} = "
        rf"{escape_latex(str(rule.prediction))}}}"
        for rule in model.rules
    ]
    other = rf"\text{{otherwise}} &\Rightarrow \text{{{target} = "
    cases.append(f"{other}{escape_latex(str(model.otherwise))}}}")
    return r"$\displaystyle \begin{aligned}" + r" \\ ".join(cases) + r"\end{aligned}$"


def _kind_of_formula(model: Model, rule: Rule) -> str:
    """What it is the best of: formulas of its length, of its language, under its constraints."""
    kind = "formula"
    if model.language is not Language.PAPER:
        kind = f"formula of the language {model.language.value}"
    kind = f"{kind} of size {rule.length} or less"
    return f"{kind} that meets the constraints" if model.constraints else kind


def _rule_facts(model: Model, rule: Rule, front_end: FrontEnd) -> RuleFacts:
    return RuleFacts(
        rule,
        f"{model.target} = {rule.prediction}",
        _condition(model, rule),
        errors_in_words(rule.errors, model.rows, model.measure, rule.weight),
        _proof(model, rule),
        _stop(rule, front_end),
        stability_in_words(rule, model.figures.get("folds", 0)),
    )


def _condition(model: Model, rule: Rule) -> tuple[str, ...]:
    parts = rule.formula.parts_in_words(model.phrases)
    return tuple(parts) if len(parts) > 2 else (model.condition(rule),)


def _proof(model: Model, rule: Rule) -> str:
    kind = _kind_of_formula(model, rule)
    if not rule.proved:
        if model.is_chosen:
            return "chosen among near-optimal formulas"
        known = bounds_in_words(rule.errors, rule.length, rule.lower_bound, rule.proved_length)
        return f"there may be a better formula{known and f' ({known})'}"
    proof = f"no {kind} makes fewer errors on these rows"
    if before := rule.before_rounding:
        proof += f" than before rounding, with {counted(before['errors'], 'error')} as "
        proof += before["formula"]
    return f"{proof}; {_verification(rule.verification)}" if rule.verification else proof


def _verification(checked: Verification) -> str:
    """What the independent checker found out, and what it took."""
    by = f"by the independent checker, version {checked.checker}, in {checked.processor_s:g} s"
    if checked.outcome == VERIFIED:
        return f"verified {by}"
    return f"{checked.outcome} {by}: {checked.reason}"


def stability_in_words(rule: Rule, folds: int) -> str:
    """One sentence on how often the formula, or its columns, came back in the folds."""
    formulas = rule.stability.get("formulas")
    if not formulas or not folds:
        return ""
    same = sum(entry["folds"] for entry in formulas if entry["formula"] == str(rule.formula))
    columns = {p.column for p in rule.formula.propositions()}
    alike = sum(entry["folds"] for entry in formulas if _columns_in(entry["formula"]) == columns)
    degree = "stable" if alike >= 0.8 * folds else "fairly stable" if alike >= 0.5 * folds else ""
    degree = degree or "unstable: other rows would have given another rule"
    return (
        f"The rule is {degree}. {same} of {counted(folds, 'fold')} found the same formula, "
        f"{alike} the same columns."
    )


def _columns_in(formula: str) -> set[str]:
    return {p.column for p in parse(formula).propositions()}


def _stop(rule: Rule, front_end: FrontEnd) -> str:
    known = {reason.value: text for reason, text in _STOPS.items()}
    text = known.get(rule.stop_reason, rule.stop_reason.replace("_", " "))
    return text.format(max_length=front_end.words["max_length"])


def _totals(model: Model) -> str:
    errors = errors_in_words(model.errors, model.rows, model.measure, model.weight)
    return (
        f"{len(model.rules)} classes, one formula for each against the others; the first that "
        f"holds gives the prediction. Errors: {errors}. Proofs are of each formula, not of all "
        "together."
    )


def _figures(model: Model) -> list[Figure]:
    figures = []
    yes = f"{model.target} = {model.rules[0].prediction}"
    for name, meaning in _MEANINGS.items():
        known = model.figures.get(name)
        if known is None:
            continue
        value = "undefined" if known["value"] is None else percent(known["value"])
        ends = known["interval"]
        interval = f"{percent(ends[0])} to {percent(ends[1])}" if ends else ""
        label = name.replace("_", " ")
        figures.append(Figure(label, value, interval, meaning.format(yes=yes)))
    return figures


def _provenance(model: Model) -> list[tuple[str, str]]:
    origin: dict[str, Any] = model.provenance
    facts = {
        "method": model.method,
        "language": model.language.value,
        "constraints": named_in_words(model.constraints),
        "objective": None if model.measure == "accuracy" else model.measure,
        "table": origin.get("table"),
        "version": origin.get("version"),
        "commit": origin.get("commit"),
        "seed": model.settings.get("seed"),
        "splits": model.settings.get("splits", 1) if model.settings else None,
        "data digest": model.settings.get("data"),
        "host": origin.get("host"),
    }
    return [(name, str(value)) for name, value in facts.items() if value not in (None, "")]
