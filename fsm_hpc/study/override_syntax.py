"""How an override, `key=value`, is written: its key, its quotes, how long and deep it may be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from fsm_hpc.errors import UserError

MOST_CHARACTERS = 100_000  # of one argument; larger lists belong in a config file
MOST_DEPTH = 24  # of brackets inside each other, as in our JSON files
MOST_FOLDS = 100_000  # of one command: more than any scheduler takes, and minutes to list
_QUOTED = re.compile(r"\"[^\"]*\"?|'[^']*'?")


def key_of(override: str) -> str:
    """The key of `key=value`, without Hydra's + and ~."""
    return override.partition("=")[0].lstrip("+~")


def override_text(value: Any) -> str:
    """A value as it has to stand in an override."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(override_text, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def quoted(value: str) -> str:
    """A value as it has to stand in an override, so that Hydra reads it as that very text."""
    literal = re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    inner = re.sub(r'(\\*)(")', r"\1\1\\\2", literal)
    return '"' + re.sub(r"(\\+)$", r"\1\1", inner) + '"'


def unescaped(text: str) -> str:
    """What a parsed text is once it is composed: an escaped `${` is that text."""
    return re.sub(r"((?:\\\\)*)\\\$\{", lambda m: m[1][: len(m[1]) // 2] + "${", text)


def has_interpolation(text: str) -> bool:
    """Whether `${...}` in it stands for another value."""
    return re.search(r"(?<!\\)(?:\\\\)*\$\{", text) is not None


def check_size(override: str) -> None:
    """Refuse what would take a parser minutes, or more stack than there is."""
    if len(override) > MOST_CHARACTERS:
        raise UserError(
            f"expected at most {MOST_CHARACTERS:,} characters in an argument, found "
            f"{len(override):,} in {override}; put a long list into a config file"
        )
    signs = _QUOTED.sub("", override)
    depth = max(accumulate((s in "[{(") - (s in "]})") for s in signs), default=0)
    if depth > MOST_DEPTH:
        raise UserError(
            f"expected at most {MOST_DEPTH} brackets inside each other in an argument, found "
            f"{depth:,} in {override}; quote the value if they are text"
        )


def check_sweep(overrides: Iterable[Any], times: int = 1) -> None:
    """Refuse a product of parsed values that is too large, before any of them is listed."""
    sweeps = [override for override in overrides if override.is_sweep_override()]
    folds = math.prod(map(_count, sweeps), start=times)
    if folds > MOST_FOLDS:
        named = " ".join(override.input_line for override in sweeps)
        raise UserError(
            f"{named or 'folds'}: expected at most {MOST_FOLDS:,} folds in a command, found "
            f"{folds:,}; name fewer values, or several commands"
        )


def _count(override: Any) -> int:
    """How many values a sweep has; those of a range are not listed."""
    values = override.value()
    if override.is_range_sweep():
        return int(max(0, math.ceil((values.stop - values.start) / values.step)))
    return sum(1 for _ in override.sweep_iterator())
