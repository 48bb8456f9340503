"""Solvers by name: each finds the best formula within a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.base import Solver

NAMES = ("clingo_dl", "native", "portfolio")


def make_solver(name: str, threads: int, **options: Any) -> Solver:
    """The solver of that name; only its own modules are imported."""
    if name == "clingo_dl":
        from fsm_hpc.search.solvers.clingo.solver import ClingoDl

        return ClingoDl(threads, **options)
    if name == "native":
        from fsm_hpc.search.solvers.native import Native

        return Native(threads, **options)
    if name == "portfolio":
        from fsm_hpc.search.solvers.portfolio import Portfolio

        return Portfolio(threads, **options)
    from fsm_hpc.errors import UserError

    raise UserError(f"solver {name!r} is not known; expected one of: {', '.join(NAMES)}")
