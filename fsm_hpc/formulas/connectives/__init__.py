"""Connectives beyond not, and, or: each is one module of this folder, found by its name."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

from fsm_hpc.formulas import text
from fsm_hpc.formulas.connectives.at_least import AtLeast as AtLeast
from fsm_hpc.formulas.connectives.iff import Iff as Iff
from fsm_hpc.formulas.connectives.implies import Implies as Implies
from fsm_hpc.formulas.connectives.xor import Xor as Xor
from fsm_hpc.formulas.formula import And, Atom, Chain, Formula, Not, Or, Pair, Proposition
from fsm_hpc.formulas.grammar import BASIC_LANGUAGES, Grammar, Production

_MODULES = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
FURTHER: dict[str, type[Formula]] = {m.CONNECTIVE.name: m.CONNECTIVE for m in _MODULES}
# those that are written between their parts
INFIX = {name: kind for name, kind in FURTHER.items() if issubclass(kind, (Chain, Pair))}
text.JOINING.update(INFIX)
CONNECTIVES: dict[str, type[Formula]] = {"not": Not, "and": And, "or": Or, **FURTHER}
GRAMMARS: dict[str, Grammar] = dict(BASIC_LANGUAGES)
for _module in _MODULES:
    for _name, _grammar in _module.LANGUAGES.items():
        GRAMMARS.setdefault(_name, _grammar)
LISTS = {name for name in FURTHER if name not in INFIX}  # with a number, over lists


def connectives_of(grammar: Grammar) -> list[str]:
    """The names of all connectives that a grammar has, in its order."""
    every = (one for alternatives in grammar.values() for one in alternatives)
    names = (one.connective for one in every if isinstance(one, Production))
    return list(dict.fromkeys(names))


def formula_of(label: str, parts: Sequence[Formula]) -> Formula:
    """A connective by its label, `and` or `at_least 2`, over its parts."""
    name, *numbers = label.split()
    kind: Any = CONNECTIVES[name]
    return cast(Formula, kind(*map(int, numbers), *parts))


@cache
def example(label: str, count: int) -> Formula:
    """The connective over so many propositions."""
    return formula_of(label, [Atom(Proposition(f"p{place}")) for place in range(count)])


def joined(label: str, *truths: Any) -> Any:
    """The value of a connective from the values of its parts."""
    return example(label, len(truths)).joined(truths)
