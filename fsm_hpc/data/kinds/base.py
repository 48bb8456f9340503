"""The interface of a column kind, and the schema of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fsm_hpc.data.columns import Column, Kind, missing_indicator
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.writer import T, Words, Writer
from fsm_hpc.data.raw import RawColumn
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.formula import missing_name
from fsm_hpc.formulas.proposition import Phrases, Proposition, Relation
from fsm_hpc.system.numbers import counted

SHOWN = 3  # values in a message


class ColumnKind(ABC):
    """One kind of column: inference, parsing, propositions, words and exported code."""

    name: ClassVar[KindName]

    @abstractmethod
    def fits(self, column: RawColumn) -> bool:
        """Whether the values are of this kind; raise an error for values of no kind."""

    @abstractmethod
    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        """The schema of a column of the fitted table; raise an error for an invalid value."""

    @abstractmethod
    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        """The columns of the one-hot table; `reading` collects invalid cells."""

    def categories_of(self, schema: ColumnSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The name, words and texts of each Boolean column, which holds for these texts."""
        yield from ()

    def condition(self, schema: ColumnSchema, proposition: Proposition, writer: Writer[T]) -> T:
        """The proposition in another language."""
        known = {name: cells for name, _, cells in self.categories_of(schema)}
        return writer.words(Words(schema, known[proposition.column]))

    def helpers(self, language: str) -> str:
        """Functions that conditions of this kind call in a language."""
        return ""

    def doubts(self, column: RawColumn, columns: Sequence[Column]) -> Iterator[str]:
        """Reasons to check the inferred kind."""
        yield from ()


KINDS: dict[KindName, ColumnKind] = {}  # filled by `fsm_hpc.data.kinds`


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of the fitted table: its name, its kind, and its texts for that kind."""

    name: str
    kind: KindName
    categories: tuple[str, ...] = ()
    true_values: tuple[str, ...] = ()  # texts for true and for false in the file
    false_values: tuple[str, ...] = ()
    place: int | None = None  # its position in the array or DataFrame that it was fitted on
    keeps_missing: bool = False  # whether missing values are allowed: no comparison holds

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        """The names of its columns in formulas."""
        names = tuple(name for name, _, _ in KINDS[self.kind].categories_of(self))
        return names or (self.name,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a formula about it may contain."""
        return (*self.one_hot_names, self.name) if self.keeps_missing else self.one_hot_names

    @property
    def phrases(self) -> Phrases:
        """The words for its Boolean columns."""
        categories = KINDS[self.kind].categories_of(self)
        phrases = {name: (self.name, words) for name, words, _ in categories}
        if self.keeps_missing:
            phrases[missing_name(self.name)] = (self.name, "missing")
        return phrases

    def columns(self, column: RawColumn, reading: Reading) -> list[Column]:
        """The columns of the one-hot table, with a missing indicator if missing values are kept."""
        columns, missing = KINDS[self.kind].columns(self, column, reading), column.missing
        if not self.keeps_missing:
            reading.note_missing(self.name, missing)
            return columns
        if missing.any():
            columns = [_with_missing(own, missing) for own in columns]
        return [*columns, missing_indicator(self.name, missing)]

    def has(self, proposition: Proposition) -> bool:
        """Whether the proposition is about this column."""
        if proposition.relation is Relation.MISSING:
            return self.keeps_missing and proposition.column == self.name
        is_boolean = any(KINDS[self.kind].categories_of(self))
        is_fitting = is_boolean == (proposition.relation is Relation.HOLDS)
        return is_fitting and proposition.column in self.one_hot_names

    def condition(self, proposition: Proposition, writer: Writer[T]) -> T:
        """The proposition in another language."""
        return KINDS[self.kind].condition(self, proposition, writer)


def _with_missing(column: Column, missing: NDArray[np.bool_]) -> Column:
    if column.kind is Kind.BOOLEAN:
        return replace(column, values=column.values & ~missing)
    return replace(column, values=np.where(missing, np.nan, column.values.astype(np.float64)))


@dataclass(slots=True)
class Reading:
    """Notes and problems of reading the columns of a table."""

    rows: int
    missing: NDArray[np.bool_] = field(init=False)  # rows that lack a required value
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.missing = np.zeros(self.rows, dtype=bool)

    def note_missing(self, name: str, where: NDArray[np.bool_]) -> None:
        if where.any():
            self.missing |= where
            self.notes.append(f"column {name!r}: no value in {counted(int(where.sum()), 'row')}")

    def note_bad(self, name: str, expected: str, values: Sequence[Any]) -> None:
        if len(values):
            self.problems.append(f"column {name!r}: expected {expected}, found {_shown(values)}")

    def note_unknown(self, name: str, values: Sequence[str], meaning: str) -> None:
        if values:
            self.notes.append(
                f"column {name!r}: {_shown(values)} did not occur in the fitted rows and "
                f"counts as {meaning}"
            )


def _shown(values: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, values[:SHOWN]))
    return shown + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
