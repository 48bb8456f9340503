"""Values of any type: read as what they are, or refused by name; never rounded in silence."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier

Y = np.array([0, 1] * 10)
LARGE = [2**53, 2**53 + 1] * 10


def fitted(X: Any, **parameters: Any) -> FormulaClassifier:
    rule = FormulaClassifier("pivot", solver="native", length=1, n_jobs=1, **parameters)
    return rule.fit(X, Y)


def objects(values: list[Any]) -> Any:
    return pd.DataFrame({"a": pd.Series(values, dtype=object)})


@pytest.mark.parametrize(
    "table",
    [
        np.array(LARGE)[:, None],
        np.array(LARGE, dtype=np.uint64)[:, None],
        np.array([[value] for value in LARGE], dtype=object),
        [[value] for value in LARGE],
        np.array([2**60, 2**60 + 1] * 10, dtype=np.longdouble)[:, None],
        pd.DataFrame({"a": np.array(LARGE, dtype=np.uint64) + 2**62}),
        pd.DataFrame({"a": pd.array([None, *LARGE[1:]], dtype="Int64")}),
        objects(LARGE),
        objects([10**30, 10**30 + 1] * 10),
        objects([10**400, 1] * 10),
    ],
)
def test_numbers_that_floats_do_not_hold_are_refused(table: Any) -> None:
    with pytest.raises(ValueError, match="that a 64-bit float holds exactly"):
        fitted(table, missing="keep")


@pytest.mark.parametrize("value", [2**54 + 3, str(2**54 + 3), np.uint64(2**54 + 3)])
def test_a_number_to_predict_is_not_rounded_to_a_cut(value: Any) -> None:
    rule = fitted(pd.DataFrame({"a": [2.0**54, 2.0**54 + 4] * 10}))
    assert rule.predict(pd.DataFrame({"a": [2**54 + 4]})).tolist() == [1]
    with pytest.raises(ValueError, match=f"holds exactly, found .*{2**54 + 3}"):
        rule.predict(objects([value]))


@pytest.mark.parametrize("kind", [int, Decimal, float, np.int8])
def test_numbers_of_any_type_are_numbers(kind: Any) -> None:
    rule = fitted(objects([kind(1), kind(2)] * 10))
    assert str(rule.formula_) == "a >= 2"
    assert rule.predict(pd.DataFrame({"a": [1.0, 2.0, 3.0]})).tolist() == [0, 1, 1]


def test_equal_values_of_other_types_are_other_categories_in_any_order() -> None:
    rule = fitted(objects([True, 1] * 10))
    said = [rule.predict(objects(values)).tolist() for values in ([True, 1], [1, True], [1], ["1"])]
    assert said == [[0, 1], [1, 0], [1], [1]]


def test_lists_in_cells_are_refused() -> None:
    with pytest.raises(ValueError, match=r"column 'a': .* lists"):
        fitted(objects([[1], [2]] * 10))


@pytest.mark.parametrize("value", ["1_000", "0x10", True, 1j, 10**400])
def test_what_only_python_takes_for_a_number_is_refused(value: Any) -> None:
    rule = fitted(pd.DataFrame({"a": [1.0, 1000.0] * 10}))
    with pytest.raises(ValueError, match="column 'a': expected"):
        rule.predict(objects([value, 5]))
