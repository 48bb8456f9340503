"""The near-optimal set by trying everything: all formulas, all cuts; for tiny tables only."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import fewest_errors

# A family: its columns in one order, and the truth table of its function over them.
Key = tuple[tuple[str, ...], tuple[bool, ...]]


@dataclass
class Members:
    """What brute force knows of a family."""

    size: int
    best: int
    count: int = 0
    ranges: dict[str, list[set[float]]] = field(default_factory=dict)  # of each end, by column


def near_optimal(problem: Problem, bound: int, slack: int) -> dict[Key, Members]:
    """Every family with a member of at most optimum + slack errors."""
    most = fewest_errors(problem, bound)[-1] + slack
    columns = _columns(problem)
    found: dict[Key, Members] = {}
    for size, variables, table in _functions(bound, min(len(columns), (bound + 1) // 2)):
        for names in itertools.combinations(sorted(columns), variables):
            for chosen in itertools.product(*(columns[name] for name in names)):
                errors = _errors(problem, table, chosen)
                if errors <= most:
                    members = found.setdefault((names, table), Members(size, errors))
                    _add(members, chosen, errors)
    return found


def votes(problem: Problem, bound: int, slack: int) -> tuple[list[int], int]:
    """For every row how many members say yes, and how many members there are."""
    most = fewest_errors(problem, bound)[-1] + slack
    columns = _columns(problem)
    yes, count = np.zeros(problem.rows, np.int64), 0
    for _, variables, table in _functions(bound, min(len(columns), (bound + 1) // 2)):
        for names in itertools.combinations(sorted(columns), variables):
            for chosen in itertools.product(*(columns[name] for name in names)):
                truth = _truth(problem, table, chosen)
                if np.count_nonzero(truth != problem.labels) <= most:
                    yes, count = yes + truth, count + 1
    return yes.tolist(), count


def _add(members: Members, chosen: tuple[Proposition, ...], errors: int) -> None:
    members.count += 1
    members.best = min(members.best, errors)
    for p in chosen:
        if p.thresholds:
            ends = members.ranges.setdefault(p.column, [set(), set()])
            ends[0].add(p.low)
            ends[1].add(p.high)


def _columns(problem: Problem) -> dict[str, list[Proposition]]:
    """The propositions of each column that are not constant."""
    by_column: dict[str, list[Proposition]] = defaultdict(list)
    fixed = [b.proposition for b in problem.booleans]
    for p in [*fixed, *_cuts(problem)]:
        if 0 < np.count_nonzero(p.evaluate(problem.table)) < problem.rows:
            by_column[p.column].append(p)
    return by_column


def _cuts(problem: Problem) -> Iterator[Proposition]:
    for feature in problem.numerics:
        if problem.method is Method.PIVOT:
            yield from (feature.proposition(low) for low in range(len(feature.thresholds)))
        else:
            ends = itertools.combinations_with_replacement(range(len(feature.thresholds)), 2)
            yield from (feature.proposition(low, high) for low, high in ends)


def _truth(
    problem: Problem, table: tuple[bool, ...], chosen: tuple[Proposition, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    index = np.zeros(problem.rows, np.int64)
    for v, p in enumerate(chosen):
        index |= p.evaluate(problem.table).astype(np.int64) << v
    return np.array(table)[index]


def _errors(problem: Problem, table: tuple[bool, ...], chosen: tuple[Proposition, ...]) -> int:
    return int(np.count_nonzero(_truth(problem, table, chosen) != problem.labels))


@cache
def _functions(bound: int, most: int) -> list[tuple[int, int, tuple[bool, ...]]]:
    """Size, variables and truth table of every function that depends on all its variables.

    Found by composing truth tables over named variables, not up to their names: with the columns
    in a fixed order every way to give them to variables is a table of its own.
    """
    found = []
    for variables in range(1, most + 1):
        for size, tables in enumerate(_by_size(bound, variables), 1):
            found += [(size, variables, t) for t in sorted(tables) if _uses_all(t, variables)]
    return found


def _by_size(bound: int, variables: int) -> list[set[tuple[bool, ...]]]:
    """Truth tables by the size of their smallest formula."""
    rows = range(1 << variables)
    sizes = [{tuple(bool(i >> v & 1) for i in rows) for v in range(variables)}]
    seen = set(sizes[0])
    for size in range(2, bound + 1):
        new = {tuple(not value for value in t) for t in sizes[size - 2]}
        for left in range(1, size - 1):
            for a, b in itertools.product(sizes[left - 1], sizes[size - 2 - left]):
                new.add(tuple(p and q for p, q in zip(a, b, strict=True)))
                new.add(tuple(p or q for p, q in zip(a, b, strict=True)))
        sizes.append(new - seen)
        seen |= new
    return sizes


def _uses_all(table: tuple[bool, ...], variables: int) -> bool:
    return all(
        any(table[i] != table[i ^ 1 << v] for i in range(len(table))) for v in range(variables)
    )
