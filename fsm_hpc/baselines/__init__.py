"""Random forest and XGBoost, tuned, to hold a formula against."""

from collections.abc import Callable

OnTrial = Callable[[int, float], None]  # told of every trial: how many, and the best so far
