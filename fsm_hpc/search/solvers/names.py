"""The solvers, and the encodings of the one that has several, by name."""

from __future__ import annotations

from enum import Enum


class SolverName(Enum):
    """Who searches for the formula."""

    CLINGO_DL = "clingo_dl"
    NATIVE = "native"
    PORTFOLIO = "portfolio"


class Encoding(Enum):
    """Which rules clingo-dl solves; docs/explanation/encodings.md compares them."""

    FAST = "fast"
    PLAIN = "plain"  # the paper's, as they stand
