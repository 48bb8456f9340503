"""A rule as a JavaScript function without dependencies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.models.exporters.functions import FunctionWriter
from fsm_hpc.models.model import Model


def export(model: Model) -> str:
    """`predict(row)` with the functions that it calls; a row is an object with columns as keys."""
    return _JavaScript().code(model)


class _JavaScript(FunctionWriter):
    language = "javascript"
    not_, and_, or_ = "!", " && ", " || "
    differs = " !== "
    between = "({cell} >= {low} && {cell} <= {high})"
    lower, equal, among = "String({0}).toLowerCase()", "{0} === {1}", "{1}.includes({0})"
    is_missing = "({0} === null)"

    def literal(self, value: Any) -> str:
        return _for_scripts(json.dumps(value, ensure_ascii=False))

    def comment(self, words: str) -> str:
        return _for_scripts(words)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"([{', '.join(parts)}].filter(Boolean).length >= {count})"


def _for_scripts(code: str) -> str:
    """Code for a page, where `</script>` and `<!--` would change how the rest is read."""
    code = code.replace("</", "<\\/").replace("<!", "<\\!")
    return code.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
