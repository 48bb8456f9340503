"""The optimum by trying everything: every choice of cuts, every formula; for tiny tables only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import NumericFeature, Problem


def fewest_errors(problem: Problem, length: int) -> list[int]:
    """For every bound 1..length the fewest errors of any formula within it."""
    best = [problem.rows] * length
    for cuts in itertools.product(*map(_cuts, problem.numerics)):
        fixed = [b.proposition for b in problem.booleans]
        for size, masks in enumerate(_truths(problem, [*fixed, *cuts], length)):
            for mask in masks:
                best[size] = min(best[size], (mask ^ _mask(problem.labels)).bit_count())
    return [min(best[: size + 1]) for size in range(length)]


def smallest_size(problem: Problem, length: int) -> int:
    """The size of the smallest formula with the fewest errors within the bound."""
    errors = fewest_errors(problem, length)
    return errors.index(errors[-1]) + 1


def _cuts(feature: NumericFeature) -> Iterator[Proposition]:
    values = range(len(feature.cuts))
    if feature.method is Method.PIVOT:
        return (feature.proposition(low) for low in values)
    pairs = itertools.combinations_with_replacement(values, 2)
    return (feature.proposition(low, high) for low, high in pairs)


def _truths(problem: Problem, propositions: list[Proposition], length: int) -> list[set[int]]:
    """By size, the truth vectors that need that size: those of smaller formulas are left out."""
    full = (1 << problem.rows) - 1
    by_size = [{_mask(p.evaluate(problem.table)) for p in propositions}]
    seen = set(by_size[0])
    for size in range(2, length + 1):
        new = {full ^ mask for mask in by_size[size - 2]}
        for left in range(1, (size - 1) // 2 + 1):
            for a in by_size[left - 1]:
                for b in by_size[size - 2 - left]:
                    new |= {a & b, a | b}
        by_size.append(new - seen)
        seen |= new
    return by_size


def _mask(truth: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int.from_bytes(np.packbits(truth, bitorder="little").tobytes(), "little")
