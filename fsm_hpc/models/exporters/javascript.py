"""A rule as a JavaScript function without dependencies."""

from __future__ import annotations

import json
from typing import Any

from fsm_hpc.formulas import text
from fsm_hpc.formulas.formula import Proposition, Relation
from fsm_hpc.models.exporters.conditions import Infix, Words, one_line, plain
from fsm_hpc.models.model import Model

_RULE = """\
// {words}
function predict(row) {{
  return {condition} ? {yes} : {no};
"""
_NUMBER = """
  function number(column) {
    const value = cell(column);
    const found = Number(value);
    if (Number.isNaN(found)) {
      throw new Error(`column "${column}": expected a number, found "${value}"`);
    }
    return found;
  }
"""
_TEXT = """
  function text(column) {
    return String(cell(column)).trim();
  }
"""
_CELL = """
  function cell(column) {
    if (!Object.prototype.hasOwnProperty.call(row, column)) {
      throw new Error(`the rule needs the column "${column}"`);
    }
    const value = row[column];
    if (value === null || value === undefined || String(value).trim() === "") {
      throw new Error(`column "${column}": expected a value, found none`);
    }
    return value;
  }
}

if (typeof module !== "undefined") {
  module.exports = { predict };
}
"""


def export(model: Model) -> str:
    """`predict(row)` with what it calls; a row is an object with the columns as properties."""
    no, yes = (_literal(plain(value)) for value in model.classes)
    condition = _JavaScript().write(model)
    words = _for_scripts(one_line(model.words))
    rule = _RULE.format(words=words, condition=condition, yes=yes, no=no)
    helpers = _NUMBER * ("number(" in condition) + _TEXT * ("text(" in condition) + _CELL
    return (rule + helpers).rstrip("\n")


class _JavaScript(Infix):
    not_, and_, or_ = "!", " && ", " || "

    def number(self, proposition: Proposition) -> str:
        cell = f"number({_literal(proposition.column)})"
        low, high = text.number(proposition.low), text.number(proposition.high)
        if proposition.relation is Relation.WITHIN:
            return f"({cell} >= {low} && {cell} <= {high})"
        return f"{cell} {proposition.relation.value} {low}"

    def words(self, words: Words) -> str:
        cell = f"text({_literal(words.column)})" + ".toLowerCase()" * words.ignores_case
        if len(words.spellings) == 1:
            return f"{cell} === {_literal(words.spellings[0])}"
        return f"{_literal(list(words.spellings))}.includes({cell})"


def _literal(value: Any) -> str:
    return _for_scripts(json.dumps(value, ensure_ascii=False))


def _for_scripts(code: str) -> str:
    """Code that a page may hold: `</script>` would end it there."""
    return code.replace("</", "<\\/").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
