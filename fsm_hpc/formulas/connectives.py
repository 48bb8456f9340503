"""Connectives beyond the paper's: exclusive or, equivalence, implication, at least k of n."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from fsm_hpc.formulas.formula import (
    And,
    Chain,
    Formula,
    Not,
    Or,
    Phrases,
    Style,
    bracketed,
    in_order,
)

_LOOSEST = -1  # nobody knows whether xor binds more than or: brackets always tell
_TIGHT = Not.binding


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Xor(Chain):
    """True where an odd number of its parts is: of two, exactly one."""

    binding: ClassVar[int] = _LOOSEST

    def joined(self, truths: Sequence[Any]) -> Any:
        return reduce(operator.xor, truths)

    def _render(self, style: Style) -> str:
        return style.exclusion.join(bracketed(part, _TIGHT, style) for part in self.parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if len(self.parts) == 2:
            quantifier = "exactly one of" if is_true else "both or neither of"
        else:
            quantifier = f"an {'odd' if is_true else 'even'} number of"
        return f"{quantifier} {_listed(self.parts, phrases)}"


@dataclass(frozen=True, slots=True, repr=False)
class _Pair(Formula):
    """Two parts, the left one and the right one."""

    left: Formula
    right: Formula
    binding: ClassVar[int] = _LOOSEST

    @property
    def size(self) -> int:
        return self.left.size + 1 + self.right.size

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.left, self.right)

    def over(self, parts: Sequence[Formula]) -> Formula:
        return type(self)(*parts)


@dataclass(frozen=True, slots=True, repr=False)
class Iff(_Pair):
    """True where its two parts agree; of three nobody would read that rightly."""

    def joined(self, truths: Sequence[Any]) -> Any:
        return truths[0] ^ truths[1] ^ True

    def canonical(self) -> Formula:
        return Iff(*in_order(part.canonical() for part in self.parts))

    def _render(self, style: Style) -> str:
        return style.equivalence.join(bracketed(part, _TIGHT, style) for part in self.parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return Xor(self.left, self.right)._phrase(phrases, nested, not is_true)


@dataclass(frozen=True, slots=True, repr=False)
class Implies(_Pair):
    """True unless the left part holds and the right one fails."""

    def joined(self, truths: Sequence[Any]) -> Any:
        return truths[0] ^ True | truths[1]

    def canonical(self) -> Formula:
        return Implies(self.left.canonical(), self.right.canonical())

    def _render(self, style: Style) -> str:
        return style.implication.join(bracketed(part, _TIGHT, style) for part in self.parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if is_true:
            return Or(Not(self.left), self.right)._phrase(phrases, nested)
        return And(self.left, Not(self.right))._phrase(phrases, nested)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class AtLeast(Formula):
    """True where so many of its parts are; a part that is listed twice counts twice."""

    count: int
    parts: tuple[Formula, ...]
    binding: ClassVar[int] = 3

    def __init__(self, count: int, *parts: Formula) -> None:
        if len(parts) < 2 or not 1 <= count <= len(parts):
            found = f"{count} of {len(parts)}"
            raise ValueError(f"at least k of n: expected two parts or more and k to n, not {found}")
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "parts", parts)

    @property
    def size(self) -> int:
        return 1 + sum(part.size for part in self.parts)

    def joined(self, truths: Sequence[Any]) -> Any:
        return sum(truths) >= self.count

    def over(self, parts: Sequence[Formula]) -> Formula:
        return AtLeast(self.count, *parts)

    def canonical(self) -> Formula:
        return AtLeast(self.count, *in_order(part.canonical() for part in self.parts))

    def _render(self, style: Style) -> str:
        listed = ", ".join(part._render(style) for part in self.parts)
        return f"{style.threshold.format(self.count)}({listed})"

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        quantifier = "at least" if is_true else "fewer than"
        return f"{quantifier} {self.count} of {_listed(self.parts, phrases)}"


def _listed(parts: Iterable[Formula], phrases: Phrases) -> str:
    return f"({', '.join(part._phrase(phrases, nested=True) for part in parts)})"
