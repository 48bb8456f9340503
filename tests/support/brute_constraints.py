"""The optimum under constraints by trying every function of every choice of cuts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.formulas.language import Language
from fsm_hpc.search.constraints import FREE, Constraints
from fsm_hpc.search.problem import Problem
from tests.support.brute_force import cuts_of, truths

Bits = NDArray[Any]


@dataclass(frozen=True)
class Functions:
    """All functions of n propositions that formulas within a length have: table and size."""

    tables: Bits  # function x assignment
    sizes: Bits

    @cached_property
    def everywhere(self) -> tuple[Bits, Bits]:
        return self.changes(np.arange(self.tables.shape[1]))

    def changes(self, kept: Bits) -> tuple[Bits, Bits]:
        """Function x proposition: whether it rises, falls with it among these assignments."""
        count = self.tables.shape[1].bit_length() - 1
        rises, falls = (np.zeros((len(self.sizes), count), bool) for _ in range(2))
        known = set(kept.tolist())
        for place in range(count):
            low = np.array([a for a in kept if not a >> place & 1 and a | 1 << place in known])
            if len(low):
                without, with_it = self.tables[:, low], self.tables[:, low | 1 << place]
                rises[:, place] = (with_it & ~without).any(axis=1)
                falls[:, place] = (without & ~with_it).any(axis=1)
        return rises, falls


@cache
def functions(count: int, language: Language, length: int) -> Functions:
    entries = 1 << count
    atoms = {sum(1 << a for a in range(entries) if a >> v & 1) for v in range(count)}
    sizes: dict[int, int] = {}
    for size, found in enumerate(truths(atoms, entries, language, length), 1):
        for table in found:
            sizes.setdefault(table, size)
    tables = np.array([[t >> a & 1 for a in range(entries)] for t in sizes], bool)
    return Functions(tables.reshape(-1, entries), np.array(list(sizes.values())))


def fewest_errors(
    problem: Problem, length: int, constraints: Constraints | None = None
) -> list[int | None]:
    """For every bound the fewest errors of a formula that obeys; None where there is none.

    `problem` may have forgotten its constraints: then they are given.
    """
    wanted = problem.constraints if constraints is None else constraints
    plain = replace(problem, constraints=FREE, columns=_kept(wanted, problem.columns))
    weights = np.ones(plain.rows, int) if plain.weights is None else plain.weights
    best: list[int | None] = [None] * length
    for cuts in itertools.product(*map(cuts_of, plain.numerics)):
        propositions = [*(b.proposition for b in plain.booleans), *cuts]
        for size, errors in _of_choice(plain, wanted, propositions, weights, length):
            known = best[size - 1]
            best[size - 1] = errors if known is None else min(known, errors)
    within = [[b for b in best[: size + 1] if b is not None] for size in range(length)]
    return [min(some) if some else None for some in within]


def _of_choice(
    problem: Problem,
    wanted: Constraints,
    propositions: list[Proposition],
    weights: Bits,
    length: int,
) -> Iterator[tuple[int, int]]:
    """Sizes and errors of all formulas over these propositions that obey."""
    held = {p: p.evaluate(problem.table) for p in propositions}
    used = [p for p in propositions if _has_support(held[p], wanted.min_support)]
    if not used:
        return
    every = functions(len(used), problem.language, length)
    truth = np.stack([held[p] for p in used])
    rows = (truth.astype(int) << np.arange(len(used))[:, None]).sum(axis=0)
    fine = _obeying(problem, wanted, used, every, truth)
    errors = (every.tables[:, rows] != problem.labels) @ weights
    for size in np.unique(every.sizes[fine]).tolist():
        yield size, int(errors[fine & (every.sizes == size)].min())


def _obeying(
    problem: Problem, wanted: Constraints, used: list[Proposition], every: Functions, truth: Bits
) -> Bits:
    columns = [_column(problem, p) for p in used]
    everywhere = np.arange(every.tables.shape[1])
    rises, falls = every.everywhere
    fine = np.ones(len(every.sizes), bool)
    for place, (column, proposition) in enumerate(zip(columns, used, strict=True)):
        names = {column.name} | ({column.source} if proposition.relation is not MISSING else set())
        if names & set(wanted.increasing):
            fine &= ~falls[:, place]
        if names & set(wanted.decreasing):
            fine &= ~rises[:, place]
    depends = rises | falls
    if wanted.max_columns is not None:
        tables = np.array([c.source or c.name for c in columns])
        count = sum(depends[:, tables == name].any(axis=1).astype(int) for name in set(tables))
        # a constant has a proposition as well, and so one column
        fine &= np.asarray(count) <= wanted.max_columns
    for name in wanted.require:
        # what is the same on all rows is that constant: only assignments with it are looked at
        kept = everywhere
        for place, held in enumerate(truth):
            if (held == held[0]).all():
                kept = kept[(kept >> place & 1) == int(held[0])]
        up, down = every.changes(kept) if len(kept) < len(everywhere) else (rises, falls)
        mine = [name in (c.name, c.source) for c in columns]
        fine &= (up | down)[:, mine].any(axis=1)
    return fine


MISSING = Relation.MISSING


def _has_support(held: Bits, least: int) -> bool:
    return min(int(held.sum()), int((~held).sum())) >= least


def _kept(wanted: Constraints, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(
        c for c in columns if c.name not in wanted.forbid and c.source not in wanted.forbid
    )


def _column(problem: Problem, proposition: Proposition) -> Column:
    for column in problem.columns:
        if column.is_missing_indicator == (
            proposition.relation is MISSING
        ) and proposition.column in (
            column.source if column.is_missing_indicator else column.name,
        ):
            return column
    raise AssertionError(proposition)
