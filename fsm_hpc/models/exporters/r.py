"""A rule as an R function of a data frame, without packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas.formula import Proposition
from fsm_hpc.formulas.text import number
from fsm_hpc.models.exporters.conditions import Infix, Words, helpers, one_line, plain
from fsm_hpc.models.model import Model

_SAFE_DIGITS = 15  # R may round a longer decimal fraction to a neighbouring double
_RULE = """\
# {words}
predict_rule <- function(data) {{
  cell <- function(column) {{
    if (!column %in% names(data)) stop("the rule needs the column ", sQuote(column))
    data[[column]]
  }}
  number <- function(column) {{
    value <- cell(column)
    if (is.logical(value) && !all(is.na(value))) stop("expected numbers in ", sQuote(column))
    found <- suppressWarnings(as.numeric(as.character(value)))
    if (is.numeric(value)) found <- as.numeric(value)
    bad <- !is.na(value) & !is.finite(found)
    if (any(bad)) stop("expected finite numbers in ", sQuote(column))
    found
  }}
  text <- function(column) {{
    value <- cell(column)
    if (is.logical(value)) tolower(as.character(value)) else as.character(value)
  }}
{helpers}  answer <- rep({otherwise}, length(cell({first})))
  done <- rep(FALSE, length(answer))
{rules}{missing}  answer
}}"""
_BRANCH = """\
  holds <- {condition}
  answer[!done & holds %in% TRUE] <- {answer}
  done <- done | holds %in% TRUE
"""
_MISSING = "  answer[{needed}] <- NA\n"


def export(model: Model) -> str:
    """`predict_rule(data)`: a class for each row of a data frame, NA where a value is missing."""
    writer = _R()
    rules = "".join(
        _BRANCH.format(condition=writer.write(model, rule), answer=_literal(plain(rule.prediction)))
        for rule in model.rules
    )
    needed = " | ".join(writer.missing(source.name) for source in model.sources)
    return _RULE.format(
        words=one_line(model.words),
        otherwise=_literal(plain(model.otherwise)),
        helpers=helpers(model, writer.language),
        first=_literal(model.sources[0].name),
        rules=rules,
        missing="" if model.keeps_missing else _MISSING.format(needed=needed),
    )


class _R(Infix):
    language = "r"
    not_, and_, or_ = "!", " & ", " | "
    between = "{cell} >= {low} & {cell} <= {high}"

    def cell(self, column: str) -> str:
        return _literal(column)

    def text(self, value: str) -> str:
        return _literal(value)

    def exclusion(self, left: str, right: str) -> str:
        return f"xor({left}, {right})"

    def negation(self, part: str) -> str:
        return f"(!({part}))"

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"({' + '.join(f'({part})' for part in parts)} >= {count})"

    def number_cell(self, column: str) -> str:
        return f"number({_literal(column)})"

    def number_literal(self, value: float) -> str:
        return _literal(float(value))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        return f"({super().compare(cell, proposition, literals)})"

    def missing(self, column: str) -> str:
        return f"is.na(cell({_literal(column)}))"

    def present(self, column: str, part: str) -> str:
        return f"(!{self.missing(column)} & ({part}))"  # NA and FALSE is FALSE

    def words(self, words: Words) -> str:
        cell = f"text({_literal(words.column)})"
        cell = f"tolower({cell})" if words.ignores_case else cell
        return f"({cell} %in% c({', '.join(map(_literal, words.spellings))}))"


def _literal(value: Any) -> str:
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
