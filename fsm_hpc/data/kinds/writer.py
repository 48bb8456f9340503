"""The interface of a language that conditions are exported to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.texts import TRUE, stored
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.proposition import Proposition

if TYPE_CHECKING:
    from fsm_hpc.data.kinds.base import ColumnSchema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Words:
    """Texts that a cell is compared with: a category, or words of a Boolean column for true."""

    source: ColumnSchema
    texts: tuple[str, ...]  # as in the file; none if the column has truth values

    @property
    def column(self) -> str:
        return self.source.name

    @property
    def is_truth(self) -> bool:
        return self.source.kind is KindName.BOOLEAN

    @property
    def ignores_case(self) -> bool:
        return not self.texts

    @property
    def others(self) -> tuple[str, ...]:
        """The other texts of the column."""
        known = (*self.source.categories, *self.source.true_values, *self.source.false_values)
        return tuple(word for word in known if word not in self.texts)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The words, and how other sources store them: 1 as a number, yes as true."""
        stored_words = [spelling for word in self.texts for spelling in stored(word)]
        if self.is_truth:
            stored_words += ["true", "1", "1.0"] if self.texts else TRUE
        taken = {spelling for word in self.others for spelling in (word, *stored(word))}
        unique = (word for word in stored_words if word not in taken)
        return tuple(dict.fromkeys((*self.texts, *unique)))

    @property
    def in_each_case(self) -> tuple[str, ...]:
        """The spellings for a language that cannot ignore case: true, True and TRUE."""
        if not self.ignores_case:
            return self.spellings
        cases = (str.lower, str.capitalize, str.upper)
        return tuple(dict.fromkeys(case(word) for word in self.spellings for case in cases))


class Writer(ABC, Generic[T]):
    """How a language writes the parts of a condition."""

    language = ""  # the name that column kinds know

    @abstractmethod
    def number(self, proposition: Proposition) -> T:
        """A comparison of a number."""

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> T:
        """A comparison of an expression with one or two literals of the language."""
        raise UserError(f"{proposition} cannot be written in this format; choose another one")

    def cell(self, column: str) -> str:
        """The expression of a cell, as column kinds use it."""
        return column

    def text(self, value: str) -> str:
        """A text literal."""
        return value

    @abstractmethod
    def words(self, words: Words) -> T:
        """A test for texts."""

    @abstractmethod
    def missing(self, column: str) -> T:
        """A test for a missing value."""

    def present(self, column: str, part: T) -> T:
        """A part that is false if the cell has no value.

        The part stays as it is in languages whose comparisons with missing values are false.
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
        """At least so many of the parts."""

    def equivalence(self, left: T, right: T) -> T:
        return self.negation(self.exclusion(left, right))

    def implication(self, left: T, right: T) -> T:
        return self.disjunction([self.negation(left), right])
