"""A rule in ONNX and in PMML says what the formula says, in engines that run such files."""

from __future__ import annotations

import builtins
import datetime
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.cli.main import main
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.formula import Atom, Proposition, missing_name
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.exporters import export
from fsm_hpc.models.exporters.conditions import plain
from fsm_hpc.models.model import Model, save
from tests.models.test_exporters import CASES
from tests.support.rules import Case, make_model

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
NUMBERS = (KindName.NUMERIC, KindName.DATE)
EPOCH = datetime.date(1970, 1, 1)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def _text(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, str) else str(cell).lower()


def in_onnxruntime(model: Model, table: dict[str, list[Any]]) -> list[Any]:
    from onnxruntime import InferenceSession

    inputs = {}
    for source in model.sources:
        cells = table[source.name]
        if source.kind in NUMBERS:
            numbers = [np.nan if cell is None else float(cell) for cell in cells]
            inputs[source.name] = np.array(numbers)[:, None]
            continue
        inputs[source.name] = np.array([_text(cell) or "" for cell in cells], object)[:, None]
        if source.keeps_missing:
            inputs[missing_name(source.name)] = np.array([cell is None for cell in cells])[:, None]
    (found,) = InferenceSession(export(model, "onnx")).run(None, inputs)
    answers: list[Any] = found[:, 0].tolist()
    return answers


def in_pmml4s(model: Model, table: dict[str, list[Any]]) -> list[Any]:
    from pypmml import Model as Engine

    engine = Engine.fromString(export(model, "pmml"))
    columns = {
        source.name: [
            None if c is None else float(c) if source.kind in NUMBERS else _text(c)
            for c in table[source.name]
        ]
        for source in model.sources
    }
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return [engine.predict(row)[f"predicted_{model.target}"] for row in rows]


def test_onnxruntime_says_what_the_formula_says(case: Case) -> None:
    assert in_onnxruntime(case.model, case.table) == list(map(plain, case.expected))


@pytest.mark.slow
@needs_java
def test_a_pmml_engine_says_what_the_formula_says(case: Case) -> None:
    assert in_pmml4s(case.model, case.table) == list(map(plain, case.expected))


ENGINES = [
    in_onnxruntime,
    pytest.param(in_pmml4s, marks=[pytest.mark.slow, needs_java]),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_know_more_than_two_classes(engine: Callable[..., list[Any]]) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 5, "c": list("aabbcc") * 5})
    y = ["low", "low", "mid", "mid", "high", "high"] * 5
    fitted = FormulaClassifier(length=3, solver="native", n_jobs=1).fit(frame, y)
    assert engine(fitted.model_, frame.to_dict("list")) == fitted.predict(frame).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "formula",
    [
        "joined >= 2021-03-04",
        "joined > 2021-03-04T12:00:00",
        "2021-03-02T12:00:00 <= joined <= 2021-03-04T12:00:00",
    ],
)
def test_engines_compare_dates(engine: Callable[..., list[Any]], formula: str) -> None:
    model = make_model(parse(formula), [ColumnSchema("joined", KindName.DATE)])
    dates = [datetime.date(2021, 3, 1) + datetime.timedelta(days) for days in range(8)]
    days = [(date - EPOCH).days for date in dates]
    expected = model.answers(model.formula.evaluate({"joined": np.array(days)})).tolist()
    assert engine(model, {"joined": days}) == expected


@pytest.mark.slow
@needs_java
def test_a_pmml_engine_has_no_answer_without_a_value() -> None:
    model = make_model(parse("age >= 40"), [ColumnSchema("age", KindName.NUMERIC)])
    assert in_pmml4s(model, {"age": [None, 50]}) == [None, "yes"]


def test_text_that_no_xml_can_hold_is_refused() -> None:
    source = ColumnSchema("job", KindName.CATEGORICAL, ("a\x01", "b"))
    model = make_model(Atom(Proposition("job_a\x01")), [source])
    with pytest.raises(UserError, match="expected text without control characters"):
        export(model, "pmml")


def test_without_the_package_onnx_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_onnx(name: str, *rest: Any, **more: Any) -> Any:
        if name == "onnx":
            raise ImportError("No module named 'onnx'")
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    model = make_model(parse("age >= 40"), [ColumnSchema("age", KindName.NUMERIC)])
    with pytest.raises(UserError, match=r"needs onnx; run `pip install \"fsm_hpc\[onnx\]\"`"):
        export(model, "onnx")


def test_the_command_writes_the_bytes_of_onnx(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    model = make_model(parse("age >= 40"), [ColumnSchema("age", KindName.NUMERIC)])
    save(tmp_path / "model.json", model)
    with capfdbinary.disabled(), (tmp_path / "rule.onnx").open("w") as stream:
        before, sys.stdout = sys.stdout, stream
        try:
            assert main(["export", str(tmp_path), "--to", "onnx"]) == 0
        finally:
            sys.stdout = before
    assert (tmp_path / "rule.onnx").read_bytes() == export(model, "onnx")
