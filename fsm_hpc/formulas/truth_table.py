"""A formula as a function of its propositions: dependence and direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.connectives import example
from fsm_hpc.formulas.formula import Atom, Formula, Proposition, Truth


@dataclass(frozen=True, slots=True)
class Influence:
    """The effect of one proposition becoming true on a formula."""

    rises: bool  # somewhere it becomes true
    falls: bool  # somewhere it becomes false

    @property
    def is_any(self) -> bool:
        return self.rises or self.falls


def influences(
    formula: Formula, fixed: Mapping[Proposition, bool] | None = None
) -> dict[Proposition, Influence]:
    """The influence of each proposition; fixed ones have the given value and no influence."""
    known = fixed or {}
    free = [p for p in dict.fromkeys(formula.propositions()) if p not in known]
    truth = _truth(formula, free, known)
    found = {p: Influence(False, False) for p in known}
    rises, falls = changes(truth[None])
    for place, proposition in enumerate(free):
        found[proposition] = Influence(bool(rises[0, place]), bool(falls[0, place]))
    return found


def changes(truths: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each table and variable whether the value somewhere becomes true, or false, with it."""
    variables = truths.shape[1].bit_length() - 1
    rises, falls = np.zeros((2, len(truths), variables), bool)
    for place in range(variables):
        pairs = truths.reshape(len(truths), -1, 2, 1 << place)
        without, with_it = pairs[:, :, 0], pairs[:, :, 1]
        rises[:, place] = (with_it & ~without).any(axis=(1, 2))
        falls[:, place] = (without & ~with_it).any(axis=(1, 2))
    return rises, falls


def steady(truths: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each table the variables, as bits, that never make it false, and never true."""
    rises, falls = changes(truths)
    bits = 1 << np.arange(rises.shape[1])
    return (~falls * bits).sum(axis=1), (~rises * bits).sum(axis=1)


@cache
def signs_of(label: str, count: int) -> tuple[int, ...]:
    """1 for each part with which the connective only rises, -1 if it only falls, else 0."""
    found = influences(example(label, count))
    return tuple(int(one.rises) - int(one.falls) for one in found.values())


def _truth(formula: Formula, free: list[Proposition], known: Mapping[Proposition, bool]) -> Truth:
    """Entry i: its value where the free proposition v has the value of bit v of i."""
    index = np.arange(1 << len(free))
    table = {f"p{place}": (index >> place & 1) > 0 for place in range(len(free))}
    names = {p: Proposition(f"p{place}") for place, p in enumerate(free)}
    for place, (proposition, value) in enumerate(known.items()):
        names[proposition] = Proposition(f"k{place}")
        table[f"k{place}"] = np.full(len(index), value)
    return np.asarray(replaced(formula, names.get).evaluate(table))


def replaced(formula: Formula, again: Callable[[Proposition], Proposition | None]) -> Formula:
    """The formula with replaced propositions; None from `again` keeps a proposition."""
    if isinstance(formula, Atom):
        return Atom(again(formula.proposition) or formula.proposition)
    return formula.over([replaced(part, again) for part in formula.parts])
