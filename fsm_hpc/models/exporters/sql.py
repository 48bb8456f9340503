"""A rule as one SQL expression, for SQLite, DuckDB and other databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import Infix, Words, plain
from fsm_hpc.models.model import Model
from fsm_hpc.models.several import Several

_SAFE_DIGITS = 15  # databases keep that many in a decimal fraction on its way to a double

_TRUTHS = {True: "1 = 1", False: "1 = 0"}  # SQLite takes TRUE for a column that is called so


def export(model: Model | Several) -> str:
    """`CASE WHEN ... THEN 'yes' ELSE 'no' END`."""
    said = [plain(answer) for answer, _ in model.branches]
    no, *yes = _classes(plain(model.otherwise), *said)
    when = (
        f"WHEN {_Sql().write(rule)} THEN {answer}"
        for answer, (_, rule) in zip(yes, model.branches, strict=True)
    )
    return f"CASE {' '.join(when)} ELSE {no} END"


class _Sql(Infix):
    not_, and_, or_ = "NOT ", " AND ", " OR "
    differs = " <> "

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        counted = " + ".join(f"CASE WHEN {part} THEN 1 ELSE 0 END" for part in parts)
        return f"({counted} >= {count})"

    def number(self, proposition: Proposition) -> str:
        # a column that came out of a CSV may hold text, which SQLite would compare as text
        column = f"CAST({_name(proposition.column)} AS DOUBLE PRECISION)"
        low, high = _number(proposition.low), _number(proposition.high)
        if proposition.relation is Relation.WITHIN:
            return f"{column} BETWEEN {low} AND {high}"
        return f"{column} {proposition.relation.value} {low}"

    def missing(self, column: str) -> str:
        return f"{_name(column)} IS NULL"

    def present(self, column: str, part: str) -> str:
        # NULL makes a comparison neither true nor false, and so its negation
        return f"({_name(column)} IS NOT NULL AND {part})"

    def words(self, words: Words) -> str:
        column, spellings = _name(words.column), words.spellings
        if spellings != words.said:
            column = f"CAST({column} AS VARCHAR)"
        if words.ignores_case:
            column = f"LOWER({column})"
        if len(spellings) == 1:
            return f"{column} = {_text(spellings[0])}"
        return f"{column} IN ({', '.join(map(_text, spellings))})"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _number(value: float) -> str:
    written = text.number(value)
    is_decimal = "." in written and "e" not in written
    return written + "e0" * (is_decimal and len(written) > _SAFE_DIGITS)


def _classes(*classes: Any) -> list[str]:
    """All as numbers, all as truth values, or else all as text: a CASE has one type."""
    kinds = set(map(type, classes))
    if kinds == {bool}:
        return [_TRUTHS[one] for one in classes]
    if kinds <= {int, float}:
        return [_class_number(one) for one in classes]
    return [_text(one) for one in classes]


def _class_number(value: float) -> str:
    return str(value) if isinstance(value, int) else _number(value)
