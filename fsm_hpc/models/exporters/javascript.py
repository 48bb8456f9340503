"""A rule as a JavaScript function without dependencies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import Infix, Words, helpers, one_line, plain
from fsm_hpc.models.model import Model

_RULE = """\
// {words}
function predict(row) {{
  return {condition} : {no};
"""
_NUMBER = r"""
  function number(column) {
    const value = cell(column);
    const isNumber = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value);
    const found = isNumber ? Number(value) : NaN;
    if (!Number.isFinite(found)) {
      throw new Error(`column "${column}": expected a finite number, found "${value}"`);
    }
    return found;
  }
"""
_TEXT = """
  function text(column) {
    return String(cell(column));
  }
"""
_MISSING = """
  function missing(column) {
    if (!Object.prototype.hasOwnProperty.call(row, column)) {
      throw new Error(`the rule needs the column "${column}"`);
    }
    const value = row[column];
    return value === null || value === undefined || value !== value;
  }

  function cell(column) {
    return missing(column) ? NaN : row[column];
  }
}
"""
_NUMBER_OR_NONE = r"""
  function number(column) {
    if (missing(column)) {
      return NaN;  // with which no comparison holds
    }
    const value = cell(column);
    const isNumber = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value);
    const found = isNumber ? Number(value) : NaN;
    if (!Number.isFinite(found)) {
      throw new Error(`column "${column}": expected a finite number, found "${value}"`);
    }
    return found;
  }
"""
_TEXT_OR_NONE = """
  function text(column) {
    return missing(column) ? null : String(cell(column));  // null equals no text
  }
"""
_CELL = """
  function cell(column) {
    if (!Object.prototype.hasOwnProperty.call(row, column)) {
      throw new Error(`the rule needs the column "${column}"`);
    }
    const value = row[column];
    if (value === null || value === undefined || value !== value) {
      throw new Error(`column "${column}": expected a value, found none`);
    }
    return value;
  }
}
"""
_MODULE = """
if (typeof module !== "undefined") {
  module.exports = { predict };
}
"""


def export(model: Model) -> str:
    """`predict(row)` with what it calls; a row is an object with the columns as properties."""
    branches = [
        f"{_JavaScript().write(model, rule)} ? {_literal(plain(rule.prediction))}"
        for rule in model.rules
    ]
    condition, no = " : ".join(branches), _literal(plain(model.otherwise))
    words = _for_scripts(one_line(model.words))
    rule = _RULE.format(words=words, condition=condition, no=no)
    parts = (_NUMBER, _TEXT, _CELL)
    if model.keeps_missing:
        parts = (_NUMBER_OR_NONE, _TEXT_OR_NONE, _MISSING)
    called = parts[0] * ("number(" in condition) + parts[1] * ("text(" in condition) + parts[2]
    return (rule + helpers(model, _JavaScript.language) + called + _MODULE).rstrip("\n")


class _JavaScript(Infix):
    language = "javascript"
    not_, and_, or_ = "!", " && ", " || "
    differs = " !== "

    def cell(self, column: str) -> str:
        return _literal(column)

    def text(self, value: str) -> str:
        return _literal(value)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"([{', '.join(parts)}].filter(Boolean).length >= {count})"

    def number(self, proposition: Proposition) -> str:
        cell = f"number({_literal(proposition.column)})"
        low, high = text.number(proposition.low), text.number(proposition.high)
        return self.compare(cell, proposition, (low, high))

    def compare(self, cell: str, proposition: Proposition, literals: tuple[str, str]) -> str:
        low, high = literals
        if proposition.relation is Relation.WITHIN:
            return f"({cell} >= {low} && {cell} <= {high})"
        return f"{cell} {proposition.relation.value} {low}"

    def missing(self, column: str) -> str:
        return f"missing({_literal(column)})"

    def words(self, words: Words) -> str:
        cell = f"text({_literal(words.column)})"
        cell = f"String({cell}).toLowerCase()" if words.ignores_case else cell
        if len(words.spellings) == 1:
            return f"{cell} === {_literal(words.spellings[0])}"
        return f"{_literal(list(words.spellings))}.includes({cell})"


def _literal(value: Any) -> str:
    return _for_scripts(json.dumps(value, ensure_ascii=False))


def _for_scripts(code: str) -> str:
    """Code that a page may hold: `</script>` would end it there, `<!--` keep it from its end."""
    code = code.replace("</", "<\\/").replace("<!", "<\\!")
    return code.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
