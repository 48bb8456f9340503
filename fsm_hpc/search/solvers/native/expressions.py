"""Formulas of the local search: nested tuples of a connective and its parts, or a literal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from fsm_hpc.formulas.connectives import CONNECTIVES, connectives_of, joined
from fsm_hpc.formulas.formula import Atom, Chain, Formula, Proposition
from fsm_hpc.formulas.functions import build
from fsm_hpc.formulas.grammar import Production
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.truth_table import signs_of
from fsm_hpc.search.solvers.native.decoder import Literal
from fsm_hpc.search.solvers.native.kernels.columns import SUFFIX
from fsm_hpc.search.solvers.native.table import Array, KernelColumn, KernelTable

# ("and", part, part, ...), ("at_least 2", part, ...) or the literal (column, low, high)
Expression = tuple[Any, ...]
Path = tuple[int, ...]  # the place of a part: which part of which part, from the outside
OPEN: Literal = (0, 0, 0)  # a literal that is still to be chosen


def is_leaf(expression: Expression) -> bool:
    return isinstance(expression[0], int)


def negated(expression: Expression) -> Expression:
    return ("not", expression)


def size_of(expression: Expression) -> int:
    """Propositions and connectives."""
    if is_leaf(expression):
        return 1
    own = len(expression) - 2 if is_chain(expression[0]) else 1
    return own + sum(map(size_of, expression[1:]))


def is_chain(label: str) -> bool:
    """Whether a connective joins any number of parts, with one symbol between two of them."""
    kind = CONNECTIVES.get(label)
    return kind is not None and issubclass(kind, Chain)


def paths(expression: Expression, above: Path = ()) -> list[Path]:
    """The places of all parts, the whole first."""
    found = [above]
    if not is_leaf(expression):
        for place, part in enumerate(expression[1:], 1):
            found += paths(part, (*above, place))
    return found


def leaves(expression: Expression) -> list[Path]:
    """The places of all literals."""
    return [path for path in paths(expression) if is_leaf(part_at(expression, path))]


def part_at(expression: Expression, path: Path) -> Expression:
    for place in path:
        expression = expression[place]
    return expression


def replaced(expression: Expression, path: Path, part: Expression) -> Expression:
    """The expression with another part at that place."""
    if not path:
        return part
    parts = list(expression)
    parts[path[0]] = replaced(parts[path[0]], path[1:], part)
    return tuple(parts)


def truth(
    expression: Expression,
    held: Callable[[Literal], Array],
    path: Path | None = None,
    at: Any = None,
) -> Any:
    """Its truth on every row; with a path, where the part at that place is `at` on all rows."""
    if path == ():
        return at
    if is_leaf(expression):
        return held(expression)
    truths = [
        truth(part, held, path[1:] if path and path[0] == place else None, at)
        for place, part in enumerate(expression[1:], 1)
    ]
    return joined(expression[0], *map(np.asarray, truths))


def polarity(expression: Expression, path: Path) -> int:
    """1 where the whole only becomes true with that part, -1 where only false, 0 unknown."""
    sign = 1
    for place in path:
        sign *= signs_of(expression[0], len(expression) - 1)[place - 1]
        expression = expression[place]
    return sign


def grown(expression: Expression, language: Language) -> Iterator[tuple[Expression, Path]]:
    """The expression with one more literal at each place, and the place of that literal."""
    for path in paths(expression):
        for form, inner in _forms(part_at(expression, path), language):
            larger = replaced(expression, path, form)
            if is_of(larger, language):
                yield larger, (*path, *inner)


def _forms(part: Expression, language: Language) -> Iterator[tuple[Expression, Path]]:
    """A part joined with one more literal in every way that the language may have."""
    news: tuple[tuple[Expression, Path], ...] = ((OPEN, ()), (negated(OPEN), (1,)))
    for name in _joining(language):
        for new, inner in news:
            yield (name, part, new), (2, *inner)
            if not CONNECTIVES[name].commutes:
                yield (name, new, part), (1, *inner)
        yield ("not", (name, part, OPEN)), (1, 2)
    for name in _listing(language):
        for new, inner in news:
            yield from _counted(name, part, new, inner)


@cache
def _joining(language: Language) -> tuple[str, ...]:
    """The connectives of two parts."""
    counted = ("not", *_listing(language))
    return tuple(name for name in connectives_of(language.grammar) if name not in counted)


@cache
def _listing(language: Language) -> tuple[str, ...]:
    """The connectives with a number, over lists."""
    every = (one for alternatives in language.grammar.values() for one in alternatives)
    return tuple(one.connective for one in every if isinstance(one, Production) and one.is_list)


def _counted(
    name: str, part: Expression, new: Expression, inner: Path
) -> Iterator[tuple[Expression, Path]]:
    """At least k of n with one more literal."""
    is_literal = is_leaf(part) or part[0] == "not"
    count = 1 if is_literal else int(part[0].split()[1])
    listed = (part,) if is_literal else part[1:]
    for more in (0, 1):
        yield (f"{name} {count + more}", *listed, new), (len(listed) + 1, *inner)


def flipped(expression: Expression, language: Language, choice: random.Random) -> Expression:
    """The expression with another connective somewhere, if the language allows it."""
    names = _joining(language)
    inner = [p for p in paths(expression) if part_at(expression, p)[0] in names]
    if not inner or len(names) < 2:
        return expression
    path = choice.choice(inner)
    part = part_at(expression, path)
    name = choice.choice([other for other in names if other != part[0]])
    if len(part) > 3 and not is_chain(name):
        return expression
    other = replaced(expression, path, (name, *part[1:]))
    return other if is_of(other, language) else expression


def is_of(expression: Expression, language: Language) -> bool:
    """Whether it is a formula of the language, without a double negation."""
    formula = build(expression, lambda leaf: _ANY)
    return "not not" not in str(formula) and language.has(formula)


_ANY = Atom(Proposition("p"))


def expression_of(formula: Formula, table: KernelTable) -> Expression | None:
    """The formula in the columns of the table; None where it has another proposition."""
    if isinstance(formula, Atom):
        return _literal_of(formula.proposition, table)
    parts = [expression_of(part, table) for part in formula.parts]
    if any(part is None for part in parts):
        return None
    return (formula.label, *parts)


def _literal_of(proposition: Proposition, table: KernelTable) -> Expression | None:
    for number, column in enumerate(table.columns):
        if column.numeric is None:
            if proposition in column.codes:
                rank = column.codes.index(proposition) + 1
                return number, rank, rank
        elif column.numeric.column == proposition.column:
            low, high = (_rank_of(column, value) for value in (proposition.low, proposition.high))
            is_open = column.kind == SUFFIX
            literal = (number, low, column.card - 1 if is_open else high)
            is_cut = low in column.cuts and (is_open or high in column.cuts)
            return literal if is_cut and column.proposition(*literal[1:]) == proposition else None
    return None


def _rank_of(column: KernelColumn, threshold: float) -> int:
    assert column.numeric is not None
    return column.floor + column.step * int(np.searchsorted(column.numeric.thresholds, threshold))
