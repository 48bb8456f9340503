"""The same typed table gives the same problem, formula and predictions from every source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.columns import Column
from fsm_hpc.data.dataset import load
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.models.frames import columns_of, schemas_of
from fsm_hpc.models.predict import predict
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from tests.support.tables import MORE_NAMES, NAMES, own_table
from tests.support.typed_tables import FORMATS, TypedTable, hostile, shipped

FAST = ("heart_disease", "fertility", 1, 2, 3, 4, 5)
SLOW = tuple(name for name in (*NAMES, *MORE_NAMES, *range(1, 51)) if name not in FAST)
LENGTH = 2


@pytest.fixture(params=[*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> TypedTable:
    name = request.param
    return shipped(name) if isinstance(name, str) else hostile(name, tmp_path)


def _seen(columns: Sequence[Column]) -> dict[str, list[float]]:
    return {column.name: column.values.astype(np.float64).tolist() for column in columns}


def _formula(columns: Sequence[Column], labels: Any) -> tuple[str, int]:
    problem = Problem.build(columns, labels, Method.PIVOT)
    outcome = Native(threads=1).solve(problem, LENGTH, Incumbent(), Control())
    assert outcome.formula is not None
    return str(outcome.formula), problem.errors(outcome.formula)


def test_every_source_gives_the_same_formula_errors_and_predictions(
    table: TypedTable, tmp_path: Path
) -> None:
    paths = [tmp_path / f"typed.{form}" for form in FORMATS]
    files = [load(table.write(path), None) for path in paths]
    frames: list[Any] = [table.frame, table.polars]
    kinds = table.feature_types
    problems = [_seen(dataset.columns) for dataset in files]
    problems += [_seen(columns_of(X, schemas_of(X, False, kinds))) for X in frames]
    assert all(problem == problems[0] for problem in problems)
    made = FormulaClassifier(length=LENGTH, solver="native", n_jobs=1, feature_types=kinds)
    rules = [made.fit(X, table.labels).model_.rules[0] for X in frames]
    expected = {(str(rule.formula), rule.errors) for rule in rules}
    assert {_formula(dataset.columns, table.labels) for dataset in files} == expected
    answers = [made.predict(X).tolist() for X in frames]
    spec = DatasetSpec("new", "")
    for path in paths:
        predicted = predict(made.model_, str(path), spec).table["prediction"].to_pylist()
        answers.append(predicted)
    assert all(answer == answers[0] for answer in answers)


KINDS: dict[str, dict[str, Any]] = {
    "yes and no": {"x": ["yes", "no", "No", "yes"]},
    "0 and 1": {"x": [0, 1, 1, 0]},
    "truth values": {"x": [True, False, False, True]},
    "numbers": {"x": [1.5, 2.0, 3.0, 4.0]},
    "codes": {"x": ["01234", "21234", "01234", "11234"]},
    "texts": {"x": ["a", "b", "a", "c"]},
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_inferred_alike_from_every_source(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(KINDS[name])
    typed = TypedTable(frame, DatasetSpec("t", "y", infer=True), np.array([True, False] * 2))
    found = {load(typed.write(tmp_path / f"t.{form}"), None).schemas[0].kind for form in FORMATS}
    tables = (frame, pl.from_pandas(frame), pyarrow.Table.from_pandas(frame))
    found |= {schemas_of(X)[0].kind for X in tables}
    assert len(found) == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many texts": ({"x": [f"id{n}" for n in range(120)]}, "at most 100 categories, found 120"),
    "infinity": ({"x": [1.0, np.inf] * 60}, "expected finite numbers, found 'inf' in row 2"),
    "large": ({"x": [2**53 + 1, 1] * 60}, f"holds exactly, found {2**53 + 1} in row 1"),
    "days as text": ({"x": ["1.2.2024", "3.4.2024"] * 60}, r"dates or times as text \('1.2.2024'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_same_error_is_reported_from_every_typed_source(name: str, tmp_path: Path) -> None:
    columns, message = WRONG[name]
    frame = pd.DataFrame(columns)
    y = [0, 1] * 60
    frame.assign(y=y).to_parquet(tmp_path / "in.parquet")
    with pytest.raises(UserError, match=message):
        own_table(tmp_path, (tmp_path / "in.parquet").read_bytes())
    for table in (frame, pl.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=message) as refused:
            FormulaClassifier(length=1, solver="native").fit(table, y)
        assert "dataset." not in str(refused.value)


def test_ordered_categories_have_thresholds_from_every_source(tmp_path: Path) -> None:
    order, y = ["small", "medium", "large"], [0, 1, 1, 0, 1, 0]
    sizes = ["small", "medium", "large", "small", "large", "small"]
    frame = pd.DataFrame({"size": pd.Categorical(sizes, categories=order, ordered=True)})
    frame.assign(y=y).to_parquet(tmp_path / "in.parquet")
    text = "size,y\n" + "".join(f"{size},{label}\n" for size, label in zip(sizes, y, strict=True))
    files = [
        own_table(tmp_path, (tmp_path / "in.parquet").read_bytes()),
        own_table(tmp_path, text, ordered={"size": order}),
    ]
    plain = pl.DataFrame({"size": sizes})
    rules = [
        FormulaClassifier(length=1, solver="native").fit(frame, y),
        FormulaClassifier(length=1, solver="native").fit(plain.cast(pl.Enum(order)), y),
        FormulaClassifier(length=1, solver="native", feature_types={"size": order}).fit(plain, y),
    ]
    assert {str(rule.formula_) for rule in rules} == {"`size >= medium`"}
    assert len({dataset.digest for dataset in files}) == 1
    assert [c.name for c in files[0].columns] == ["size >= medium", "size >= large"]
    assert "when size is at least medium;" in rules[0].model_.words
    assert all(rule.predict(plain).tolist() == y for rule in rules)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"z": "numeric"}, "feature_types: expected a column of X, found 'z'"),
        ({"x": "number"}, "feature_types: expected one of numeric, boolean, .*found 'number'"),
        ({"x": ["a", "b"]}, "expected one of the ordered categories a, b, found"),
    ],
)
def test_wrong_feature_types_are_refused(types: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FormulaClassifier(feature_types=types).fit(pd.DataFrame({"x": ["a", "c"]}), [0, 1])


def test_feature_types_give_the_kind_as_settings_do(tmp_path: Path) -> None:
    dataset = own_table(tmp_path, "x,y\n1,0\n2,1\n3,1\n", categorical=("x",))
    (schema,) = schemas_of(pd.DataFrame({"x": [1, 2, 3]}), False, {"x": "categorical"})
    assert (schema.kind, schema.categories) == (dataset.schemas[0].kind, ("1", "2", "3"))
    assert dataset.schemas[0].categories == schema.categories
