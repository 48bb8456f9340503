"""Where words and tables for a person go: a terminal with an edge, or a file without."""

from __future__ import annotations

from rich.console import Console

NO_EDGE = 10_000  # columns, more than any line has


def console(markup: bool = True) -> Console:
    """Nothing is broken or cut where there is no terminal, however long a path is."""
    here = Console(highlight=False, markup=markup)
    return here if here.is_terminal else Console(highlight=False, markup=markup, width=NO_EDGE)
