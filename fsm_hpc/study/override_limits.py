"""How long, how deeply nested and how large a sweep an argument of a command may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from fsm_hpc.errors import UserError

MOST_CHARACTERS = 100_000  # of one argument; larger lists belong in a config file
MOST_DEPTH = 24  # of brackets inside each other, as in our JSON files
MOST_FOLDS = 100_000  # of one command: more than any scheduler takes, and minutes to list


def check_override(override: str) -> None:
    """Refuse what would take a parser minutes, or more stack than there is."""
    if len(override) > MOST_CHARACTERS:
        raise UserError(
            f"expected at most {MOST_CHARACTERS:,} characters in an argument, found "
            f"{len(override):,} in {override}; put a long list into a config file"
        )
    if _depth(override) > MOST_DEPTH:
        raise UserError(
            f"expected at most {MOST_DEPTH} brackets inside each other in an argument, found "
            f"{_depth(override):,} in {override}; quote the value if they are text"
        )


def check_sweep(overrides: Iterable[Any], times: int = 1) -> None:
    """Refuse a product of values that is too large, before any of them is listed."""
    sweeps = [override for override in overrides if override.is_sweep_override()]
    folds = math.prod((count(override) for override in sweeps), start=times)
    if folds > MOST_FOLDS:
        named = " ".join(override.input_line for override in sweeps)
        raise UserError(
            f"{named or 'folds'}: expected at most {MOST_FOLDS:,} folds in a command, found "
            f"{folds:,}; name fewer values, or several commands"
        )


def count(override: Any) -> int:
    """How many values a sweep has; those of a range are not listed."""
    values = override.value()
    if override.is_range_sweep():
        return int(max(0, math.ceil((values.stop - values.start) / values.step)))
    return sum(1 for _ in override.sweep_iterator())


def _depth(override: str) -> int:
    """How many brackets are open at once, outside of quotes."""
    depth = deepest = 0
    quote = ""
    for sign in override:
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
        elif sign in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]})":
            depth -= 1
    return deepest
