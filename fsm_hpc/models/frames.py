"""What a DataFrame or a target has to be, before anything is made of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from fsm_hpc.models.exact import refuse_inexact
from fsm_hpc.models.refused import refuse_arrays, refuse_values


def is_frame(X: Any) -> bool:  # noqa: N803
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_frame(X: Any) -> Any:  # noqa: N803
    """A pandas DataFrame of a table with named columns, such as polars or pyarrow; else `X`."""
    if is_frame(X) or isinstance(X, (np.ndarray, list, tuple)):
        return X
    import narwhals as nw

    table = nw.from_native(X, pass_through=True, eager_only=True)
    return table.to_pandas() if isinstance(table, nw.DataFrame) else X


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


def check_frame(X: Any, keeps_missing: bool, used: set[str] | None = None) -> None:  # noqa: N803
    """Raise for missing and infinite values in the used columns, or in all of them."""
    if min(X.shape) == 0:
        what = "feature(s)" if X.shape[1] == 0 else "sample(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required."
        )
    names = {at: n for at, n in enumerate(column_names(X)) if used is None or n in used}
    holes = [name for at, name in names.items() if _has_missing(name, X.iloc[:, at])]
    if holes and not keeps_missing:
        raise ValueError(
            f"expected no missing values, found NaN in column {holes[0]!r}; missing='keep' lets "
            "no comparison hold there"
        )
    for at, name in names.items():
        kind = X.dtypes.iloc[at]
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
