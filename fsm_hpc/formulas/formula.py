"""Boolean formulas over propositions: size, truth on a table, printing and parsing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.formulas.text import escape_latex, number, quote

Truth = NDArray[np.bool_]
Table = Mapping[str, Any]  # column name -> values; a pandas DataFrame is one
Phrases = Mapping[str, tuple[str, str]]  # Boolean column -> (subject, what it is said to be)


class Relation(Enum):
    """How a proposition compares its column with its cuts."""

    HOLDS = "holds"
    ABOVE = ">"
    AT_LEAST = ">="
    WITHIN = "<= <="


@dataclass(frozen=True, slots=True)
class Proposition:
    """A yes-or-no statement about one column of a row."""

    column: str
    relation: Relation = Relation.HOLDS
    low: float = 0.0
    high: float = 0.0

    @staticmethod
    def above(column: str, median: float) -> Proposition:
        return Proposition(column, Relation.ABOVE, float(median))

    @staticmethod
    def at_least(column: str, pivot: float) -> Proposition:
        return Proposition(column, Relation.AT_LEAST, float(pivot))

    @staticmethod
    def within(column: str, low: float, high: float) -> Proposition:
        return Proposition(column, Relation.WITHIN, float(low), float(high))

    @property
    def cuts(self) -> tuple[str, ...]:
        """The numbers that it compares with, as they are printed."""
        if self.relation is Relation.HOLDS:
            return ()
        ends = (self.low, self.high) if self.relation is Relation.WITHIN else (self.low,)
        return tuple(map(number, ends))

    def evaluate(self, table: Table) -> Truth:
        values = np.asarray(table[self.column])
        if self.relation is Relation.HOLDS:
            return values.astype(bool)
        if self.relation is Relation.ABOVE:
            return np.asarray(values > self.low)
        if self.relation is Relation.AT_LEAST:
            return np.asarray(values >= self.low)
        return np.asarray((values >= self.low) & (values <= self.high))

    def __str__(self) -> str:
        name = quote(self.column)
        if self.relation is Relation.HOLDS:
            return name
        if self.relation is Relation.WITHIN:
            return f"{number(self.low)} <= {name} <= {number(self.high)}"
        return f"{name} {self.relation.value} {number(self.low)}"

    def latex(self, symbol: str) -> str:
        """The symbol with the paper's subscript: `p_{\\geq 767}`, `p_{[25,60]}`, `p_{m}`."""
        subscript = {
            Relation.HOLDS: "",
            Relation.ABOVE: "_{m}",
            Relation.AT_LEAST: f"_{{\\geq {number(self.low)}}}",
            Relation.WITHIN: f"_{{[{number(self.low)},{number(self.high)}]}}",
        }[self.relation]
        return symbol + subscript

    def words(self, phrases: Phrases, is_true: bool = True) -> str:
        low, high = number(self.low), number(self.high)
        if self.relation is Relation.HOLDS:
            subject, category = phrases.get(self.column, (self.column, "true"))
            return f"{subject} is {'' if is_true else 'not '}{category}"
        said = {
            Relation.ABOVE: (f"above {low}", f"at most {low}"),
            Relation.AT_LEAST: (f"at least {low}", f"below {low}"),
            Relation.WITHIN: (f"from {low} to {high}", f"outside {low} to {high}"),
        }[self.relation]
        if self.relation is Relation.WITHIN and self.low == self.high:
            said = (low, f"not {low}")
        return f"{self.column} is {said[0 if is_true else 1]}"


class Formula(ABC):
    """An immutable formula; `size` counts propositions and connectives."""

    __slots__ = ()
    binding: ClassVar[int]  # the higher, the tighter: or < and < not < proposition

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def parts(self) -> tuple[Formula, ...]: ...

    @abstractmethod
    def evaluate(self, table: Table) -> Truth:
        """Its truth on every row of the table."""

    @abstractmethod
    def canonical(self) -> Formula:
        """The same formula with the parts of `and` and `or` in one fixed order."""

    @abstractmethod
    def _render(self, style: _Style) -> str: ...

    @abstractmethod
    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str: ...

    def propositions(self) -> Iterator[Proposition]:
        """Every occurrence of a proposition, from left to right."""
        for part in self.parts:
            yield from part.propositions()

    def __str__(self) -> str:
        return self._render(_TEXT)

    def latex(self, symbols: Mapping[str, str] | None = None) -> str:
        """LaTeX for math mode; `symbols` maps columns to letters, else names are written out."""
        known = symbols or {}

        def proposition(p: Proposition) -> str:
            return p.latex(known.get(p.column) or f"\\textit{{{escape_latex(p.column)}}}")

        return self._render(_Style(proposition, r"\neg ", r" \land ", r" \lor "))

    def words(self, phrases: Phrases | None = None) -> str:
        """The condition in plain English, to follow the word "when"."""
        return self._phrase(phrases or {}, nested=False)


