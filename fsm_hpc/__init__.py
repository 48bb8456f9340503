"""Short Boolean formulas that classify a table, proved optimal for their length."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsm_hpc.estimator import FormulaClassifier as FormulaClassifier
    from fsm_hpc.formula import Formula as Formula
    from fsm_hpc.parser import parse as parse

__version__ = "0.1.0"
__all__ = ["Formula", "FormulaClassifier", "parse"]


def __getattr__(name: str) -> Any:
    """The public names, imported when asked for: `status` has no use for scikit-learn."""
    homes = {"FormulaClassifier": "estimator", "Formula": "formula", "parse": "parser"}
    if name not in homes:
        raise AttributeError(f"module 'fsm_hpc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"fsm_hpc.{homes[name]}"), name)
