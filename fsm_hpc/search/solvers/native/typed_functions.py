"""The functions of a language by size, also where its formulas are built in one way only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np

from fsm_hpc.formulas.language import Language
from fsm_hpc.search.solvers.native.functions import (
    Bits,
    Function,
    Tree,
    functions,
    joined,
    new_ones,
)

LAYERED = {Language.DNF: ("or", "and"), Language.CNF: ("and", "or")}
CHAINS = {Language.CONJUNCTION: "and", Language.DISJUNCTION: "or"}
# p with its own negation: what says the same of every row, for those that no cut serves
CONSTANT_SIZE = 4
FALSE = Function(0, 0, ("and", 0, ("not", 0)))
TRUE = Function(0, 1, ("or", 0, ("not", 0)))


@cache
def functions_of(size: int, language: Language) -> tuple[Function, ...]:
    """The functions whose smallest formula in the language has that size."""
    if language in LAYERED:
        known = (functions_of(smaller, language) for smaller in range(1, size))
        return new_ones(_layered(size, language), known)
    if language in CHAINS:
        return tuple(_chains(size, CHAINS[language]))
    if language is Language.AT_LEAST:
        return _thresholds(size)
    return functions(size, language)


# ------------------------------------------------------------------------------ and, or of literals


def _chains(size: int, connective: str) -> Iterator[Function]:
    """One for each number of plain and of negated variables: no two of them say the same."""
    if size == CONSTANT_SIZE:
        yield FALSE if connective == "and" else TRUE
    for negated in range((size + 1) // 3 + 1):
        plain, is_odd = divmod(size + 1 - 3 * negated, 2)
        if not is_odd and plain + negated > 0:
            yield _chain(plain, negated, connective)


def _chain(plain: int, negated: int, connective: str) -> Function:
    variables = plain + negated
    literals = [v if v < plain else ("not", v) for v in range(variables)]
    tree = literals[0] if variables == 1 else (connective, *literals)
    if connective == "and":
        return Function(variables, 1 << ((1 << plain) - 1), tree)
    everything = (1 << (1 << variables)) - 1
    return Function(variables, everything ^ 1 << ((1 << variables) - (1 << plain)), tree)


def _layered(size: int, language: Language) -> Iterator[tuple[Bits, Tree]]:
    """Chains of literals, and what the outer connective makes of one and all that is smaller."""
    outer, inner = LAYERED[language]
    for f in _chains(size, inner):
        yield f.bits, f.tree
    for left in range(1, size - 1):
        for f, g in itertools.product(
            functions_of(left, language), tuple(_chains(size - 1 - left, inner))
        ):
            for a, b, parts in joined(f, g):
                yield (a | b if outer == "or" else a & b), (outer, *parts)


# ------------------------------------------------------------------------------ at least k of n


@cache
def _thresholds(size: int) -> tuple[Function, ...]:
    """Literals, and `at least k` of those of each kind: a variable may be listed several times."""
    smaller = {(f.variables, f.table) for s in range(1, size) for f in _thresholds(s)}
    found: dict[tuple[int, int], Function] = {}
    for f in _listings(size):
        if (f.variables, f.table) not in smaller:
            found.setdefault((f.variables, f.table), f)
    return tuple(found[key] for key in sorted(found))


def _listings(size: int) -> Iterator[Function]:
    if size <= 2:
        yield _chain(2 - size, size - 1, "and")
        return
    if size == CONSTANT_SIZE:
        for constant, count in ((TRUE, 1), (FALSE, 2)):
            yield Function(0, constant.table, (f"at_least {count}", 0, ("not", 0)))
    for weights in _weights(size - 1, size):
        for count in range(1, sum(map(abs, weights)) + 1):
            f = _threshold(weights, count)
            if f is not None:
                yield f


def _weights(cost: int, most: int) -> Iterator[tuple[int, ...]]:
    """How often each variable is listed, the negated ones below zero, in falling order."""
    if cost == 0:
        yield ()
    for weight in range(min(most, cost), -(cost // 2) - 1, -1):
        if weight:
            own = weight if weight > 0 else -2 * weight
            yield from ((weight, *rest) for rest in _weights(cost - own, weight))


def _threshold(weights: tuple[int, ...], count: int) -> Function | None:
    """The function, its variables by how often they are true with it; None if some do not matter.

    Two variables of a threshold function that are so equally often can be exchanged, so that
    this order gives each function one table.
    """
    variables = len(weights)
    truth = np.arange(1 << variables)[:, None] >> np.arange(variables) & 1
    sums = np.where(np.array(weights) > 0, truth, 1 - truth) @ np.abs(weights)
    bits = sums >= count
    agree = (bits[:, None] == (truth > 0)).sum(axis=0)
    if (agree * 2 == len(bits)).any():
        return None
    order = np.argsort(-agree, kind="stable").tolist()
    index = truth[:, order] @ (1 << np.arange(variables))
    table = sum(1 << place for place in index[bits].tolist())
    names = {v: name for name, v in enumerate(order)}
    listed = [
        names[v] if weight > 0 else ("not", names[v])
        for v, weight in enumerate(weights)
        for _ in range(abs(weight))
    ]
    return Function(variables, table, (f"at_least {count}", *listed))
