"""What a DataFrame or a target has to be, before anything is made of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:  # noqa: N803
    return hasattr(X, "iloc") and hasattr(X, "columns")


def check_frame(X: Any, keeps_missing: bool) -> None:  # noqa: N803
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )
    holes = [str(name) for name in X.columns if X[name].isna().any()]
    if holes and not keeps_missing:
        raise ValueError(
            f"expected no missing values, found NaN in column {holes[0]!r}; missing='keep' lets "
            "no comparison hold there"
        )
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "") == "f" and np.isinf(_floats(X[name])).any():
            raise ValueError(f"expected finite numbers, found infinity in column {str(name)!r}")


def _floats(series: Any) -> Any:
    return series.astype("float64").to_numpy()


def warn_about_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected.",
        DataConversionWarning,
        stacklevel=4,
    )
