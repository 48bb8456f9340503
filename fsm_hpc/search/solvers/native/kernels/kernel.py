"""Compile a kernel once and keep it, for as long as no kernel of the package changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compiled without the interpreter's lock, so that threads run side by side."""
    try:
        compiled = njit(cache=True, nogil=True, boundscheck=False)(function)
    except RuntimeError:  # nowhere to write: not here, not in the user's cache
        return njit(nogil=True, boundscheck=False)(function)
    # numba renews a kept kernel when its own file changes, not when one that it calls does;
    # without a cache, or in another numba, its own rule has to do
    with suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = _stamp()
    return compiled


@cache
def _stamp() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()
