"""A rule as one SQL expression, in the dialect of a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.data.kinds.writer import Words
from fsm_hpc.models.exporters.conditions import Infix, common_type, predictions
from fsm_hpc.models.exporters.dialects import DEFAULT, Dialect, dialect_called
from fsm_hpc.models.model import Model, Rule

_TRUTHS = {True: "1 = 1", False: "1 = 0"}  # SQLite takes TRUE for a column of that name


def export(model: Model, dialect: str = DEFAULT) -> str:
    """`CASE WHEN ... THEN 'yes' ELSE 'no' END`; NULL where a value that it needs is missing."""
    no, *yes = answers(model, dialect)
    when = [
        f"WHEN {condition(model, rule, dialect)} THEN {answer}"
        for answer, rule in zip(yes, model.rules, strict=True)
    ]
    if needed := missing(model, dialect):
        when.insert(0, f"WHEN {' OR '.join(needed)} THEN NULL")
    return f"CASE {' '.join(when)} ELSE {no} END"


def condition(model: Model, rule: Rule, dialect: str = DEFAULT) -> str:
    """The condition of a rule."""
    return _Sql(dialect_called(dialect)).write(model, rule)


def missing(model: Model, dialect: str = DEFAULT) -> list[str]:
    """Conditions under which the rule has no answer: a column that it needs is NULL."""
    writer = _Sql(dialect_called(dialect))
    return [] if model.keeps_missing else [writer.missing(s.name) for s in model.sources]


def answers(model: Model, dialect: str = DEFAULT) -> list[str]:
    """The class where no condition holds, then those of the rules.

    All are numbers, all truth values, or else all text: a CASE has one type.
    """
    known, classes = dialect_called(dialect), predictions(model)
    kind = common_type(classes)
    if kind is bool:
        return [_TRUTHS[value] for value in classes]
    if kind in (int, float):
        return [str(v) if isinstance(v, int) else known.number(v) for v in classes]
    return [known.text(str(value)) for value in classes]


class _Sql(Infix):
    language = "sql"
    not_, and_, or_ = "NOT ", " AND ", " OR "
    differs = " <> "
    between = "{cell} BETWEEN {low} AND {high}"

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        counted = " + ".join(f"CASE WHEN {part} THEN 1 ELSE 0 END" for part in parts)
        return f"({counted} >= {count})"

    def literal(self, value: Any) -> str:
        return self.dialect.text(value)

    def number_cell(self, column: str) -> str:
        return self.dialect.double(column)

    def number_literal(self, value: float) -> str:
        return self.dialect.number(value)

    def cell(self, column: str) -> str:
        return self.dialect.cell_text(column)

    def missing(self, column: str) -> str:
        return f"{self.dialect.column(column)} IS NULL"

    def present(self, column: str, part: str) -> str:
        # a comparison with NULL is neither true nor false, and so is its negation
        return f"({self.dialect.column(column)} IS NOT NULL AND {part})"

    def words(self, words: Words) -> str:
        spellings, dialect = words.spellings, self.dialect
        is_text = spellings == words.texts  # no other type can stand for these
        cell = (dialect.text_column if is_text else dialect.cell_text)(words.column)
        cell = dialect.exact(f"LOWER({cell})" if words.ignores_case else cell)
        if len(spellings) == 1:
            return f"{cell} = {dialect.word(spellings[0])}"
        return f"{cell} IN ({', '.join(map(dialect.word, spellings))})"
