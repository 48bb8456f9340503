"""Why a row gets its prediction: which parts of a formula hold there, and which decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from fsm_hpc.formulas.formula import Atom, Formula, Not, Proposition
from fsm_hpc.formulas.proposition import Phrases
from fsm_hpc.models.model import Class, Model, Rule

DECIDES = "`decides`: flipping this part alone flips the answer of the formula."
MOST_PROPOSITIONS = 12  # beyond, all assignments are too many to look for the fewest that suffice
Values = Mapping[Proposition, bool]
Facts = Callable[[Proposition], str]  # what the row says about the column of a proposition


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a formula on one row."""

    depth: int
    words: str
    is_true: bool
    decides: bool  # flipping this part alone flips the prediction
    facts: str  # the value in the row, for a part with one proposition


@dataclass(frozen=True)
class FormulaExplanation:
    """A formula on one row: its truth, its parts, and the fewest conditions that suffice."""

    is_true: bool
    parts: tuple[Part, ...]
    sufficient: tuple[str, ...]  # empty where all propositions are needed

    def lines(self) -> Iterator[str]:
        width = max(len(part.words) + 2 * part.depth for part in self.parts)
        for part in self.parts:
            mark = "decides" if part.decides else "       "
            words = "  " * part.depth + part.words
            yield f"  {word(part.is_true):<5}  {mark}  {words:<{width}}  {part.facts}".rstrip()
        if self.sufficient:
            yield f"Sufficient conditions: {' and '.join(self.sufficient)}."


@dataclass(frozen=True)
class RowExplanation:
    """The prediction for one row, and the rules that were asked for it."""

    target: str
    prediction: Class
    rules: tuple[tuple[Rule, FormulaExplanation], ...]  # up to the first that holds

    def __str__(self) -> str:
        lines = [f"Prediction: {self.target} = {self.prediction}."]
        for rule, explained in self.rules:
            holds = "holds" if explained.is_true else "does not hold"
            lines += [f"The rule for {rule.prediction} {holds}: {rule.formula}"]
            lines += list(explained.lines())
        lines.append(DECIDES)
        return "\n".join(lines)

    __repr__ = __str__


def explain_row(model: Model, table: Mapping[str, Any], facts: Facts) -> RowExplanation:
    """Why the only row of a one-hot table gets its prediction."""
    asked = []
    for rule in model.rules:
        explained = explain_formula(rule.formula, table, model.phrases, facts)
        asked.append((rule, explained))
        if explained.is_true:
            return RowExplanation(model.target, rule.prediction, tuple(asked))
    return RowExplanation(model.target, model.otherwise, tuple(asked))


def explain_formula(
    formula: Formula, table: Mapping[str, Any], phrases: Phrases, facts: Facts
) -> FormulaExplanation:
    """A formula on the only row of a one-hot table."""
    values = {p: bool(p.evaluate(table)[0]) for p in formula.propositions()}
    fewest = sufficient(formula, values)
    is_shorter = fewest is not None and len(fewest) < len(values)
    texts = [p.words(phrases, values[p]) for p in fewest or ()] if is_shorter else []
    parts = tuple(parts_of(formula, values, phrases, facts))
    return FormulaExplanation(truth_of(formula, values), parts, tuple(texts))


def word(truth: bool) -> str:
    return "true" if truth else "false"


def truth_of(formula: Formula, values: Values, flipped: Formula | None = None) -> bool:
    """The truth under these values; the one part `flipped` (by identity) counts as its opposite."""
    if isinstance(formula, Atom):
        truth = values[formula.proposition]
    else:
        truth = formula.joined([truth_of(part, values, flipped) for part in formula.parts])
    return truth != (formula is flipped)


def parts_of(formula: Formula, values: Values, phrases: Phrases, facts: Facts) -> Iterator[Part]:
    """Every part from the whole formula down to its propositions, which may be negated."""
    answer = truth_of(formula, values)

    def visit(part: Formula, depth: int) -> Iterator[Part]:
        is_leaf = _is_atom(part) or (isinstance(part, Not) and _is_atom(part.parts[0]))
        yield Part(
            depth,
            part.words(phrases),
            truth_of(part, values),
            truth_of(formula, values, part) != answer,
            facts(next(part.propositions())) if is_leaf else "",
        )
        if not is_leaf:
            for inner in part.parts:
                yield from visit(inner, depth + 1)

    return visit(formula, 0)


def sufficient(formula: Formula, values: Values) -> tuple[Proposition, ...] | None:
    """The fewest propositions whose truth alone fixes the answer; None when there are too many."""
    propositions = list(values)
    if len(propositions) > MOST_PROPOSITIONS:
        return None
    answer = truth_of(formula, values)
    for count in range(len(propositions) + 1):
        for chosen in combinations(propositions, count):
            if _is_fixed(formula, values, chosen, answer):
                return chosen
    return None


def _is_fixed(
    formula: Formula, values: Values, chosen: tuple[Proposition, ...], answer: bool
) -> bool:
    rest = [p for p in values if p not in chosen]
    return all(
        truth_of(formula, {**values, **dict(zip(rest, guess, strict=True))}) == answer
        for guess in product([False, True], repeat=len(rest))
    )


def _is_atom(formula: Formula) -> bool:
    return isinstance(formula, Atom)
