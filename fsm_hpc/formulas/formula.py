"""Boolean formulas over propositions: size, truth on a table, printing and parsing."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Protocol

from fsm_hpc.formulas.proposition import Phrases as Phrases
from fsm_hpc.formulas.proposition import Proposition as Proposition
from fsm_hpc.formulas.proposition import Relation as Relation
from fsm_hpc.formulas.proposition import Table as Table
from fsm_hpc.formulas.proposition import Truth as Truth
from fsm_hpc.formulas.proposition import missing_name as missing_name
from fsm_hpc.formulas.text import escape_latex


class Formula(ABC):
    """An immutable formula; `size` counts propositions and connectives."""

    __slots__ = ()
    binding: ClassVar[int] = -1  # the higher, the tighter: xor < or < and < not < proposition
    name: ClassVar[str] = ""  # of the connective, in grammars and answer set programs
    signs: ClassVar[tuple[str, str]] = ("", "")  # of the connective in text and in LaTeX
    commutes: ClassVar[bool] = False  # whether the order of its parts does not matter

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def parts(self) -> tuple[Formula, ...]: ...

    @abstractmethod
    def joined(self, truths: Sequence[Any]) -> Any:
        """Its truth from that of its parts: Booleans, or one array of them for each part."""

    @abstractmethod
    def over(self, parts: Sequence[Formula]) -> Formula:
        """The same connective over other parts."""

    @property
    def label(self) -> str:
        """The connective with its number, where it has one."""
        return self.name

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        """The formula in another language, from its translated parts."""
        raise TypeError(f"{type(self).__name__} is no connective that can be written")

    def evaluate(self, table: Table) -> Truth:
        """Its truth on every row of the table."""
        import numpy as np

        return np.asarray(self.joined([part.evaluate(table) for part in self.parts]))

    def renamed(self, names: Mapping[str, str]) -> Formula:
        """The same formula with renamed columns."""
        return self.over([part.renamed(names) for part in self.parts])

    @abstractmethod
    def canonical(self) -> Formula:
        """The same formula with the parts of commutative connectives in a fixed order."""

    @abstractmethod
    def _render(self, style: Style) -> str: ...

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

        return self._render(replace(_LATEX, proposition=proposition))

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def _repr_latex_(self) -> str:
        """The LaTeX text for notebooks."""
        return f"${self.latex()}$"

    def words(self, phrases: Phrases | None = None) -> str:
        """The condition in plain English, to follow the word "when"."""
        return self._phrase(phrases or {}, nested=False)

    def parts_in_words(self, phrases: Phrases) -> list[str]:
        """The condition in parts that can stand on lines of their own."""
        return [self.words(phrases)]


@dataclass(frozen=True, slots=True)
class Style:
    """How propositions and connectives are written."""

    proposition: Callable[[Proposition], str]
    is_latex: bool = False

    def sign(self, formula: Formula) -> str:
        return formula.signs[self.is_latex]


_TEXT = Style(str)
_LATEX = Style(str, is_latex=True)


class Writing(Protocol):
    """How another language writes connectives."""

    def negation(self, part: Any) -> Any: ...
    def conjunction(self, parts: Sequence[Any]) -> Any: ...
    def disjunction(self, parts: Sequence[Any]) -> Any: ...
    def exclusion(self, left: Any, right: Any) -> Any: ...
    def equivalence(self, left: Any, right: Any) -> Any: ...
    def implication(self, left: Any, right: Any) -> Any: ...
    def threshold(self, count: int, parts: Sequence[Any]) -> Any: ...


@dataclass(frozen=True, slots=True, repr=False)
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

    def joined(self, truths: Sequence[Any]) -> Any:
        raise TypeError("a proposition has no parts")

    def over(self, parts: Sequence[Formula]) -> Formula:
        return self

    def evaluate(self, table: Table) -> Truth:
        return self.proposition.evaluate(table)

    def renamed(self, names: Mapping[str, str]) -> Formula:
        return Atom(replace(self.proposition, column=names[self.proposition.column]))

    def canonical(self) -> Formula:
        return self

    def propositions(self) -> Iterator[Proposition]:
        yield self.proposition

    def _render(self, style: Style) -> str:
        return style.proposition(self.proposition)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return self.proposition.words(phrases, is_true)


@dataclass(frozen=True, slots=True, repr=False)
class Not(Formula):
    """The negation of a formula."""

    part: Formula
    binding: ClassVar[int] = 2
    name: ClassVar[str] = "not"
    signs: ClassVar[tuple[str, str]] = ("not ", r"\neg ")

    @property
    def size(self) -> int:
        return 1 + self.part.size

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.part,)

    def joined(self, truths: Sequence[Any]) -> Any:
        return truths[0] ^ True  # `~True` is a number in Python

    def over(self, parts: Sequence[Formula]) -> Formula:
        return Not(parts[0])

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.negation(parts[0])

    def canonical(self) -> Formula:
        return Not(self.part.canonical())

    def _render(self, style: Style) -> str:
        return style.sign(self) + bracketed(self.part, self.binding, style)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return self.part._phrase(phrases, nested, not is_true)


@dataclass(frozen=True, slots=True, repr=False)
class Chain(Formula):
    """Two or more parts joined by one connective; nested chains of the same kind are flattened."""

    parts: tuple[Formula, ...]
    commutes: ClassVar[bool] = True

    def __init__(self, *parts: Formula) -> None:
        flat = tuple(q for p in parts for q in (p.parts if type(p) is type(self) else (p,)))
        if len(flat) < 2:
            raise ValueError(f"{type(self).__name__} needs two parts or more, found {len(flat)}")
        object.__setattr__(self, "parts", flat)

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts) + len(self.parts) - 1

    def over(self, parts: Sequence[Formula]) -> Formula:
        return type(self)(*parts)

    def canonical(self) -> Formula:
        return type(self)(*in_order(part.canonical() for part in self.parts))

    def _render(self, style: Style) -> str:
        binding = _least_binding(self)
        return style.sign(self).join(bracketed(part, binding, style) for part in self.parts)

    def parts_in_words(self, phrases: Phrases) -> list[str]:
        """Each part in words, the second and later ones after the connective."""
        first, *others = (part._phrase(phrases, nested=True) for part in self.parts)
        return [first, *(f"{self.name} {other}" for other in others)]

    def _joined_in_words(self, phrases: Phrases, nested: bool) -> str:
        text = " ".join(self.parts_in_words(phrases))
        return f"({text})" if nested else text


@dataclass(frozen=True, slots=True, repr=False, init=False)
class And(Chain):
    """True where every part is."""

    binding: ClassVar[int] = 1
    name: ClassVar[str] = "and"
    signs: ClassVar[tuple[str, str]] = (" and ", r" \land ")

    def joined(self, truths: Sequence[Any]) -> Any:
        return reduce(operator.and_, truths)

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.conjunction(parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        return ("" if is_true else "not ") + self._joined_in_words(phrases, nested or not is_true)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Or(Chain):
    """True where some part is."""

    binding: ClassVar[int] = 0
    name: ClassVar[str] = "or"
    signs: ClassVar[tuple[str, str]] = (" or ", r" \lor ")

    def joined(self, truths: Sequence[Any]) -> Any:
        return reduce(operator.or_, truths)

    def write(self, writer: Writing, parts: Sequence[Any]) -> Any:
        return writer.disjunction(parts)

    def _phrase(self, phrases: Phrases, nested: bool, is_true: bool = True) -> str:
        if is_true:
            return self._joined_in_words(phrases, nested)
        return f"none of {in_list(self.parts, phrases)}"


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Formula):
    """Two parts, the left one and the right one; brackets around each that is a connective."""

    left: Formula
    right: Formula

    @property
    def size(self) -> int:
        return self.left.size + 1 + self.right.size

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.left, self.right)

    def over(self, parts: Sequence[Formula]) -> Formula:
        return type(self)(*parts)

    def canonical(self) -> Formula:
        parts = [part.canonical() for part in self.parts]
        return type(self)(*(in_order(parts) if self.commutes else parts))

    def _render(self, style: Style) -> str:
        return style.sign(self).join(bracketed(p, _least_binding(self), style) for p in self.parts)


def _least_binding(formula: Formula) -> int:
    """The least binding of parts without brackets; xor and or always have brackets."""
    return formula.binding + 1 if formula.binding >= Or.binding else Not.binding


def in_list(parts: Iterable[Formula], phrases: Phrases) -> str:
    """Parts in words, in brackets."""
    return f"({', '.join(part._phrase(phrases, nested=True) for part in parts)})"


def in_order(parts: Iterable[Formula]) -> list[Formula]:
    """Parts of a commutative connective in their printed order."""
    return sorted(parts, key=lambda part: (part.size, str(part)))


def bracketed(part: Formula, binding: int, style: Style) -> str:
    """The part's text, in brackets where it binds less than that."""
    text = part._render(style)
    return text if part.binding >= binding else f"({text})"
