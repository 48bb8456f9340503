"""A formula over the columns of the file, and how languages write one down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from fsm_hpc.data.kinds import KINDS
from fsm_hpc.data.kinds.base import Words as Words
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Formula, Proposition, Relation
from fsm_hpc.models.model import Model, Rule

T = TypeVar("T")


class Writer(ABC, Generic[T]):
    """How a language writes the parts of a condition."""

    language = ""  # that kinds of columns may know

    @abstractmethod
    def number(self, proposition: Proposition) -> T: ...

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> T:
        """A cell, as an expression, against one or two literals."""
        raise UserError(f"{proposition} cannot be written in this format; choose another one")

    def cell(self, column: str) -> str:
        """The cell of a column, as kinds refer to it."""
        return column

    def text(self, value: str) -> str:
        """A literal of text."""
        return value

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
        made: T = formula.write(self, parts)
        return made


class Infix(Writer[str]):
    """Connectives between parts; what opens with a bracket is in brackets as a whole."""

    not_, and_, or_ = "not ", " and ", " or "
    differs = " != "
    between = "{low} <= {cell} <= {high}"

    @abstractmethod
    def number_cell(self, column: str) -> str:
        """The number in a cell."""

    @abstractmethod
    def number_literal(self, value: float) -> str: ...

    def number(self, proposition: Proposition) -> str:
        low, high = map(self.number_literal, (proposition.low, proposition.high))
        return self.compare(self.number_cell(proposition.column), proposition, (low, high))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        low, high = literals
        if proposition.relation is Relation.WITHIN:
            return self.between.format(cell=cell, low=low, high=high)
        return f"{cell} {proposition.relation.value} {low}"

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

    def leaf(proposition: Proposition) -> T:
        schema = next((s for s in model.sources if s.has(proposition)), None)
        if schema is None:
            raise UserError(f"{str(proposition)!r} is about no column that the model names")
        if proposition.relation is Relation.MISSING:
            return writer.missing(schema.name)
        part = schema.condition(proposition, writer)
        return writer.present(schema.name, part) if schema.keeps_missing else part

    def written(formula: Formula) -> T:
        if isinstance(formula, Atom):
            return leaf(formula.proposition)
        return writer.joined(formula, [written(part) for part in formula.parts])

    return written(formula)


def helpers(model: Model, language: str) -> str:
    """What exported code calls to read columns of kinds that the language does not know."""
    known = {KINDS[schema.kind].helpers(language) for schema in model.sources}
    return "".join(sorted(known))


def plain(value: Any) -> Any:
    """A class as Python's own text, number or truth value."""
    return value.item() if isinstance(value, np.generic) else value


def one_line(text: str) -> str:
    return " ".join(text.split())
