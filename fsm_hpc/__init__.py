"""Short Boolean formulas that classify a table, proved optimal for their length."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsm_hpc.formulas.formula import Formula
    from fsm_hpc.formulas.parser import parse
    from fsm_hpc.models.black_box import explain_model
    from fsm_hpc.models.estimator import FormulaClassifier

__version__ = "0.2.0"
__all__ = ["Formula", "FormulaClassifier", "explain_model", "parse"]


def __getattr__(name: str) -> Any:
    """The public names, imported when asked for: `status` has no use for scikit-learn."""
    homes = {
        "FormulaClassifier": "models.estimator",
        "Formula": "formulas.formula",
        "explain_model": "models.black_box",
        "parse": "formulas.parser",
    }
    if name not in homes:
        raise AttributeError(f"module 'fsm_hpc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"fsm_hpc.{homes[name]}"), name)