@dataclass(frozen=True, slots=True)
class _Style:
    proposition: Callable[[Proposition], str]
    negation: str
    conjunction: str
    disjunction: str


_TEXT = _Style(str, "not ", " and ", " or ")


@dataclass(frozen=True, slots=True)
class Atom(Formula):
    """A proposition as a formula of size 1."""

    proposition: Proposition
    binding: ClassVar[int] = 3

    @property
    def size(self) -> int:
        return 1

    @property
    def parts(self) -> tuple[Formula, ...]:
        return ()

    def evaluate(self, table: Table) -> Truth:
        return self.proposition.evaluate(table)

    def canonical(self) -> Formula:
        return self

    def propositions(self) -> Iterator[Proposition]:
        yield self.proposition

    def _render(self, style: _Style) -> str:
        return style.proposition(self.proposition)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return self.proposition.words(phrases, is_true)


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """The negation of a formula."""

    part: Formula
    binding: ClassVar[int] = 2

    @property
    def size(self) -> int:
        return 1 + self.part.size

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.part,)

    def evaluate(self, table: Table) -> Truth:
        return ~self.part.evaluate(table)

    def canonical(self) -> Formula:
        return Not(self.part.canonical())

    def _render(self, style: _Style) -> str:
        return style.negation + _bracketed(self.part, self.binding, style)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return self.part._phrase(phrases, nested, not is_true)


@dataclass(frozen=True, slots=True)
class _Chain(Formula):
    """Two or more parts joined by one connective; nested chains of the same kind are flattened."""

    parts: tuple[Formula, ...]

    def __init__(self, *parts: Formula) -> None:
        flat = tuple(q for p in parts for q in (p.parts if type(p) is type(self) else (p,)))
        if len(flat) < 2:
            raise ValueError(f"{type(self).__name__} needs two parts or more, found {len(flat)}")
        object.__setattr__(self, "parts", flat)

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts) + len(self.parts) - 1

    def canonical(self) -> Formula:
        parts = (part.canonical() for part in self.parts)
        return type(self)(*sorted(parts, key=lambda part: (part.size, str(part))))

    def _joined(self, connective: str, style: _Style) -> str:
        return connective.join(_bracketed(part, self.binding + 1, style) for part in self.parts)

    def _listed(self, phrases: Phrases, quantifiers: tuple[str, str], last: str) -> str:
        """`both a and b`, `all of (a, b and c)`: a list that cannot be misread inside another."""
        said = [part._phrase(phrases, nested=True) for part in self.parts]
        if len(said) == 2:
            return f"{quantifiers[0]} {said[0]} {last} {said[1]}"
        return f"{quantifiers[1]} ({', '.join(said[:-1])} {last} {said[-1]})"


@dataclass(frozen=True, slots=True, init=False)
class And(_Chain):
    """True where every part is."""

    binding: ClassVar[int] = 1

    def evaluate(self, table: Table) -> Truth:
        return np.asarray(np.logical_and.reduce([part.evaluate(table) for part in self.parts]))

    def _render(self, style: _Style) -> str:
        return self._joined(style.conjunction, style)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if not is_true:
            return self._listed(phrases, ("not both", "not all of"), "and")
        if nested:
            return self._listed(phrases, ("both", "all of"), "and")
        return " and ".join(part._phrase(phrases, nested=True) for part in self.parts)


@dataclass(frozen=True, slots=True, init=False)
class Or(_Chain):
    """True where some part is."""

    binding: ClassVar[int] = 0

    def evaluate(self, table: Table) -> Truth:
        return np.asarray(np.logical_or.reduce([part.evaluate(table) for part in self.parts]))

    def _render(self, style: _Style) -> str:
        return self._joined(style.disjunction, style)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if not is_true:
            last = "nor" if len(self.parts) == 2 else "or"
            return self._listed(phrases, ("neither", "none of"), last)
        if nested:
            return self._listed(phrases, ("either", "at least one of"), "or")
        return " or ".join(part._phrase(phrases, nested=True) for part in self.parts)


def _bracketed(part: Formula, binding: int, style: _Style) -> str:
    text = part._render(style)
    return text if part.binding >= binding else f"({text})"
