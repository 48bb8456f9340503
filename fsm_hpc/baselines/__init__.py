"""Other models on the folds of a formula: random forest, XGBoost, trees, rules, additive models."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method

if TYPE_CHECKING:
    from fsm_hpc.baselines.base import Baseline

OnTrial = Callable[[int, float], None]  # called after a trial: finished trials, best accuracy
MODULES = [method.value for method in Method if not method.finds_formula]
LABELS = {  # in tables and figures; the name itself where it is not listed
    "random_forest": "random forest",
    "xgboost": "XGBoost",
    "tree": "tree of depth 3",
    "tuned_tree": "tuned tree",
    "logistic_regression": "logistic regression",
    "ebm": "EBM",
    "figs": "FIGS",
    "rulefit": "RuleFit",
    "streed": "STreeD",
    "contree": "ConTree",
    "pytrees": "ConTree (pytrees)",
}

PACKAGES = {  # the package of a method, other than those that every result states
    "ebm": "interpret-core",
    "figs": "imodels",
    "rulefit": "imodels",
    "streed": "pystreed",
    "contree": "pycontree",
    "pytrees": "pytrees-rs",
}


def load(method: Method) -> Baseline:
    """The adapter of a baseline: the module of `baselines` with the method's name."""
    try:
        return cast("Baseline", import_module(f"fsm_hpc.baselines.{method.value}"))
    except ImportError as error:
        raise UserError(
            f"method={method.value} needs the package {error.name}, which is not installed; "
            'run `pip install "fsm_hpc[peers]"`'
        ) from None
