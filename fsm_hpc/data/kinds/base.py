"""What a column kind has to provide, and a column as a rule knows it."""

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
    """One kind of column: how it is recognized, read, put into propositions, said and exported."""

    name: ClassVar[KindName]

    @abstractmethod
    def fits(self, column: RawColumn) -> bool:
        """Whether the values speak for this kind; values that speak for none are refused."""

    @abstractmethod
    def schema(self, column: RawColumn, spec: DatasetSpec) -> ColumnSchema:
        """The column as it is in the fitted table; a value that it cannot have is refused."""

    @abstractmethod
    def columns(self, schema: ColumnSchema, column: RawColumn, reading: Reading) -> list[Column]:
        """What a solver sees of these cells; those that cannot be read are noted."""

    def categories_of(self, schema: ColumnSchema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Of each Boolean column: its name, how it is said, and the cells on which it holds."""
        yield from ()

    def condition(self, schema: ColumnSchema, proposition: Proposition, writer: Writer[T]) -> T:
        """The proposition in another language."""
        said = {name: cells for name, _, cells in self.categories_of(schema)}
        return writer.words(Words(schema, said[proposition.column]))

    def helpers(self, language: str) -> str:
        """Code that conditions of this kind call in a language."""
        return ""

    def facts(self, columns: Sequence[Column]) -> dict[str, Any]:
        """A summary of the values for `datasets show`."""
        counts = {str(c.category): int(c.values.sum()) for c in columns if c.category is not None}
        return {"distinct": len(counts), "categories": counts}

    def doubts(self, column: RawColumn, columns: Sequence[Column]) -> Iterator[str]:
        """What a user should check before trusting the kind that was inferred."""
        yield from ()


KINDS: dict[KindName, ColumnKind] = {}  # filled by `fsm_hpc.data.kinds`


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of the fitted table: its name, its kind, and how that kind is written in it."""

    name: str
    kind: KindName
    categories: tuple[str, ...] = ()
    true_values: tuple[str, ...] = ()  # how the file says true, and false
    false_values: tuple[str, ...] = ()
    place: int | None = None  # in the array or DataFrame that it was fitted on
    keeps_missing: bool = False  # whether a missing value says something: no comparison holds

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        """What formulas call it, or its categories."""
        names = tuple(name for name, _, _ in KINDS[self.kind].categories_of(self))
        return names or (self.name,)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that a formula about it may name."""
        return (*self.one_hot_names, self.name) if self.keeps_missing else self.one_hot_names

    @property
    def phrases(self) -> Phrases:
        """How its Boolean columns are said in words."""
        said = {name: (self.name, text) for name, text, _ in KINDS[self.kind].categories_of(self)}
        if self.keeps_missing:
            said[missing_name(self.name)] = (self.name, "missing")
        return said

    def columns(self, column: RawColumn, reading: Reading) -> list[Column]:
        """What a solver sees of these cells, as of those that the schema was made of."""
        kind = KINDS[self.kind]
        if not self.keeps_missing:
            return kind.columns(self, column, reading)
        own = Reading(reading.rows)
        made = kind.columns(self, column, own)
        reading.notes += own.unknowns
        reading.problems += own.problems
        if own.missing.any():
            made = [_with_missing(one, own.missing) for one in made]
        return [*made, missing_indicator(self.name, own.missing)]

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
    """What was noticed while the columns of a table were read, each problem once, by name."""

    rows: int
    missing: NDArray[np.bool_] = field(init=False)  # rows without a value where one is needed
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unknowns: list[str] = field(default_factory=list)  # the notes that are of new categories

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
            self.unknowns.append(
                f"column {name!r}: {_shown(values)} was not there when the rule was fitted, and "
                f"counts as {meaning}"
            )
            self.notes.append(self.unknowns[-1])


def _shown(values: Sequence[Any]) -> str:
    said = ", ".join(repr(value) for value in values[:SHOWN])
    return said + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
