"""Solvers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsm_hpc.search.solvers.names import SolverName

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.base import Solver
    from fsm_hpc.search.solvers.native.parts import Helpers


def make_solver(
    name: SolverName, threads: int, helpers: Helpers | None = None, **options: Any
) -> Solver:
    """The solver of that name; imports its modules only. clingo-dl uses no helpers."""
    if name is SolverName.CLINGO_DL:
        from fsm_hpc.search.solvers.clingo.solver import ClingoDl

        return ClingoDl(threads, **options)
    from fsm_hpc.search.solvers.native.compiling import ensure_compiled

    ensure_compiled()  # before any time limit starts
    if name is SolverName.NATIVE:
        from fsm_hpc.search.solvers.native import Native

        return Native(threads, helpers, **options)
    from fsm_hpc.search.solvers.portfolio import Portfolio

    return Portfolio(threads, helpers=helpers, **options)
