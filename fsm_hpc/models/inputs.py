"""The input of an estimator: classes and columns of `fit`, and columns that a rule uses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from fsm_hpc.data.columns import Column, same_names
from fsm_hpc.data.frames import is_frame
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.formulas.proposition import Proposition
from fsm_hpc.models.explanation import Facts
from fsm_hpc.models.frames import columns_of, refuse_array, refuse_table, schemas_of, values_of
from fsm_hpc.models.model import Model
from fsm_hpc.models.weighing import RowWeights, row_weights

TARGET = "y"  # the name of a target without one


def classes_of(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[NDArray[Any], NDArray[np.int64], RowWeights]:
    """The classes, the class index of each row with a weight, and the weights."""
    _refuse_target(y, sample_weight)
    y = check_array(y, ensure_2d=False, dtype=None)
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_about_column_vector()
    y = np.ravel(y)
    check_consistent_length(X, y)
    check_classification_targets(y)
    weights = row_weights(X, y, sample_weight, estimator.class_weight)
    classes, places = np.unique(y[weights.kept], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"expected two classes in y, found 1 class: {classes!r}")
    return classes, places, weights


def fitted_columns(
    estimator: Any, X: Any, weights: RowWeights
) -> tuple[list[Column], list[ColumnSchema]]:
    """The one-hot columns of rows with a weight, and the schemas of `X`."""
    keeps_missing = estimator.missing == "keep"
    refuse_table(X)
    if is_frame(X):
        validate_data(estimator, X, skip_check_array=True)
    else:
        X = _checked_array(estimator, X, keeps_missing, reset=True)
    X = X if weights.keeps_all else _safe_indexing(X, weights.kept)
    schemas = schemas_of(X, keeps_missing, estimator.feature_types)
    columns = columns_of(X, schemas)
    columns = [c for c in columns if not c.is_missing_indicator or c.values.any()]
    for first, _ in same_names(columns):
        raise ValueError(f"two columns or categories are called {first.name!r}; rename one")
    return columns, schemas


def used_columns(estimator: Any, X: Any, model: Model) -> dict[str, Any]:
    """The one-hot columns that the rules use; a DataFrame may lack all others."""
    refuse_table(X)
    if not is_frame(X):
        is_fitted = hasattr(estimator, "n_features_in_")  # a loaded rule is not
        X = _checked_array(estimator, X, model.keeps_missing, False if is_fitted else None)
    return {c.name: c.values for c in columns_of(X, model.sources)}


def row_facts(estimator: Any, row: Any, model: Model) -> tuple[dict[str, Any], Facts]:
    """The one-hot columns of a single row, and its cell for the column of a proposition."""
    values = {s.name: values_of(row, s) for s in model.sources}

    def facts(proposition: Proposition) -> str:
        source = next(s for s in model.sources if proposition.column in (s.name, *s.names))
        value = values[source.name].first_texts(1)
        return f"{source.name} {f'= {value[0]}' if value else 'is missing'}"

    return used_columns(estimator, row, model), facts


def name_of(y: Any) -> str:
    """The name of the target."""
    name = None if hasattr(y, "columns") else getattr(y, "name", None)
    return TARGET if name is None else str(name)


def _checked_array(
    estimator: Any, X: Any, keeps_missing: bool, reset: bool | None
) -> NDArray[np.float64]:
    """An array of numbers; if `reset` is None, with any number of columns."""
    options = {"dtype": np.float64, "ensure_all_finite": "allow-nan" if keeps_missing else True}
    if reset is None:
        return np.asarray(check_array(X, **options))
    return np.asarray(validate_data(estimator, X, reset=reset, **options))


def _warn_about_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    message = "A column-vector y was passed when a 1d array was expected."
    warnings.warn(message, DataConversionWarning, stacklevel=5)


def _refuse_target(y: Any, sample_weight: Any) -> None:
    """Raise for a target or weights that no classifier can learn from."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    refuse_array("y", y)
    refuse_array("sample_weight", sample_weight)
    _refuse_classes(y)


def _refuse_classes(y: Any) -> None:
    """Raise for a target with missing values, or with text and something else."""
    import pandas as pd

    classes = np.asarray(y, dtype=object)
    if classes.ndim != 1:
        return
    absent = pd.isna(classes)
    if absent.any():
        raise ValueError(
            f"y: expected a class for each row, found none (None or NaN) in {absent.sum()} of "
            f"{len(classes)} rows; leave these rows out"
        )
    kinds = sorted({type(one).__name__ for one in classes if not isinstance(one, str)})
    if kinds and any(isinstance(one, str) for one in classes):
        raise ValueError(
            f"y: expected classes of one kind, found text and {kinds[0]}; make all text"
        )
