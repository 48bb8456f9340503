"""A rule as a Python function without imports."""

from __future__ import annotations

from collections.abc import Sequence

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
_NUMBER = """

def _number(row, column):
    value = _cell(row, column)
    if value is None:
        return float("nan")  # with which no comparison holds
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number - number != 0 or str(value) in ("True", "False") or "_" in str(value):
        raise ValueError(f"column {column!r}: expected a finite number, found {value!r}")
    return number
"""
_TEXT = """

def _text(row, column):
    value = _cell(row, column)
    return value if value is None or isinstance(value, str) else str(value).lower()
"""
_CELL = """

def _cell(row, column):
    try:
        value = row[column]
    except (KeyError, IndexError):
        raise KeyError(f"the rule needs the column {{column!r}}") from None
    if value is None or value != value:
        {missing}
    return value
"""
_REFUSED = 'raise ValueError(f"column {column!r}: expected a value, found none")'


def export(model: Model) -> str:
    """`predict(row)` with what it calls; a row is a mapping from columns to values."""
    condition = "".join(
        _BRANCH.format(condition=_Python().write(model, rule), yes=plain(rule.prediction))
        for rule in model.rules
    )
    no = plain(model.otherwise)
    rule = _RULE.format(words=_docstring(model.words), branches=condition, no=no)
    called = _NUMBER * ("_number(" in condition) + _TEXT * ("_text(" in condition)
    cell = _CELL.format(missing="return None" if model.keeps_missing else _REFUSED)
    return (rule + helpers(model, _Python.language) + called + cell).rstrip("\n")


class _Python(Infix):
    language = "python"

    def cell(self, column: str) -> str:
        return repr(column)

    def text(self, value: str) -> str:
        return repr(value)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"(sum([{', '.join(parts)}]) >= {count})"

    def number_cell(self, column: str) -> str:
        return f"_number(row, {column!r})"

    def number_literal(self, value: float) -> str:
        return number(value)

    def missing(self, column: str) -> str:
        return f"_cell(row, {column!r}) is None"

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
