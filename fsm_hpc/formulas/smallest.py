"""The smallest formula of each function of one or two propositions, by language."""

from __future__ import annotations

import itertools
from functools import cache

from fsm_hpc.formulas.formula import Atom, Formula, Proposition
from fsm_hpc.formulas.functions import Function, build, functions
from fsm_hpc.formulas.grammar import Production
from fsm_hpc.formulas.language import Language

NAMES = ("p", "q")
MOST_LISTED = 5  # largest number of symbols in a list


def largest_size(language: Language, propositions: int) -> int | None:
    """The size beyond which formulas over one or two propositions have no new function.

    None where lists of any length might: only all functions together are known to be the end.
    """
    known = smallest_formulas(language, propositions)
    if _has_lists(language) and len(known) < 1 << (1 << propositions):
        return None
    return max(formula.size for formula in known.values())


@cache
def smallest_formulas(language: Language, propositions: int) -> dict[int, Formula]:
    """By truth table: bit i is the value where proposition v is bit v of i.

    Of a language of lists only those of a few symbols.
    """
    found: dict[int, Formula] = {}
    size = last = 0
    while size <= 2 * last + 1:  # beyond, a part could be replaced by a smaller one
        size += 1
        few = [f for f in functions(size, language) if f.variables <= propositions]
        for function in few:
            for names in itertools.permutations(range(propositions), max(1, function.variables)):
                atoms = [Atom(Proposition(NAMES[name])) for name in names]
                found.setdefault(
                    _table(function, names, propositions), build(function.tree, atoms.__getitem__)
                )
        last = size if few else last
        is_enough = _has_lists(language) and size == MOST_LISTED
        if len(found) == 1 << (1 << propositions) or is_enough:
            break
    return found


def _table(function: Function, names: tuple[int, ...], propositions: int) -> int:
    """Its truth table for these propositions as variables."""
    table = 0
    for cell in range(1 << propositions):
        own = sum((cell >> names[v] & 1) << v for v in range(function.variables))
        table |= (function.table >> own & 1) << cell
    return table


def _has_lists(language: Language) -> bool:
    every = (one for alternatives in language.grammar.values() for one in alternatives)
    return any(one.is_list for one in every if isinstance(one, Production))
