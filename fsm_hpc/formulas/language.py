"""Which connectives a formula may be made of, and how."""

from __future__ import annotations

from enum import Enum

from fsm_hpc.formulas.connectives import AtLeast, Iff, Implies, Xor
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or


class Language(Enum):
    """The formulas that a search is about; each has all propositions."""

    PAPER = "paper"  # not, and, or
    XOR = "xor"  # those, exclusive or and equivalence
    IMPLIES = "implies"  # those of the paper, and implication
    DNF = "dnf"  # or of ands of literals
    CNF = "cnf"  # and of ors of literals
    CONJUNCTION = "conjunction"  # and of literals
    DISJUNCTION = "disjunction"  # or of literals
    AT_LEAST = "at_least"  # a literal, or at least k of n of them

    def has(self, formula: Formula) -> bool:
        """Whether it is a formula of the language."""
        if is_literal(formula):
            return True
        kinds = _KINDS.get(self)
        if kinds is not None:
            return _is_made_of(formula, kinds)
        if self is Language.AT_LEAST:
            return isinstance(formula, AtLeast) and all(map(is_literal, formula.parts))
        return _is_layered(formula, _LAYERS[self])

    def largest(self, propositions: int) -> int | None:
        """The size beyond which no formula over so many propositions says anything new."""
        if self in (Language.CONJUNCTION, Language.DISJUNCTION):
            return max(4, 3 * propositions - 1)  # all of them negated; or one with its negation
        return None

    def largest_of_few(self, propositions: int) -> int | None:
        """The same for one or two propositions, of which all functions are known; None of more."""
        return _LARGEST_OF_FEW.get(self, {}).get(propositions)


# the size of the last function of one and of two propositions: `p and not p`, `(p or q) and not
# (p and q)` and what other languages make of it; tests count them
_LARGEST_OF_FEW = {
    Language.PAPER: {1: 4, 2: 8},
    Language.XOR: {1: 3, 2: 4},
    Language.IMPLIES: {1: 4, 2: 8},
    Language.DNF: {1: 4, 2: 9},
    Language.CNF: {1: 4, 2: 9},
    Language.AT_LEAST: {1: 4},
}
_FREE: tuple[type[Formula], ...] = (Atom, Not, And, Or)
_KINDS: dict[Language, tuple[type[Formula], ...]] = {
    Language.PAPER: _FREE,
    Language.XOR: (*_FREE, Xor, Iff),
    Language.IMPLIES: (*_FREE, Implies),
}
_LAYERS: dict[Language, tuple[type[Formula], ...]] = {
    Language.DNF: (Or, And),
    Language.CNF: (And, Or),
    Language.CONJUNCTION: (And,),
    Language.DISJUNCTION: (Or,),
}


def is_literal(formula: Formula) -> bool:
    """A proposition or its negation."""
    return isinstance(formula, Atom) or (
        isinstance(formula, Not) and isinstance(formula.part, Atom)
    )


def _is_made_of(formula: Formula, kinds: tuple[type[Formula], ...]) -> bool:
    return isinstance(formula, kinds) and all(_is_made_of(part, kinds) for part in formula.parts)


def _is_layered(formula: Formula, layers: tuple[type[Formula], ...]) -> bool:
    """Literals below chains of these kinds, the first outermost; any of them may be left out."""
    if is_literal(formula):
        return True
    for depth, kind in enumerate(layers):
        if isinstance(formula, kind):
            return all(_is_layered(part, layers[depth + 1 :]) for part in formula.parts)
    return False
