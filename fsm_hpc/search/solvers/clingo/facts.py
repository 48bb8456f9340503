"""Translate a problem into facts, and answer sets into formulas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.connectives import CONNECTIVES, AtLeast
from fsm_hpc.formulas.formula import Atom, Formula, Not, Proposition
from fsm_hpc.search.features import BELOW, NumericFeature
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem

Sequence = list[str | int]  # a formula in reverse Polish notation: attributes by number
Thresholds = dict[int, tuple[int, int]]  # the ranks of the ends of a numeric attribute


@dataclass(frozen=True)
class Instance:
    """A problem as facts; `merged` joins rows with equal propositions.

    Attributes are numbered: the Boolean ones of the problem first, then the numeric ones.
    """

    problem: Problem
    merged: bool = True

    @property
    def offset(self) -> int:
        """Errors of every formula, which the facts therefore omit."""
        return self.problem.fewest_errors if self.merged else 0

    @cached_property
    def facts(self) -> str:
        return "\n".join([*self._rows(), *self._attributes(), *self._constraints()])

    def formula(self, sequence: Sequence, thresholds: Thresholds) -> Formula:
        """The formula of a sequence in reverse Polish notation."""
        stack: list[Formula] = []
        for symbol in sequence:
            if isinstance(symbol, int):
                stack.append(Atom(self._proposition(symbol, thresholds)))
            elif symbol == "neg":
                stack.append(Not(stack.pop()))
            elif symbol.startswith("quorum"):
                stack = [AtLeast(int(symbol.split()[1]), *stack)]
            else:
                right, left = stack.pop(), stack.pop()
                join: Any = CONNECTIVES[symbol]
                stack.append(join(left, right))
        (formula,) = stack
        return formula

    def _proposition(self, attribute: int, thresholds: Thresholds) -> Proposition:
        booleans = self.problem.booleans
        if attribute < len(booleans):
            return booleans[attribute].proposition
        return self.problem.numerics[attribute - len(booleans)].proposition(*thresholds[attribute])

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """The rows of the table that the facts contain."""
        if not self.merged:
            return np.arange(self.problem.rows)
        first: NDArray[np.int64] = self.problem.distinct_rows.first[self._surplus != 0]
        return first

    @cached_property
    def _surplus(self) -> NDArray[np.int64]:
        merged = self.problem.distinct_rows
        return merged.positives - merged.negatives

    def _rows(self) -> Iterator[str]:
        if self.merged:
            surplus = self._surplus[self._surplus != 0]
        else:
            surplus = np.where(self.problem.labels, 1, -1)
            if self.problem.weights is not None:
                surplus = surplus * self.problem.weights
        for row, weight in enumerate(surplus.tolist()):
            yield f"row({row}). label({row},{int(weight > 0)}). weight({row},{abs(weight)})."

    def _attributes(self) -> Iterator[str]:
        for index, boolean in enumerate(self.problem.booleans):
            yield f"attribute({index})."
            for row in np.flatnonzero(boolean.holds[self._first]).tolist():
                yield f"val({row},a({index}),1)."
        for index, numeric in enumerate(self.problem.numerics, len(self.problem.booleans)):
            yield f"attribute({index}). value({index},0..{len(numeric.thresholds) - 1})."
            if not numeric.is_always_reached:
                yield f"partial({index})."
            yield from self._ranks(index, numeric)

    def _ranks(self, index: int, numeric: NumericFeature) -> Iterator[str]:
        between = np.zeros(len(numeric.ranks), bool) if numeric.between is None else numeric.between
        rows = zip(numeric.ranks[self._first].tolist(), between[self._first].tolist(), strict=True)
        for row, (rank, is_between) in enumerate(rows):
            if rank == BELOW:
                yield f"beneath({row},{index})."
            else:
                yield f"{'between' if is_between else 'rd'}({row},{index},{rank})."

    def _constraints(self) -> Iterator[str]:
        """The constraints on each attribute, if there are any."""
        constraints = self.problem.constraints
        if not constraints.binds:
            return
        if constraints.max_columns is not None:
            yield f"most({constraints.max_columns})."
        yield from (f"wanted({bit})." for bit in range(len(constraints.require)))
        features = self.problem.features
        origins = {feature.constraint.origin: number for number, feature in enumerate(features)}
        for index, feature in enumerate(features):
            constraint = feature.constraint
            yield f"origin({index},{origins[constraint.origin]})."
            if constraint.sign:
                yield f"{'rising' if constraint.sign > 0 else 'falling'}({index})."
            stands = (bit for bit in range(len(constraints.require)) if constraint.needs >> bit & 1)
            yield from (f"stands({index},{bit})." for bit in stands)
        for index, numeric in enumerate(self.problem.numerics, len(self.problem.booleans)):
            if constraints.support and numeric.method is Method.INTERVAL:
                for low, (first, last) in enumerate(numeric.reach.tolist()):
                    is_open = first <= last
                    ends = f"reach({index},{low},{first},{last})."
                    yield ends if is_open else f"closed({index},{low})."
