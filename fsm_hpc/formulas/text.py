"""Parts of a formula's text: names, numbers and LaTeX escapes."""

from __future__ import annotations

import re
from importlib import import_module

_PLAIN_NAME = re.compile(r"[^\W\d][\w./+-]*")
KEYWORDS = {"and", "or", "not"}
# words between two formulas, from formulas/connectives/; elsewhere they are column names
JOINING: set[str] = set()


def quote(name: str) -> str:
    """A column name in a formula: in backticks where it would be ambiguous."""
    if _PLAIN_NAME.fullmatch(name) and name not in KEYWORDS | JOINING:
        return name
    return "`" + name.replace("`", "``") + "`"


class Threshold(float):
    """A number with its own notation in formulas, such as a date."""

    def written(self) -> str:
        raise NotImplementedError

    def __format__(self, form: str) -> str:
        return self.written()


# pattern of a threshold that is no number -> module:class
LITERALS = {r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?)?": "fsm_hpc.data.kinds.date:Day"}


def threshold(text: str) -> float:
    """A threshold from its text."""
    for pattern, place in LITERALS.items():
        if re.fullmatch(pattern, text):
            module, _, name = place.partition(":")
            value: float = getattr(import_module(module), name).parse(text)
            return value
    return float(text)


def number(value: float) -> str:
    """The shortest text that reads back as the same number: 767, 27.6."""
    if isinstance(value, Threshold):
        return value.written()
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    **{character: "\\" + character for character in "_%&#${}"},
}
_LIGATURE = re.compile(r"([-<>,'])(?=\1)")  # two of them would be set as one other sign


def escape_latex(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return _LIGATURE.sub(r"\1{}", escaped)
