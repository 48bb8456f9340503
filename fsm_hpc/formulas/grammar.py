"""A language as a table: the productions of each type of formula."""

from __future__ import annotations

from dataclasses import dataclass

PROPOSITION, LITERAL, FORMULA = "proposition", "literal", "formula"


@dataclass(frozen=True, slots=True)
class Production:
    """A connective over parts of these types; `is_list`: over two or more of the first type."""

    connective: str
    parts: tuple[str, ...]
    is_list: bool = False


# the alternatives of each type: a proposition, another type, or a connective over types
Grammar = dict[str, tuple[str | Production, ...]]

_LITERALS: Grammar = {LITERAL: (PROPOSITION, Production("not", (PROPOSITION,)))}


def nested(*connectives: str) -> Grammar:
    """Negation and these binary connectives, nested without limits."""
    two = (FORMULA, FORMULA)
    joined = (Production(name, two) for name in connectives)
    return {FORMULA: (PROPOSITION, Production("not", (FORMULA,)), *joined)}


def chains(*connectives: str) -> Grammar:
    """Chains of literals of the last connective, below chains of the one before it."""
    grammar: Grammar = {}
    types = [FORMULA, *(f"{name} chain" for name in connectives[1:]), LITERAL]
    for name, own, inner in zip(connectives, types, types[1:], strict=False):
        grammar[own] = (inner, Production(name, (own, inner)))
    return grammar | _LITERALS


def listing(connective: str) -> Grammar:
    """A literal, or the connective over a list of literals."""
    return {FORMULA: (LITERAL, Production(connective, (LITERAL,), is_list=True)), **_LITERALS}


BASIC_LANGUAGES: dict[str, Grammar] = {
    "paper": nested("and", "or"),
    "dnf": chains("or", "and"),
    "cnf": chains("and", "or"),
    "conjunction": chains("and"),
    "disjunction": chains("or"),
}
