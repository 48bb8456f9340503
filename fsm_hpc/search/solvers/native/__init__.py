"""The native exact solver: a search made for short formulas."""

from fsm_hpc.search.solvers.native.solver import Native

__all__ = ["Native"]
