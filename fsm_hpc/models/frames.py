"""What a DataFrame or a target has to be, before anything is made of it."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from fsm_hpc.models.exact import refuse_inexact
from fsm_hpc.models.refused import refuse_arrays, refuse_values


def is_frame(X: Any) -> bool:  # noqa: N803
    return hasattr(X, "iloc") and hasattr(X, "columns")


def column_names(X: Any) -> list[str]:  # noqa: N803
    """What formulas call the columns; those without a name are called as in a file."""
    names = enumerate(map(str, X.columns), start=1)
    return [name if name.strip() else f"column_{at}" for at, name in names]


def refuse_table(X: Any) -> None:  # noqa: N803
    """What scikit-learn would convert in silence, or has no message for."""
    if not is_frame(X):
        refuse_arrays(X=X)
        refuse_inexact(X)
        return
    for name, count in Counter(column_names(X)).items():
        if count > 1:
            raise ValueError(
                f"expected each column once, found {count} columns that are called {name!r}; "
                "rename or drop the others"
            )


def check_frame(X: Any, keeps_missing: bool) -> None:  # noqa: N803
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )
    holes = [n for at, n in enumerate(column_names(X)) if _has_missing(n, X.iloc[:, at])]
    if holes and not keeps_missing:
        raise ValueError(
            f"expected no missing values, found NaN in column {holes[0]!r}; missing='keep' lets "
            "no comparison hold there"
        )
    for at, (name, kind) in enumerate(zip(column_names(X), X.dtypes, strict=True)):
        if getattr(kind, "kind", "") == "f" and np.isinf(_floats(X.iloc[:, at])).any():
            raise ValueError(f"expected finite numbers, found infinity in column {name!r}")


def _has_missing(name: str, series: Any) -> bool:
    try:
        return bool(series.isna().any())
    except ArithmeticError:  # a signaling NaN, with which pandas cannot compare
        refuse_values(name, series)
        raise


def _floats(series: Any) -> Any:
    return series.astype("float64").to_numpy()


def warn_about_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected.",
        DataConversionWarning,
        stacklevel=4,
    )
