"""A rule as an R function of a data frame, without packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.formulas.text import number
from fsm_hpc.models.exporters.functions import FunctionWriter
from fsm_hpc.models.model import Model

_SAFE_DIGITS = 15  # R may round a longer decimal fraction to a neighbouring double


def export(model: Model) -> str:
    """`predict_rule(data)`: a class for each row of a data frame, NA where a value is missing."""
    return _R().code(model)


class _R(FunctionWriter):
    language = "r"
    not_, and_, or_ = "!", " & ", " | "
    between = "{cell} >= {low} & {cell} <= {high}"
    lower, equal, among = "tolower({0})", "({0} %in% c({1}))", "({0} %in% {1})"
    is_missing = "is.na({0})"

    def literal(self, value: Any) -> str:
        return _literal(value)

    def number_literal(self, value: float) -> str:
        return _literal(float(value))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        return f"({super().compare(cell, proposition, literals)})"

    def present(self, column: str, part: str) -> str:
        return f"(!{self.missing(column)} & ({part}))"  # NA and FALSE is FALSE

    def negation(self, part: str) -> str:
        return f"(!({part}))"

    def exclusion(self, left: str, right: str) -> str:
        return f"xor({left}, {right})"

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"({' + '.join(f'({part})' for part in parts)} >= {count})"


def _literal(value: Any) -> str:
    if isinstance(value, tuple):
        return f"c({', '.join(map(_literal, value))})"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        written = number(value)
        return written if len(written) <= _SAFE_DIGITS else f"({value.hex()})"
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    return sign if " " <= sign <= "~" else f"\\U{ord(sign):08x}"
