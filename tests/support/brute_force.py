"""The optimum by trying everything: every choice of cuts, every formula; for tiny tables only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.features import NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem

Join = Callable[[int, int, int], int]
AND: Join = lambda a, b, full: a & b  # noqa: E731
OR: Join = lambda a, b, full: a | b  # noqa: E731
CONNECTIVES: dict[Language, list[Join]] = {
    Language.PAPER: [AND, OR],
    Language.XOR: [AND, OR, lambda a, b, full: a ^ b, lambda a, b, full: full ^ a ^ b],
    Language.IMPLIES: [AND, OR, lambda a, b, full: (full ^ a) | b],
}
LAYERS = {  # the innermost first
    Language.DNF: [AND, OR],
    Language.CNF: [OR, AND],
    Language.CONJUNCTION: [AND],
    Language.DISJUNCTION: [OR],
}


def fewest_errors(problem: Problem, length: int) -> list[int]:
    """For every bound 1..length the fewest errors of any formula within it."""
    weights = [1] * problem.rows if problem.weights is None else problem.weights.tolist()
    return least_weight(problem, length, weights)


def least_weight(problem: Problem, length: int, weights: Sequence[Any]) -> list[Any]:
    """The same where an error on a row counts what its weight says: any kind of number."""
    found: list[set[int]] = [set() for _ in range(length)]
    fixed = [b.proposition for b in problem.booleans]
    for cuts in itertools.product(*map(cuts_of, problem.numerics)):
        for size, masks in enumerate(_truths(problem, [*fixed, *cuts], length)):
            found[size] |= masks
    labels, everything = _mask(problem.labels), sum(weights)
    best = [
        min((_weight(m ^ labels, weights) for m in masks), default=everything) for masks in found
    ]
    return [min(best[: size + 1]) for size in range(length)]


def _weight(wrong: int, weights: Sequence[Any]) -> Any:
    return sum(weight for row, weight in enumerate(weights) if wrong >> row & 1)


def smallest_size(problem: Problem, length: int) -> int:
    """The size of the smallest formula with the fewest errors within the bound."""
    errors = fewest_errors(problem, length)
    return errors.index(errors[-1]) + 1


def cuts_of(feature: NumericFeature) -> Iterator[Proposition]:
    values = range(len(feature.cuts))
    if feature.method is Method.PIVOT:
        return (feature.proposition(low) for low in values)
    pairs = itertools.combinations_with_replacement(values, 2)
    return (feature.proposition(low, high) for low, high in pairs)


def _truths(problem: Problem, propositions: list[Proposition], length: int) -> list[set[int]]:
    """By size, the truth vectors that need that size: those of smaller formulas are left out."""
    atoms = {_mask(p.evaluate(problem.table)) for p in propositions}
    return truths(atoms, problem.rows, problem.language, length)


def truths(atoms: set[int], rows: int, language: Language, length: int) -> list[set[int]]:
    """The same over atoms that are given as truth vectors."""
    full = (1 << rows) - 1
    literals = [atoms, {full ^ mask for mask in atoms}]
    if language is Language.AT_LEAST:
        return _thresholds(literals, rows, length)
    if language in LAYERS:
        chains = literals
        for join in LAYERS[language]:
            chains = _chains(chains, join, length)
        return chains
    return _nested(atoms, full, CONNECTIVES[language], length)


def _nested(atoms: set[int], full: int, joins: list[Join], length: int) -> list[set[int]]:
    """Connectives within each other as one likes."""
    by_size = [atoms]
    seen = set(atoms)
    for size in range(2, length + 1):
        new = {full ^ mask for mask in by_size[size - 2]}
        for left in range(1, size - 1):
            for a in by_size[left - 1]:
                for b in by_size[size - 2 - left]:
                    new |= {join(a, b, full) for join in joins}
        by_size.append(new - seen)
        seen |= new
    return by_size


def _chains(parts: list[set[int]], join: Join, length: int) -> list[set[int]]:
    """One part, or several with one connective between them."""
    by_size: list[set[int]] = []
    for size in range(1, length + 1):
        new = set(parts[size - 1]) if size <= len(parts) else set()
        for left in range(1, size - 1):
            for a in by_size[left - 1]:
                for b in parts[size - 2 - left] if size - 1 - left <= len(parts) else ():
                    new.add(join(a, b, 0))
        by_size.append(new)
    return by_size


def _thresholds(literals: list[set[int]], rows: int, length: int) -> list[set[int]]:
    """A literal, or at least k of n: by what the literals cost, how many hold on each row."""
    by_size: list[set[int]] = [*literals, *(set() for _ in range(length))][:length]
    listed: list[set[tuple[int, ...]]] = [{(0,) * (rows + 1)}]  # the last entry: how many
    for cost in range(1, length):
        longer = set()
        for own in (1, 2)[:cost]:
            for mask in literals[own - 1]:
                more = (*((mask >> row) & 1 for row in range(rows)), 1)
                for sums in listed[cost - own]:
                    longer.add(tuple(a + b for a, b in zip(sums, more, strict=True)))
        listed.append(longer)
        for *held, number in (one for one in longer if one[-1] >= 2):
            for count in range(1, number + 1):
                by_size[cost].add(sum((some >= count) << row for row, some in enumerate(held)))
    return by_size


def _mask(truth: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")
