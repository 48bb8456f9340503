"""Values that are no numbers, texts or truth values: dates, bytes, masks and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsm_hpc.data.errors import worded_for_python
from fsm_hpc.data.frames import TIMES, refuse_values

_KINDS = {"M": "dates or times", "m": "dates or times", "S": "bytes"}
_EXPECTED = "expected numbers, text or true/false, found"
_ADVICE = "leave it out, or write it as a number or as text"


def refuse_arrays(**tables: Any) -> None:
    """Those that `refuse_array` refuses, by name."""
    for name, table in tables.items():
        refuse_array(name, table)


def refuse_array(what: str, table: Any) -> None:
    """Raise for an array with masked values, or of dates, times, durations or bytes."""
    if np.ma.is_masked(table):
        raise ValueError(
            f"{what}: expected an array without a mask, found masked values; fill them in, or "
            "make them NaN with .filled(numpy.nan) where missing values are kept"
        )
    kind = getattr(getattr(table, "dtype", None), "kind", None)
    if kind == "c":  # in the words that scikit-learn asks for
        raise ValueError(f"{what}: Complex data not supported; {_EXPECTED} complex numbers")
    if kind in _KINDS:
        raise ValueError(f"{what}: {_EXPECTED} {_KINDS[kind]} ({table.dtype}); {_ADVICE}")
    if kind == "O" and isinstance(table, np.ndarray) and table.ndim == 2:
        for number in range(table.shape[1]):
            with worded_for_python():
                refuse_values(f"x{number}", table[:, number].tolist(), TIMES)


def refuse_target(y: Any, sample_weight: Any) -> None:
    """Raise for a target or weights that no classifier can learn from."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    refuse_arrays(y=y, sample_weight=sample_weight)
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
