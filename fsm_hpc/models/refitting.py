"""Fit an estimator anew: nothing of an earlier fit stays, and nothing of one that failed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_PRIVATE = ("_sources", "_fitted", "_good")  # fitted attributes without an underscore at the end
Fitting = TypeVar("Fitting", bound=Callable[..., Any])


def anew(fit: Fitting) -> Fitting:
    """A `fit` that begins unfitted, and leaves the estimator unfitted if it fails."""

    @wraps(fit)
    def fit_anew(self: Any, *given: Any, **named: Any) -> Any:
        forget(self)
        try:
            return fit(self, *given, **named)
        except BaseException:
            forget(self)
            raise

    return fit_anew  # type: ignore[return-value]


def forget(estimator: Any) -> None:
    """Remove all fitted attributes."""
    for name in list(vars(estimator)):
        if name in _PRIVATE or (name.endswith("_") and not name.startswith("_")):
            delattr(estimator, name)
