"""CART of scikit-learn with tuned depth, leaf size and pruning."""

from __future__ import annotations

from typing import Any

from fsm_hpc.baselines import tree
from fsm_hpc.baselines.base import Parameters

fit = tree.fit


def suggest(trial: Any) -> Parameters:
    return {
        "max_depth": trial.suggest_int("max_depth", 1, 10),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 50, log=True),
        "ccp_alpha": trial.suggest_float("ccp_alpha", 1e-5, 0.1, log=True),
        "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
    }


SPACE = suggest
