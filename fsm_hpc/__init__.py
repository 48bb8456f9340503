"""Short Boolean formulas that classify a table, proved optimal for their length."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsm_hpc.errors import UserError
    from fsm_hpc.formulas.formula import Formula
    from fsm_hpc.formulas.parser import parse
    from fsm_hpc.models.black_box import Explanation, explain_model
    from fsm_hpc.models.estimator import FormulaClassifier
    from fsm_hpc.models.explanation import RowExplanation
    from fsm_hpc.models.model import Model, Rule

__version__ = "0.3.0.dev0"
_MODULES = {
    "Explanation": "models.black_box",
    "Formula": "formulas.formula",
    "FormulaClassifier": "models.estimator",
    "Model": "models.model",
    "RowExplanation": "models.explanation",
    "Rule": "models.model",
    "UserError": "errors",
    "explain_model": "models.black_box",
    "parse": "formulas.parser",
}
__all__ = [
    "Explanation",
    "Formula",
    "FormulaClassifier",
    "Model",
    "RowExplanation",
    "Rule",
    "UserError",
    "explain_model",
    "parse",
]


def __getattr__(name: str) -> Any:
    """Import public names on first use, because `status` does not need scikit-learn."""
    if name not in _MODULES:
        raise AttributeError(f"module 'fsm_hpc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"fsm_hpc.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """The public names and the module's own attributes, without what this file imports."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
