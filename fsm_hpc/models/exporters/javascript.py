"""A rule as a JavaScript function without dependencies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.formulas import text
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
    if (value === null) return NaN;  // with which no comparison holds
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
    const value = cell(column);
    return value === null ? null : String(value);  // null equals no text
  }
"""
_CELL = """
  function cell(column) {{
    if (!Object.prototype.hasOwnProperty.call(row, column)) {{
      throw new Error(`the rule needs the column "${{column}}"`);
    }}
    const value = row[column];
    if (value === null || value === undefined || value !== value) {{
      {missing}
    }}
    return value;
  }}
}}
"""
_REFUSED = 'throw new Error(`column "${column}": expected a value, found none`);'
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
    called = _NUMBER * ("number(" in condition) + _TEXT * ("text(" in condition)
    cell = _CELL.format(missing="return null;" if model.keeps_missing else _REFUSED)
    return (rule + helpers(model, _JavaScript.language) + called + cell + _MODULE).rstrip("\n")


class _JavaScript(Infix):
    language = "javascript"
    not_, and_, or_ = "!", " && ", " || "
    differs = " !== "
    between = "({cell} >= {low} && {cell} <= {high})"

    def cell(self, column: str) -> str:
        return _literal(column)

    def text(self, value: str) -> str:
        return _literal(value)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"([{', '.join(parts)}].filter(Boolean).length >= {count})"

    def number_cell(self, column: str) -> str:
        return f"number({_literal(column)})"

    def number_literal(self, value: float) -> str:
        return text.number(value)

    def missing(self, column: str) -> str:
        return f"(cell({_literal(column)}) === null)"

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
