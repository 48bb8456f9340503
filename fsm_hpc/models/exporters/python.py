"""A rule as a Python function without imports."""

from __future__ import annotations

from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.formulas.text import number
from fsm_hpc.models.exporters.conditions import Infix, Words, one_line, plain
from fsm_hpc.models.model import Model

_RULE = """\
def predict(row):
    {words}
    if {condition}:
        return {yes!r}
    return {no!r}
"""
_NUMBER = """

def _number(row, column):
    value = _cell(row, column)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"column {column!r}: expected a number, found {value!r}") from None
"""
_TEXT = """

def _text(row, column):
    value = _cell(row, column)
    return value.strip() if isinstance(value, str) else str(value).lower()
"""
_CELL = """

def _cell(row, column):
    try:
        value = row[column]
    except (KeyError, IndexError):
        raise KeyError(f"the rule needs the column {column!r}") from None
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        raise ValueError(f"column {column!r}: expected a value, found none")
    return value
"""


def export(model: Model) -> str:
    """`predict(row)` with what it calls; a row is a mapping from columns to values."""
    no, yes = map(plain, model.classes)
    condition = _Python().write(model)
    rule = _RULE.format(words=_docstring(model.words), condition=condition, yes=yes, no=no)
    helpers = _NUMBER * ("_number(" in condition) + _TEXT * ("_text(" in condition) + _CELL
    return (rule + helpers).rstrip("\n")


class _Python(Infix):
    def number(self, proposition: Proposition) -> str:
        cell = f"_number(row, {proposition.column!r})"
        low, high = number(proposition.low), number(proposition.high)
        if proposition.relation is Relation.WITHIN:
            return f"{low} <= {cell} <= {high}"
        return f"{cell} {proposition.relation.value} {low}"

    def words(self, words: Words) -> str:
        cell = f"_text(row, {words.column!r})" + ".lower()" * words.ignores_case
        if len(words.spellings) == 1:
            return f"{cell} == {words.spellings[0]!r}"
        return f"{cell} in {words.spellings!r}"


def _docstring(text: str) -> str:
    text = one_line(text)
    is_plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"""{text}"""' if is_plain else repr(text)
