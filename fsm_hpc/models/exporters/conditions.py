"""A formula over the columns of the file, and how languages write one down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np

from fsm_hpc.data.kinds import RawKind
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.connectives import AtLeast, Iff, Implies, Xor
from fsm_hpc.formulas.formula import And, Atom, Formula, Not, Or, Proposition, Relation
from fsm_hpc.models.model import Model, Rule
from fsm_hpc.models.source import Source, stored

T = TypeVar("T")
TRUE = ("true", "yes", "y", "t", "on", "1", "1.0")  # where the file's words are not known


@dataclass(frozen=True, slots=True)
class Words:
    """A cell says one of these: a category, or a Boolean column's words for true."""

    source: Source
    said: tuple[str, ...]  # as in the file; none where the column held truth values

    @property
    def column(self) -> str:
        return self.source.name

    @property
    def is_truth(self) -> bool:
        return self.source.kind is RawKind.BOOLEAN

    @property
    def ignores_case(self) -> bool:
        return not self.said

    @property
    def others(self) -> tuple[str, ...]:
        """What else the column says."""
        known = (*self.source.categories, *self.source.true_values, *self.source.false_values)
        return tuple(word for word in known if word not in self.said)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The words, and what becomes of them where 1 is stored as a number, yes as true."""
        more = [spelling for word in self.said for spelling in stored(word)]
        if self.is_truth:
            more += ["true", "1", "1.0"] if self.said else TRUE
        taken = {spelling for word in self.others for spelling in (word, *stored(word))}
        return tuple(dict.fromkeys((*self.said, *(word for word in more if word not in taken))))


class Writer(ABC, Generic[T]):
    """How a language writes the parts of a condition."""

    @abstractmethod
    def number(self, proposition: Proposition) -> T: ...

    @abstractmethod
    def words(self, words: Words) -> T: ...

    @abstractmethod
    def missing(self, column: str) -> T:
        """Whether the cell has no value."""

    def present(self, column: str, part: T) -> T:
        """A part about a cell that may have no value, false where it has none.

        It stays as it is where the language's own way to read such a cell makes it false.
        """
        return part

    @abstractmethod
    def negation(self, part: T) -> T: ...

    @abstractmethod
    def conjunction(self, parts: Sequence[T]) -> T: ...

    @abstractmethod
    def disjunction(self, parts: Sequence[T]) -> T: ...

    @abstractmethod
    def exclusion(self, left: T, right: T) -> T:
        """Exactly one of the two."""

    @abstractmethod
    def threshold(self, count: int, parts: Sequence[T]) -> T:
        """So many of the parts, or more."""

    def equivalence(self, left: T, right: T) -> T:
        return self.negation(self.exclusion(left, right))

    def implication(self, left: T, right: T) -> T:
        return self.disjunction([self.negation(left), right])

    def joined(self, formula: Formula, parts: Sequence[T]) -> T:
        """A formula whose parts are written already."""
        match formula:
            case Not():
                return self.negation(parts[0])
            case And():
                return self.conjunction(parts)
            case Or():
                return self.disjunction(parts)
            case Xor():
                return reduce(self.exclusion, parts)
            case Iff():
                return self.equivalence(*parts)
            case Implies():
                return self.implication(*parts)
            case AtLeast():
                return self.threshold(formula.count, parts)
        raise TypeError(f"{type(formula).__name__} is no connective that can be written")


class Infix(Writer[str]):
    """Connectives between parts; what opens with a bracket is in brackets as a whole."""

    not_, and_, or_ = "not ", " and ", " or "
    differs = " != "

    def negation(self, part: str) -> str:
        return self.not_ + (part if part.startswith("(") else f"({part})")

    def conjunction(self, parts: Sequence[str]) -> str:
        return f"({self.and_.join(parts)})"

    def disjunction(self, parts: Sequence[str]) -> str:
        return f"({self.or_.join(parts)})"

    def exclusion(self, left: str, right: str) -> str:
        return f"(({left}){self.differs}({right}))"

    def write(self, model: Model, rule: Rule) -> str:
        """The rule's condition, without brackets around all of it."""
        condition = write(model, rule.formula, self)
        return condition[1:-1] if condition.startswith("(") else condition


def write(model: Model, formula: Formula, writer: Writer[T]) -> T:
    """The condition that a formula over the columns of the model states."""
    words = dict(_words(model))
    numbers = {source.name for source in model.sources if source.kind is RawKind.NUMERIC}

    keeping = {source.name for source in model.sources if source.keeps_missing}
    known = {Relation.HOLDS: words.keys(), Relation.MISSING: keeping}

    def leaf(proposition: Proposition) -> T:
        name, relation = proposition.column, proposition.relation
        if name not in known.get(relation, numbers):
            raise UserError(f"{str(proposition)!r} is about no column that the model names")
        if relation is Relation.MISSING:
            return writer.missing(name)
        is_word = relation is Relation.HOLDS
        cell = words[name].column if is_word else name
        part = writer.words(words[name]) if is_word else writer.number(proposition)
        return writer.present(cell, part) if cell in keeping else part

    def written(formula: Formula) -> T:
        if isinstance(formula, Atom):
            return leaf(formula.proposition)
        return writer.joined(formula, [written(part) for part in formula.parts])

    return written(formula)


def plain(value: Any) -> Any:
    """A class as Python's own text, number or truth value."""
    return value.item() if isinstance(value, np.generic) else value


def one_line(text: str) -> str:
    return " ".join(text.split())


def _words(model: Model) -> Iterator[tuple[str, Words]]:
    """By the name that the formula knows it by, the words that a cell has to say."""
    for source in model.sources:
        if source.kind is RawKind.BOOLEAN:
            yield source.name, Words(source, source.true_values)
        elif source.kind is RawKind.CATEGORICAL:
            for name, category in zip(source.one_hot_names, source.categories, strict=True):
                yield name, Words(source, (category,))
