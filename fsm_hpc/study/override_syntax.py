"""The syntax of an override, `key=value`: key, quotes, largest length and depth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from fsm_hpc.errors import UserError

MOST_CHARACTERS = 100_000  # of one argument; longer lists belong in a config file
MOST_DEPTH = 24  # of nested brackets, as in our JSON files
MOST_FOLDS = 100_000  # of one command
_QUOTED = re.compile(r"\"[^\"]*\"?|'[^']*'?")


def key_of(override: str) -> str:
    """The key of `key=value`, without Hydra's + and ~."""
    return override.partition("=")[0].lstrip("+~")


def override_text(value: Any) -> str:
    """A value as an override writes it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(override_text, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(value: str) -> str:
    """A text as an override writes it, so that Hydra reads exactly this text."""
    literal = re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    inner = re.sub(r'(\\*)(")', r"\1\1\\\2", literal)
    return '"' + re.sub(r"(\\+)$", r"\1\1", inner) + '"'


def unescaped(text: str) -> str:
    """A parsed text after composition: an escaped `${` is plain text."""
    return re.sub(r"((?:\\\\)*)\\\$\{", lambda m: m[1][: len(m[1]) // 2] + "${", text)


def has_interpolation(text: str) -> bool:
    """Whether the text contains an interpolation `${...}`."""
    return re.search(r"(?<!\\)(?:\\\\)*\$\{", text) is not None


def check_size(override: str) -> None:
    """Refuse an override that would take the parser minutes or overflow its stack."""
    if len(override) > MOST_CHARACTERS:
        raise UserError(
            f"expected at most {MOST_CHARACTERS:,} characters in an argument, found "
            f"{len(override):,} in {override}; put a long list into a config file"
        )
    signs = _QUOTED.sub("", override)
    depth = max(accumulate((s in "[{(") - (s in "]})") for s in signs), default=0)
    if depth > MOST_DEPTH:
        raise UserError(
            f"expected at most {MOST_DEPTH} nested brackets in an argument, found "
            f"{depth:,} in {override}; quote the value if they are text"
        )


def check_sweep(overrides: Iterable[Any], times: int = 1) -> None:
    """Refuse a sweep with too many folds, before it is expanded."""
    sweeps = [override for override in overrides if override.is_sweep_override()]
    folds = math.prod(map(_count, sweeps), start=times)
    if folds > MOST_FOLDS:
        texts = " ".join(override.input_line for override in sweeps)
        raise UserError(
            f"{texts or 'folds'}: expected at most {MOST_FOLDS:,} folds in a command, found "
            f"{folds:,}; use fewer values or several commands"
        )


def _count(override: Any) -> int:
    """The number of values of a sweep, without expanding a range."""
    values = override.value()
    if override.is_range_sweep():
        return int(max(0, math.ceil((values.stop - values.start) / values.step)))
    return sum(1 for _ in override.sweep_iterator())
