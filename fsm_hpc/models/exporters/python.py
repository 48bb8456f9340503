"""A rule as a Python function without imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fsm_hpc.models.exporters.functions import FunctionWriter
from fsm_hpc.models.model import Model


def export(model: Model) -> str:
    """`predict(row)` with the functions that it calls; a row maps columns to values."""
    return _Python().code(model)


class _Python(FunctionWriter):
    language = "python"
    call = "_{name}(row, {column})"
    lower, equal, among = "str({0}).lower()", "{0} == {1}", "{0} in {1}"
    is_missing = "{0} is None"

    def literal(self, value: Any) -> str:
        return repr(value)

    def comment(self, words: str) -> str:
        is_plain = words.isprintable() and not {'"', "\\"} & set(words)
        return f'"""{words}"""' if is_plain else repr(words)

    def threshold(self, count: int, parts: Sequence[str]) -> str:
        return f"(sum([{', '.join(parts)}]) >= {count})"
