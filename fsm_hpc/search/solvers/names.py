"""Names of solvers and of encodings for clingo-dl."""

from __future__ import annotations

from enum import Enum


class SolverName(Enum):
    """The solver of a search."""

    CLINGO_DL = "clingo_dl"
    NATIVE = "native"
    PORTFOLIO = "portfolio"


class Encoding(Enum):
    """Which rules clingo-dl solves; docs/explanation/encodings.md compares them."""

    FAST = "fast"
    PLAIN = "plain"  # the paper's, unchanged
