"""Assign letters to the columns in formulas, and write their legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.formulas.parser import parse
from fsm_hpc.report.collect import FoldGroup, Study
from fsm_hpc.report.tables.tabular import Math, Remark
from fsm_hpc.study.result import FoldResult

_ALPHABET = "pqrstuvwxyzabcdefghijkmn"  # order of the paper, without l and o, which resemble digits


@dataclass(frozen=True)
class Letters:
    """For each dataset the letter of each column in its example formulas."""

    of: Mapping[str, Mapping[str, Math]]

    @staticmethod
    def of_study(study: Study) -> Letters:
        """A column has the same letter in the tables of all methods."""
        of: dict[str, dict[str, Math]] = {name: {} for name in study.datasets}
        for group in study.groups.values():
            letters = of[group.dataset]
            for proposition in _propositions(group):
                letters.setdefault(proposition.column, _letter(len(letters)))
        return Letters(of)

    def show(self, done: FoldResult, names: bool = False) -> Math:
        """The formula with letters, or with the names of its attributes."""
        formula = parse(done.formula or "")
        if names:
            return Math(formula.latex(), str(formula))
        letters = self.of[done.dataset]
        symbols = {column: letter.latex for column, letter in letters.items()}
        short = {column: letter.text for column, letter in letters.items()}
        return Math(formula.latex(symbols), str(formula.renamed(short)))

    def legend(self, group: FoldGroup) -> Remark:
        """`bank: p is duration, q is poutcome = success.`; () without a formula."""
        if group.example is None or group.example.result is None:
            return ()
        by_column = {proposition.column: proposition for proposition in _propositions(group)}
        pieces: list[str | Math] = []
        for column, letter in self.of[group.dataset].items():
            if column in by_column:
                meaning = _meaning(by_column[column], group.example.result)
                pieces += [", " if pieces else f"{group.dataset}: ", letter, f" is {meaning}"]
        return (*pieces, ".")


def _propositions(group: FoldGroup) -> Iterable[Proposition]:
    """The propositions of the example formula."""
    example = group.example.result if group.example else None
    return parse(example.formula).propositions() if example and example.formula else ()


def _meaning(proposition: Proposition, done: FoldResult) -> str:
    if proposition.relation is Relation.HOLDS and proposition.column in done.phrases:
        subject, category = done.phrases[proposition.column]
        return subject if category == "true" else f"{subject} = {category}"
    if proposition.relation is Relation.ABOVE:
        return f"{proposition.column} > {proposition.low:g} (its median)"
    return proposition.column


def _letter(number: int) -> Math:
    letter, round_ = _ALPHABET[number % len(_ALPHABET)], number // len(_ALPHABET)
    return Math(f"{{{letter}_{round_}}}", f"{letter}{round_}") if round_ else Math(letter, letter)
