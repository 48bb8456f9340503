"""Compile a kernel once and keep it, for as long as no kernel of the package changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit, types

# Kernels make no arrays, and who calls them holds those that they are given: counting references
# to them, which is done in atomic steps, would take a third of the time of small boxes.
UNCOUNTED = {"_nrt": False}
unkept: list[OSError] = []  # why kernels that this process compiled could not be written


def kernel(function: Callable[..., Any]) -> Any:
    """Compiled without the interpreter's lock, so that threads run side by side."""
    return _compiled(function, forceinline=False)


def part(function: Callable[..., Any]) -> Any:
    """A piece of one kernel that has a name of its own: it costs nothing to call."""
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[..., Any], forceinline: bool) -> Any:
    options = {"nogil": True, "boundscheck": False, "forceinline": forceinline, **UNCOUNTED}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write: not here, not in the user's cache
        return _by_type(njit(**options)(function))
    # numba renews a kept kernel when its own file changes, not when one that it calls does;
    # without a cache, or in another numba, its own rule has to do
    with suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = stamp()
        _forgive(compiled._cache)
    return _by_type(compiled)


def _forgive(kept: Any) -> None:
    """Compile anew what was damaged on disk, and go on where there is no room to write."""
    load, save = kept.load_overload, kept.save_overload

    def load_or_none(*asked: Any) -> Any:
        try:
            return load(*asked)
        except Exception:  # a cut or foreign pickle may fail in any way
            with suppress(OSError):
                kept.flush()
            return None

    def save_or_tell(*made: Any) -> None:
        try:
            save(*made)
        except OSError as error:
            unkept.append(error)

    kept.load_overload, kept.save_overload = load_or_none, save_or_tell


def _by_type(compiled: Any) -> Any:
    """Compiled once for each type of its arguments, not again for every constant among them.

    numba tries a constant as a type of its own first, with all that is called from there: the
    kernels of the near-optimal set took twice as long to compile.
    """
    usual = compiled.get_call_template

    def template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(given) for name, given in kws.items()}
        return usual(tuple(types.unliteral(given) for given in args), plain)

    compiled.get_call_template = template
    return compiled


@cache
def stamp() -> str:
    """Of the sources of all kernels."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()
