"""Conditions of a rule over the columns of the file, in languages with infix operators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.data.kinds.writer import T, Writer
from fsm_hpc.errors import UserError
from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Atom, Formula, Proposition, Relation
from fsm_hpc.models.model import Model, Rule


class Infix(Writer[str]):
    """Connectives between parts; a condition that starts with a bracket is bracketed as a whole."""

    not_, and_, or_ = "not ", " and ", " or "
    differs = " != "
    between = "{low} <= {cell} <= {high}"

    @abstractmethod
    def literal(self, value: Any) -> str:
        """A text, number, truth value, or tuple of texts."""

    @abstractmethod
    def number_cell(self, column: str) -> str:
        """The number in a cell."""

    def number_literal(self, value: float) -> str:
        return text.number(value)

    def text(self, value: str) -> str:
        return self.literal(value)

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
    """The condition of a formula over the columns of the model."""
    if not isinstance(formula, Atom):
        parts = [write(model, part, writer) for part in formula.parts]
        condition: T = formula.write(writer, parts)
        return condition
    proposition = formula.proposition
    schema = next((s for s in model.sources if s.has(proposition)), None)
    if schema is None:
        raise UserError(f"{str(proposition)!r} is about no column that the model names")
    if proposition.relation is Relation.MISSING:
        return writer.missing(schema.name)
    part = schema.condition(proposition, writer)
    return writer.present(schema.name, part) if schema.keeps_missing else part


def is_number(schema: ColumnSchema) -> bool:
    """Whether scoring engines get numbers for the column; dates are days since 1970-01-01."""
    return schema.kind in (KindName.NUMERIC, KindName.DATE)


def predictions(model: Model) -> list[Any]:
    """The class where no rule holds, then those of the rules, as types of Python."""
    return [plain(model.otherwise), *(plain(rule.prediction) for rule in model.rules)]


def common_type(classes: Sequence[Any]) -> type:
    """The type of all classes: bool, int, float (also of int and float), or else str."""
    kinds = set(map(type, classes))
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else str


def plain(value: Any) -> Any:
    """A class as Python's own text, number or truth value."""
    return value.item() if isinstance(value, np.generic) else value


def one_line(text: str) -> str:
    return " ".join(text.split())
