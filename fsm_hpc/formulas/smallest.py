"""The smallest formula of each function of one or two propositions, by language."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from fsm_hpc.formulas.connectives import CONNECTIVES
from fsm_hpc.formulas.formula import Atom, Formula, Proposition
from fsm_hpc.formulas.grammar import FORMULA, PROPOSITION, Production
from fsm_hpc.formulas.language import Language

NAMES = ("p", "q")
MOST_LISTED = 5  # symbols of lists that are looked at
Found = dict[int, Formula]  # by truth table: bit i is the value where proposition v is bit v of i


def largest_size(language: Language, propositions: int) -> int | None:
    """The size beyond which no formula over one or two propositions says anything new.

    None where lists of any length might: only all functions together are known to be the end.
    """
    known = smallest_formulas(language, propositions)
    if _has_lists(language) and len(known) < 1 << (1 << propositions):
        return None
    return max(formula.size for formula in known.values())


@cache
def smallest_formulas(language: Language, propositions: int) -> Found:
    """By truth table; of a language of lists those of a few symbols."""
    cells = 1 << propositions
    found: dict[str, Found] = {kind: {} for kind in language.grammar}
    found[PROPOSITION] = {
        sum(1 << cell for cell in range(cells) if cell >> v & 1): Atom(Proposition(name))
        for v, name in enumerate(NAMES[:propositions])
    }
    size = last = 0
    while size <= 2 * last + 1:  # beyond, a part could be replaced by a smaller one
        size += 1
        if _grow(language, found, size, cells):
            last = size
        if len(found[FORMULA]) == 1 << cells or (_has_lists(language) and size == MOST_LISTED):
            break
    return found[FORMULA]


def _has_lists(language: Language) -> bool:
    return any(one.is_list for some in language.grammar.values() for one in _made(some))


def _made(alternatives: tuple[str | Production, ...]) -> Iterator[Production]:
    return (one for one in alternatives if isinstance(one, Production))


def _grow(language: Language, found: dict[str, Found], size: int, cells: int) -> bool:
    """Add all functions that need that size; whether there are any."""
    is_new = False
    for kind in [*language.grammar][::-1]:  # those that others include come last in a table
        for one in language.grammar[kind]:
            options = _of_type(found, one, size) if isinstance(one, str) else []
            if isinstance(one, Production):
                options = list(_of_production(found, one, size))
            for formula in options:
                truth = _truth(formula, cells)
                if truth not in found[kind]:
                    found[kind][truth] = formula
                    is_new = True
    return is_new


def _of_type(found: dict[str, Found], kind: str, size: int) -> list[Formula]:
    return [formula for formula in found[kind].values() if formula.size == size]


def _of_production(found: dict[str, Found], production: Production, size: int) -> Iterator[Formula]:
    made: Any = CONNECTIVES[production.connective]
    if production.is_list:
        for parts in _lists(found[production.parts[0]], size - 1):
            if len(parts) > 1:
                yield from (made(count, *parts) for count in range(1, len(parts) + 1))
    elif len(production.parts) == 1:
        yield from map(made, _of_type(found, production.parts[0], size - 1))
    else:
        left, right = production.parts
        for first in range(1, size - 1):
            for a in _of_type(found, left, first):
                yield from (made(a, b) for b in _of_type(found, right, size - 1 - first))


def _lists(parts: Found, size: int) -> Iterator[tuple[Formula, ...]]:
    if size == 0:
        yield ()
    for part in parts.values():
        if part.size <= size:
            yield from ((part, *rest) for rest in _lists(parts, size - part.size))


def _truth(formula: Formula, cells: int) -> int:
    return sum(1 << cell for cell in range(cells) if _value(formula, cell))


def _value(formula: Formula, cell: int) -> bool:
    if isinstance(formula, Atom):
        return bool(cell >> NAMES.index(formula.proposition.column) & 1)
    return bool(formula.joined([_value(part, cell) for part in formula.parts]))
