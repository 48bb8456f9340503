"""Languages: the connectives of a formula and their nesting."""

from __future__ import annotations

from enum import Enum

from fsm_hpc.formulas.connectives import CONNECTIVES, GRAMMARS
from fsm_hpc.formulas.formula import Atom, Chain, Formula
from fsm_hpc.formulas.grammar import FORMULA, LITERAL, PROPOSITION, Grammar, Production


class Language(Enum):
    """The language of a search; every language has all propositions.

    The members are the languages of formulas/grammar.py and formulas/connectives/.
    """

    PAPER = "paper"  # not, and, or
    XOR = "xor"  # those, exclusive or and equivalence
    IMPLIES = "implies"  # those of the paper, and implication
    DNF = "dnf"  # or of ands of literals
    CNF = "cnf"  # and of ors of literals
    CONJUNCTION = "conjunction"  # and of literals
    DISJUNCTION = "disjunction"  # or of literals
    AT_LEAST = "at_least"  # a literal, or at least k of n of them
    _ignore_ = ["_name", "_members"]  # noqa: RUF012
    _members = locals()
    for _name in GRAMMARS:
        if _name.upper() not in _members:
            _members[_name.upper()] = _name

    @property
    def grammar(self) -> Grammar:
        return GRAMMARS[self.value]

    def has(self, formula: Formula) -> bool:
        """Whether it is a formula of the language."""
        return _is_of(formula, FORMULA, self.grammar)

    def largest(self, propositions: int) -> int | None:
        """The size beyond which formulas over so many propositions have no new function.

        Only chains of literals have one for any number: all of them negated, or a literal and its
        own negation.
        """
        alternatives = self.grammar[FORMULA]
        chain = next((one for one in alternatives if isinstance(one, Production)), None)
        is_chain = chain is not None and chain.parts == (FORMULA, LITERAL)
        return max(4, 3 * propositions - 1) if is_chain else None


def is_literal(formula: Formula) -> bool:
    """A proposition or its negation."""
    parts = formula.parts
    return isinstance(formula, Atom) or (formula.name == "not" and isinstance(parts[0], Atom))


def _is_of(formula: Formula, kind: str, grammar: Grammar) -> bool:
    """Whether a type of the grammar contains it."""
    if kind == PROPOSITION:
        return isinstance(formula, Atom)
    return any(
        _is_of(formula, one, grammar)
        if isinstance(one, str)
        else _is_made_by(formula, one, grammar)
        for one in grammar[kind]
    )


def _is_made_by(formula: Formula, production: Production, grammar: Grammar) -> bool:
    if type(formula) is not CONNECTIVES[production.connective]:
        return False
    parts = formula.parts
    if isinstance(formula, Chain) and len(parts) > 2:  # a chain is left-associative
        parts = (formula.over(parts[:-1]), parts[-1])
    kinds = production.parts * len(parts) if production.is_list else production.parts
    return all(_is_of(part, kind, grammar) for part, kind in zip(parts, kinds, strict=True))
