"""A rule as a spreadsheet formula for Excel and LibreOffice, to be filled down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fsm_hpc.data.kinds.writer import Words, Writer
from fsm_hpc.errors import UserError
from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import one_line, predictions, write
from fsm_hpc.models.model import Model

FIRST_ROW = 2  # below the header
# Excel takes 255 signs between quotes, some of them for two; a pasted line holds no line break
_PIECES = re.compile(r"([^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,120})|(.)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,8}")  # turns into the same text again in every locale


def export(model: Model, header: Sequence[str] | None = None) -> str:
    """The position of each column, and below it the formula for the first row of data.

    With the header of a sheet, cells refer to its columns; else to a sheet of the used columns.
    """
    used = [source.name for source in model.sources]
    header = used if header is None else list(header)
    places = (f"{_letters(at)}: {one_line(n)}" for at, n in enumerate(header) if n in used)
    return "\t".join(places) + "\n" + export_excel(model, header)


def export_excel(model: Model, header: Sequence[str], row: int = FIRST_ROW) -> str:
    """Write a model as a formula such as `=IF(...,"yes","no")`.

    Parameters
    ----------
    model : Model
        A model of two or more classes.
    header : sequence of str
        The columns of the sheet in their order.
    row : int, default=2
        The row that the formula reads.

    Returns
    -------
    str
        The formula; its value is an empty text if a cell that the rule needs is empty.
    """
    writer = _Excel(header, row)
    answer, *classes = map(_literal, predictions(model))
    for rule, yes in zip(reversed(model.rules), reversed(classes), strict=True):
        answer = f"IF({write(model, rule.formula, writer)},{yes},{answer})"
    if not model.keeps_missing:
        missing = _any([writer.missing(source.name) for source in model.sources])
        answer = f'IF({missing},"",{answer})'
    return f"={answer}"


@dataclass(frozen=True, slots=True)
class _Excel(Writer[str]):
    language = "excel"
    header: Sequence[str]
    row: int

    def number(self, proposition: Proposition) -> str:
        cell = self.cell(proposition.column)
        # a text is above every number, and VALUE takes 1.5 for a date in some locales
        number = f'IF(ISNUMBER({cell}),{cell},NUMBERVALUE({cell},"."," "))'
        low, high = text.number(proposition.low), text.number(proposition.high)
        return self.compare(number, proposition, (low, high))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        low, high = literals
        if proposition.relation is Relation.WITHIN:
            return f"AND({cell}>={low},{cell}<={high})"
        return f"{cell}{proposition.relation.value}{low}"

    def text(self, value: str) -> str:
        return _literal(value)

    def missing(self, column: str) -> str:
        return f"ISBLANK({self.cell(column)})"

    def present(self, column: str, part: str) -> str:
        return f"IF({self.missing(column)},FALSE,{part})"

    def words(self, words: Words) -> str:
        cell = self.cell(words.column)
        shown = f"LOWER({cell})" if words.ignores_case else cell
        # a sheet shows 1.0 as 1
        texts = [w for w in words.spellings if w in words.texts or not w.endswith(".0")]
        condition = _any([f"EXACT({shown},{_literal(word)})" for word in texts])
        numbers = _numbers(words)
        if numbers:
            same = _any([f"{cell}={number}" for number in numbers])
            condition = f"IF(ISNUMBER({cell}),{same},{condition})"
        truth = _truth(words, cell)
        return condition if truth is None else f"IF(ISLOGICAL({cell}),{truth},{condition})"

    def negation(self, part: str) -> str:
        return f"NOT({part})"

    def conjunction(self, parts: Sequence[str]) -> str:
        return f"AND({','.join(parts)})"

    def disjunction(self, parts: Sequence[str]) -> str:
        return f"OR({','.join(parts)})"

    def exclusion(self, left: str, right: str) -> str:
        return f"XOR({left},{right})"

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"({'+'.join(f'IF({part},1,0)' for part in parts)}>={count})"

    def cell(self, column: str) -> str:
        if column not in self.header:
            shown = ", ".join(map(str, self.header[:20]))
            raise UserError(f"expected the column {column!r} in the sheet; its columns: {shown}")
        return f"{_letters(list(self.header).index(column))}{self.row}"


def _letters(at: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    return (_letters(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _any(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"OR({','.join(parts)})"


def _numbers(words: Words) -> list[str]:
    """The numbers for words such as 01 and 2.50, which a sheet may store as numbers."""
    taken = {float(word) for word in words.others if _NUMBER.fullmatch(word)}
    own = [word for word in words.texts if _NUMBER.fullmatch(word)]
    if all(map(_WHOLE.fullmatch, own)) or taken & set(map(float, own)):
        return []
    return [text.number(float(word)) for word in own]


def _truth(words: Words, cell: str) -> str | None:
    """The condition for a cell with a truth value, which sheets store for True and false."""
    if words.is_truth or "true" in map(str.lower, words.texts):
        return cell
    if "false" in map(str.lower, words.texts):
        return f"NOT({cell})"
    # LibreOffice would take it for the number 1 or 0
    return "FALSE" if {"true", "false"} & set(map(str.lower, words.others)) else None


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return str(value) if isinstance(value, int) else text.number(value)
    pieces = map(_piece, _PIECES.finditer(str(value)))
    return "&".join(pieces) or '""'


def _piece(match: re.Match[str]) -> str:
    printed, other = match.groups()
    if other is None:
        return '"' + printed.replace('"', '""') + '"'
    return f"{'CHAR' if ord(other) < 128 else 'UNICHAR'}({ord(other)})"
