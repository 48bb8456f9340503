"""The smallest formula that depends on given numbers of propositions, each in its direction."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.grammar import FORMULA, PROPOSITION, Grammar, Production
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.truth_table import signs_of

Counts = tuple[int, ...]  # propositions that may only rise, only fall, or both
Skeleton = int | tuple[Any, ...]  # the direction of a proposition, or a connective and its parts
SIGNS = (1, -1, 0)
_NONE = 1 << 20


@cache
def smallest_with(language: Language, counts: Counts) -> Skeleton:
    """A formula with so many propositions of each direction, each once.

    No formula that depends on as many is smaller where `not`, and a connective that needs no more
    symbols than another, are in the language; tests compare it with brute force.
    """
    return _Sizes(language.grammar, counts).formula(FORMULA, 1, counts)


class _Sizes:
    """The smallest sizes by type, direction and numbers of propositions."""

    def __init__(self, grammar: Grammar, counts: Counts) -> None:
        self._grammar = grammar
        shape = tuple(count + 1 for count in counts)
        kinds = [PROPOSITION, *grammar, *(_list_of(kind) for kind in grammar)]
        self._sizes = {(k, sign): np.full(shape, _NONE) for k in kinds for sign in SIGNS}
        every = sorted(itertools.product(*map(range, shape)), key=sum)
        for at in every[1:]:
            if sum(at) == 1:
                self._begin(at)
            for _ in kinds:  # types include others: until nothing changes
                for kind in [*grammar][::-1]:
                    self._update(kind, at)

    def _begin(self, at: Counts) -> None:
        own = SIGNS[at.index(1)]
        for sign in SIGNS:
            if own in (sign, 0):
                self._sizes[PROPOSITION, sign][at] = 1

    def _update(self, kind: str, at: Counts) -> None:
        for sign in SIGNS:
            options = [self._size(one, sign, at) for one in self._grammar[kind]]
            self._sizes[kind, sign][at] = min(options)
            lists = self._sizes[_list_of(kind), sign]
            lists[at] = min(min(options), self._split(_list_of(kind), kind, (sign, sign), at))

    def _size(self, one: str | Production, sign: int, at: Counts) -> int:
        if isinstance(one, str):
            return int(self._sizes[one, sign][at])
        if one.is_list:
            own = one.parts[0]
            return 1 + self._split(_list_of(own), own, (sign, sign), at)
        signs = tuple(sign * own for own in signs_of(one.connective, len(one.parts)))
        if len(one.parts) == 1:
            return 1 + int(self._sizes[one.parts[0], signs[0]][at])
        left, right = one.parts
        return 1 + self._split(left, right, signs, at)

    def _split(self, left: str, right: str, signs: tuple[int, ...], at: Counts) -> int:
        return int(self._both(left, right, signs, at).min())

    def _both(self, left: str, right: str, signs: tuple[int, ...], at: Counts) -> NDArray[Any]:
        """The size for every distribution of the propositions to the two parts."""
        upto = tuple(slice(0, count + 1) for count in at)
        first, second = (
            self._sizes[k, sign][upto] for k, sign in zip((left, right), signs, strict=True)
        )
        return np.asarray(first + np.flip(second))

    # ------------------------------------------------------------------------------ formulas

    def formula(self, kind: str, sign: int, at: Counts) -> Skeleton:
        """One of that size."""
        if kind == PROPOSITION:
            return SIGNS[at.index(1)]
        size = self._sizes[kind, sign][at]
        one = next(o for o in self._grammar[kind] if self._size(o, sign, at) == size)
        if isinstance(one, str):
            return self.formula(one, sign, at)
        if one.is_list:
            return (one.connective, *self._listed(one.parts[0], sign, at))
        signs = tuple(sign * own for own in signs_of(one.connective, len(one.parts)))
        if len(one.parts) == 1:
            return (one.connective, self.formula(one.parts[0], signs[0], at))
        left, right = one.parts
        first, second = self._shares(left, right, signs, at)
        parts = (self.formula(left, signs[0], first), self.formula(right, signs[1], second))
        return (one.connective, *parts)

    def _listed(self, kind: str, sign: int, at: Counts) -> list[Skeleton]:
        if sum(at) == 1:
            return [self.formula(kind, sign, at)]
        rest, own = self._shares(_list_of(kind), kind, (sign, sign), at)
        return [*self._listed(kind, sign, rest), self.formula(kind, sign, own)]

    def _shares(
        self, left: str, right: str, signs: tuple[int, ...], at: Counts
    ) -> tuple[Counts, Counts]:
        sizes = self._both(left, right, signs, at)
        first = tuple(map(int, np.unravel_index(int(sizes.argmin()), sizes.shape)))
        return first, tuple(count - own for count, own in zip(at, first, strict=True))


def _list_of(kind: str) -> str:
    return f"{kind}, ..."
