"""A rule as one SQL expression, for SQLite, DuckDB and other databases."""

from __future__ import annotations

from typing import Any

from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import Infix, Words, plain
from fsm_hpc.models.model import Model

_SAFE_DIGITS = 15  # databases keep that many in a decimal fraction on its way to a double

_TRUTHS = {True: "1 = 1", False: "1 = 0"}  # SQLite takes TRUE for a column that is called so


def export(model: Model) -> str:
    """`CASE WHEN ... THEN 'yes' ELSE 'no' END`."""
    no, yes = _classes(*map(plain, model.classes))
    return f"CASE WHEN {_Sql().write(model)} THEN {yes} ELSE {no} END"


class _Sql(Infix):
    not_, and_, or_ = "NOT ", " AND ", " OR "

    def number(self, proposition: Proposition) -> str:
        # a column that came out of a CSV may hold text, which SQLite would compare as text
        column = f"CAST({_name(proposition.column)} AS DOUBLE PRECISION)"
        low, high = _number(proposition.low), _number(proposition.high)
        if proposition.relation is Relation.WITHIN:
            return f"{column} BETWEEN {low} AND {high}"
        return f"{column} {proposition.relation.value} {low}"

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


def _classes(no: Any, yes: Any) -> tuple[str, str]:
    """Both as numbers, both as truth values, or else both as text: a CASE has one type."""
    kinds = {type(no), type(yes)}
    if kinds == {bool}:
        return _TRUTHS[no], _TRUTHS[yes]
    if kinds <= {int, float}:
        return _class_number(no), _class_number(yes)
    return _text(no), _text(yes)


def _class_number(value: float) -> str:
    return str(value) if isinstance(value, int) else _number(value)
