"""Lists of functions and plans that are shipped as data because they take long to compute."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from fsm_hpc.formulas.language import Language

FOLDER = Path(__file__).parent / "lists"
# the sizes that take longest; `python -m scripts.build_lists` writes them, tests recompute them
SHIPPED = {
    Language.PAPER: range(10, 15),
    Language.XOR: range(9, 12),
    Language.IMPLIES: range(10, 13),
    Language.DNF: range(12, 15),
    Language.CNF: range(12, 15),
    Language.AT_LEAST: range(11, 13),
}


@cache
def shipped(size: int, language: Language) -> dict[str, Any] | None:
    """The lists of a size by name; None if they are not shipped."""
    if size not in SHIPPED.get(language, ()):
        return None
    content = json.loads(gzip.decompress(path_of(size, language).read_bytes()))
    return {name: as_tuples(entries) for name, entries in content.items()}


def path_of(size: int, language: Language) -> Path:
    return FOLDER / f"{language.value}-{size}.json.gz"


def as_tuples(entry: Any) -> Any:
    """Restore trees, which are nested tuples, from JSON lists."""
    return tuple(map(as_tuples, entry)) if isinstance(entry, list) else entry
