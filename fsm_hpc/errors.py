"""The exception for mistakes that the user can correct."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

MOST_WORD = 500  # characters without a blank; enough for a path
MOST_LINE = 2_000
MOST_MESSAGE = 20_000


class UserError(ValueError):
    """A mistake that the user can correct; printed without a traceback, exit code 2."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


def shortened(message: str) -> str:
    """A message with very long words, lines and lists shortened in the middle."""
    message = _cut(message, MOST_MESSAGE)
    words = re.sub(rf"\S{{{MOST_WORD + 1},}}", lambda word: _cut(word[0], MOST_WORD), message)
    return "\n".join(_cut(line, MOST_LINE) for line in words.split("\n"))


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    ends = most // 3
    return f"{text[:ends]}...({len(text) - 2 * ends:,} characters)...{text[-ends:]}"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`, did you mean status?`; empty if no known word is similar."""
    close = difflib.get_close_matches(word[:MOST_WORD], known, n=3, cutoff=0.5)
    return f", did you mean {' or '.join(close)}?" if close else ""
