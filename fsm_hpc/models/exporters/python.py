"""A rule as a Python function without imports."""

from __future__ import annotations

from collections.abc import Sequence

from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.formulas.text import number
from fsm_hpc.models.exporters.conditions import Infix, Words, helpers, one_line, plain
from fsm_hpc.models.model import Model

_RULE = """\
def predict(row):
    {words}
{branches}    return {no!r}
"""
_BRANCH = """\
    if {condition}:
        return {yes!r}
"""
_AS_NUMBER = """\
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number - number != 0 or str(value) in ("True", "False") or "_" in str(value):
        raise ValueError(f"column {column!r}: expected a finite number, found {value!r}")
    return number
"""
_NUMBER = f"""

def _number(row, column):
    value = _cell(row, column)
{_AS_NUMBER}"""
_TEXT = """

def _text(row, column):
    value = _cell(row, column)
    return value if isinstance(value, str) else str(value).lower()
"""
_NUMBER_OR_NONE = f"""

def _number(row, column):
    if _is_missing(row, column):
        return float("nan")  # with which no comparison holds
    value = row[column]
{_AS_NUMBER}"""
_TEXT_OR_NONE = """

def _text(row, column):
    if _is_missing(row, column):
        return None  # which equals no text
    value = row[column]
    return value if isinstance(value, str) else str(value).lower()
"""
_MISSING = """

def _is_missing(row, column):
    try:
        value = row[column]
    except (KeyError, IndexError):
        raise KeyError(f"the rule needs the column {column!r}") from None
    return value is None or value != value
"""
_CELL = """

def _cell(row, column):
    try:
        value = row[column]
    except (KeyError, IndexError):
        raise KeyError(f"the rule needs the column {column!r}") from None
    if value is None or value != value:
        raise ValueError(f"column {column!r}: expected a value, found none")
    return value
"""


def export(model: Model) -> str:
    """`predict(row)` with what it calls; a row is a mapping from columns to values."""
    condition = "".join(
        _BRANCH.format(condition=_Python().write(model, rule), yes=plain(rule.prediction))
        for rule in model.rules
    )
    no = plain(model.otherwise)
    rule = _RULE.format(words=_docstring(model.words), branches=condition, no=no)
    parts = (_NUMBER, _TEXT, _CELL)
    if model.keeps_missing:
        parts = (_NUMBER_OR_NONE, _TEXT_OR_NONE, _MISSING)
    called = parts[0] * ("_number(" in condition) + parts[1] * ("_text(" in condition) + parts[2]
    return (rule + helpers(model, _Python.language) + called).rstrip("\n")


class _Python(Infix):
    language = "python"

    def cell(self, column: str) -> str:
        return repr(column)

    def text(self, value: str) -> str:
        return repr(value)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"(sum([{', '.join(parts)}]) >= {count})"

    def number(self, proposition: Proposition) -> str:
        cell = f"_number(row, {proposition.column!r})"
        return self.compare(cell, proposition, (number(proposition.low), number(proposition.high)))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        low, high = literals
        if proposition.relation is Relation.WITHIN:
            return f"{low} <= {cell} <= {high}"
        return f"{cell} {proposition.relation.value} {low}"

    def missing(self, column: str) -> str:
        return f"_is_missing(row, {column!r})"

    def words(self, words: Words) -> str:
        cell = f"_text(row, {words.column!r})"
        cell = f"str({cell}).lower()" if words.ignores_case else cell
        if len(words.spellings) == 1:
            return f"{cell} == {words.spellings[0]!r}"
        return f"{cell} in {words.spellings!r}"


def _docstring(text: str) -> str:
    text = one_line(text)
    is_plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"""{text}"""' if is_plain else repr(text)
