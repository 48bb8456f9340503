"""The one exception for a mistake that the user can mend."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class UserError(ValueError):
    """A mistake that the user can mend; printed without a traceback, exit code 2."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`, did you mean status?`; nothing where no known word is near."""
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f", did you mean {' or '.join(close)}?" if close else ""
