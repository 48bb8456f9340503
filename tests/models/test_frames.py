"""What an estimator takes for a table: dtypes, names, and what it refuses by name."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from sklearn.exceptions import ConvergenceWarning

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.frames import schemas_of

Y = [0, 0, 1, 1] * 3
DAY = datetime.date(2026, 1, 31)
ARROW_CATEGORIES = pd.ArrowDtype(pyarrow.dictionary(pyarrow.int32(), pyarrow.int64()))


def _frame(values: Any, kind: Any = None) -> pd.DataFrame:
    frame: pd.DataFrame = pd.DataFrame({"x": pd.Series([*values] * 3, dtype=kind)})
    return frame


def _fit(table: Any, y: Any = Y, **parameters: Any) -> FormulaClassifier:
    return FormulaClassifier(length=1, solver="native", **parameters).fit(table, y)


TRUTHS = [
    ([True, False, True, True], object),
    ([np.True_, np.False_, np.True_, np.True_], object),
    ([True, None, True, False], object),
    ([True, None, True, False], "boolean"),
    ([True, None, True, False], "bool[pyarrow]"),
]


@pytest.mark.parametrize(("values", "kind"), TRUTHS)
def test_truth_values_of_any_dtype_are_boolean(values: list[Any], kind: str) -> None:
    (source,) = schemas_of(_frame(values, kind), keeps_missing=True)
    assert source.kind is KindName.BOOLEAN


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3, 3], "category"),
        ([1, 2, 3, 3], ARROW_CATEGORIES),
        ([True, False, True, False], "category"),
        ([1.5, None, 2.5, 2.5], "category"),
        (["2026-01-31", "2026-02-01"] * 2, "category"),
    ],
)
def test_a_column_of_categories_stays_one_whatever_they_are(values: Any, kind: Any) -> None:
    (source,) = schemas_of(_frame(values, kind), keeps_missing=True)
    assert source.kind is KindName.CATEGORICAL
    assert source.categories == tuple(sorted({str(value) for value in values if value is not None}))


@pytest.mark.parametrize("kind", ["float16", "float32", "Float32", "float[pyarrow]"])
@pytest.mark.parametrize("cuts", ["observed", "midpoints", "rounded"])
@pytest.mark.parametrize("method", ["median", "pivot", "interval"])
def test_a_threshold_parts_short_floats_as_it_is_printed(
    kind: str, cuts: str, method: str, tmp_path: Path
) -> None:
    """Neighbours in 16 or 32 bits have thresholds between them that 64 bits alone hold."""
    short = np.float16 if kind == "float16" else np.float32
    low = short(0.7)
    values = np.array([low, low, np.nextafter(low, short(1)), np.nextafter(low, short(1))])
    frame = _frame(values, kind)
    rule = _fit(frame, method=method, cuts=cuts)
    assert (rule.errors_, rule.predict(frame).tolist()) == (0, Y)
    printed = parse(str(rule.formula_))
    exact = frame["x"].to_numpy(dtype=np.float64)
    assert printed.evaluate({"x": exact}).tolist() == [bool(label) for label in Y]
    assert printed.evaluate({"x": exact.astype(short)}).tolist() == [bool(label) for label in Y]
    rule.save(tmp_path / "model.json")
    loaded = FormulaClassifier.load(tmp_path / "model.json")
    assert loaded.predict(pd.DataFrame({"x": exact})).tolist() == Y


@pytest.mark.parametrize("name", ["", " ", "\t"])
def test_a_column_without_a_name_is_called_by_its_place(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [5] * 12, name: [1, 2, 3, 4] * 3})
    rule = _fit(frame)
    assert str(rule.formula_) == "column_2 >= 3"
    rule.save(tmp_path / "model.json")
    loaded = FormulaClassifier.load(tmp_path / "model.json")
    assert rule.predict(frame).tolist() == loaded.predict(frame).tolist() == Y


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"], ["", "column_1"]])
def test_columns_of_the_same_name_are_refused(names: list[Any]) -> None:
    frame = pd.DataFrame(np.arange(24).reshape(12, 2), columns=names)
    with pytest.raises(ValueError, match="expected each column once, found 2 columns that are"):
        _fit(frame)


REFUSED: dict[str, tuple[Any, str]] = {
    "times of day": (_frame(pd.to_datetime(["2026-01-31 10:30"] * 4)), "'x': expected dates such"),
    "durations": (_frame(pd.to_timedelta([1, 2, 3, 4])), "column 'x': .* dates or times"),
    "periods": (_frame(pd.period_range("2026", periods=4)), "column 'x': .* dates or times"),
    "bytes": (_frame([b"a", b"b"] * 2), "column 'x': .* bytes"),
    "lists": (_frame([[1], [2], "a", "b"], object), "column 'x': .* lists"),
    "arrow lists": (
        _frame([[1], [2]] * 2, pd.ArrowDtype(pyarrow.list_(pyarrow.int64()))),
        "column 'x': .* lists",
    ),
    "complex": (_frame([1j, 2, 3, 4]), "column 'x': .* complex numbers"),
    "some complex": (_frame([1j, "a", 3, 4], object), "column 'x': .* complex numbers"),
    "sNaN": (_frame([Decimal("sNaN"), *map(Decimal, (1, 2, 3))], object), "'x': .* signaling NaN"),
    "inf": (_frame([Decimal("Infinity"), 1, 2, 3], object), "'x': expected finite numbers"),
    "a mask": (np.ma.masked_less(np.arange(12.0).reshape(12, 1), 3), "X: .* masked values"),
    "days": (np.arange(12).astype("M8[D]").reshape(12, 1), "X: .* dates or times"),
    "seconds": (np.arange(12).astype("m8[s]").reshape(12, 1), "X: .* dates or times"),
    "bytes in an array": (np.array([[b"1"], [b"2"]] * 6), "X: .* bytes"),
    "objects": (np.array([[DAY], [1]] * 6, dtype=object), "column 'x0': .* dates or times"),
    "sNaN in an array": (np.array([[Decimal("sNaN")], [1]] * 6), "column 'x0': .* signaling NaN"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("missing", ["error", "keep"])
def test_what_is_no_number_text_or_truth_value_is_refused_by_name(name: str, missing: str) -> None:
    table, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        _fit(table, missing=missing)


@pytest.mark.parametrize("values", [pd.to_datetime([DAY] * 4), pd.to_timedelta([1, 2, 3, 4])])
@pytest.mark.parametrize("fitted", [[1, 2, 3, 4], ["a", "b", "c", "d"], [True, False] * 2])
def test_dates_are_refused_in_new_rows_too(fitted: list[Any], values: Any) -> None:
    rule = _fit(_frame(fitted))
    with pytest.raises(ValueError, match=r"column 'x': .*found"):
        rule.predict(_frame(values))


@pytest.mark.parametrize("what", ["y", "sample_weight"])
def test_a_masked_target_or_weight_is_refused(what: str) -> None:
    masked: Any = np.ma.array(Y, mask=[True] + [False] * 11)
    given = {"y": Y, "sample_weight": None, what: masked}
    with pytest.raises(ValueError, match=f"{what}: expected an array without a mask"):
        FormulaClassifier(length=1).fit(_frame([1, 2, 3, 4]), **given)


@pytest.mark.parametrize("index", [[0] * 12, pd.MultiIndex.from_product([range(3), range(4)])])
def test_the_index_of_a_frame_means_nothing(index: Any) -> None:
    frame = _frame([1, 2, 3, 4]).set_index(pd.Index(index))
    assert _fit(frame).predict(frame).tolist() == Y


def test_messages_about_a_frame_name_what_to_do_in_python() -> None:
    days = [f"2026-01-{day:02}" for day in range(1, 13)]
    with pytest.raises(ValueError, match=r"X\.drop\(columns=\['x'\]\).*'category'") as dates:
        _fit(pd.DataFrame({"x": days}))
    with pytest.raises(ValueError, match=r"X\.drop\(columns=\['x'\]\).*fewer groups") as names:
        _fit(pd.DataFrame({"x": [f"id{row}" for row in range(120)]}), [0, 1] * 60)
    assert "dataset." not in str(dates.value) + str(names.value)
    assert _fit(pd.DataFrame({"x": pd.Categorical(days)})).errors_ > 0


TARGETS: list[tuple[Any, str]] = [
    (["a", None] * 6, "in 6 of 12 rows"),
    (pd.Series(["a", None, "b"] * 4, dtype="string"), "in 4 of 12 rows"),
    (pd.Series([0, 1, None] * 4, dtype="Int64"), "in 4 of 12 rows"),
    ([0.0, np.nan] * 6, "in 6 of 12 rows"),
    (np.array(["a", 1] * 6, dtype=object), "found text and int"),
]


@pytest.mark.parametrize(("target", "message"), TARGETS)
def test_a_target_without_a_class_in_each_row_is_refused(target: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"y: expected .*{message}"):
        _fit(pd.DataFrame({"x": range(12)}), target)


@pytest.mark.parametrize("weight", ["1", None, -1, float("inf"), 1j])
def test_a_class_weight_that_is_no_weight_is_refused(weight: Any) -> None:
    with pytest.raises(ValueError, match="class_weight: expected weights from 0 on, found"):
        _fit(pd.DataFrame({"x": range(12)}), class_weight={0: weight, 1: 5})


def test_parameters_that_are_set_after_a_fit_change_no_prediction() -> None:
    known = pd.DataFrame({"x": [1.0, 1.0, 2.0, 2.0] * 3})
    gaps = pd.DataFrame({"x": [np.nan, 2.0]})
    strict = _fit(known).set_params(missing="keep")
    with pytest.raises(ValueError, match="expected no missing values, found NaN in column 'x'"):
        strict.predict(gaps)
    assert _fit(known, missing="keep").set_params(missing="error").predict(gaps).tolist() == [0, 1]


def test_balanced_classes_that_are_too_large_for_a_proof_are_explained() -> None:
    values = np.arange(9001.0).reshape(-1, 1)
    made = FormulaClassifier(length=1, solver="native", class_weight="balanced")
    with pytest.warns(ConvergenceWarning, match="classes are so large .* costs .* can be proved"):
        made.fit(values, values[:, 0] >= 3599)
    assert not made.proved_
    made.set_params(class_weight={False: 2, True: 3}).fit(values, values[:, 0] >= 3599)
    assert made.proved_
