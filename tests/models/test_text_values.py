"""A text is compared as it is, in the estimator, in `predict` and in exported code."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.exporters import export
from fsm_hpc.models.model import Model
from fsm_hpc.models.predict import predict
from tests.support.rules import make_model

TEXTS = ("", " ", " a", "a", "a ", "\ta", "A")
MISSING = (*TEXTS, None)
WORDS = DatasetSpec("new rows", "", usual_missing_values=("NA", "?"))


def _rule(category: str) -> Model:
    source = ColumnSchema("x", KindName.CATEGORICAL, TEXTS, keeps_missing=True)
    return make_model(Atom(Proposition(f"x_{category}")), [source])


def _expected(category: str) -> list[str]:
    return ["yes" if text == category else "no" for text in MISSING]


@pytest.mark.parametrize("category", TEXTS)
def test_exported_python_compares_texts_as_they_are(category: str) -> None:
    names: dict[str, Any] = {}
    exec(export(_rule(category), "python"), names)
    assert [names["predict"]({"x": text}) for text in MISSING] == _expected(category)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_exported_javascript_compares_texts_as_they_are() -> None:
    script = "console.log(JSON.stringify([" + ",".join(map(_asked, TEXTS)) + "]))"
    run = subprocess.run(["node", "-e", script], capture_output=True, check=True, timeout=60)
    assert json.loads(run.stdout) == [_expected(category) for category in TEXTS]


def _asked(category: str) -> str:
    code = export(_rule(category), "javascript").split("\nif (typeof module")[0]
    return f"(() => {{{code}\nreturn {json.dumps(MISSING)}.map((x) => predict({{x}}))}})()"


@pytest.mark.parametrize("category", TEXTS)
def test_exported_sql_compares_texts_as_they_are(category: str) -> None:
    query = f"SELECT {export(_rule(category), 'sql')} FROM t"
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (x TEXT)")
        database.executemany("INSERT INTO t VALUES (?)", [(text,) for text in MISSING])
        assert [answer for (answer,) in database.execute(query)] == _expected(category)
    with duckdb.connect() as duck:
        duck.register("t", pd.DataFrame({"x": MISSING}))
        assert [answer for (answer,) in duck.execute(query).fetchall()] == _expected(category)


@pytest.mark.parametrize("category", TEXTS)
def test_a_table_with_types_is_predicted_by_its_texts_as_they_are(
    tmp_path: Path, category: str
) -> None:
    path = tmp_path / "new.parquet"
    pd.DataFrame({"x": MISSING}).to_parquet(path)
    rows = predict(_rule(category), str(path), WORDS).rows
    assert [row[1] for row in rows] == _expected(category)


def test_cells_of_csv_are_stripped_and_empty_ones_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text('x,z\n a ,0\n"\ta",0\n"",0\n" ",0\nNA,0\nA,0\n')
    rows = predict(_rule("a"), str(path), WORDS).rows
    assert [row[2] for row in rows] == ["yes", "yes", "no", "no", "no", "no"]


def test_missing_numbers_are_found_in_new_rows_as_they_were_in_fitted_ones(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("x,z\n-999,1\n-999.0,1\n5,0\n5,0.00\n5,1\n")
    sources = [ColumnSchema(name, KindName.NUMERIC) for name in ("x", "z")]
    rule = make_model(Atom(Proposition.at_least("x", 1)), sources)
    rule.reading.update(missing_values=["-999"], zero_is_missing=["z"])
    rows = predict(rule, str(path), WORDS).rows
    assert [row[2] for row in rows] == [None, None, None, None, "yes"]


@pytest.mark.parametrize("words", [(), ("yes", "no"), ("ja", "nein")])
@pytest.mark.parametrize("truths", [[True, False], ["true", "false"], [1, 0], ["1", "0"]])
def test_truth_values_may_be_stored_as_exported_rules_take_them(
    words: tuple[str, ...], truths: list[Any]
) -> None:
    source = ColumnSchema("x", KindName.BOOLEAN, (), words[:1], words[1:])
    rule = make_model(Atom(Proposition("x")), [source])
    truth, _ = rule.read({"x": np.array(truths)}, 2)
    names: dict[str, Any] = {}
    exec(export(rule, "python"), names)
    assert truth.tolist() == [True, False]
    assert [names["predict"]({"x": value}) for value in truths] == ["yes", "no"]


STORED: list[tuple[tuple[str, ...], list[Any]]] = [
    (("2.0", "1.0"), [2, 1]),
    (("2.0", "1.0"), ["2", "1"]),
    (("2", "1"), [2.0, 1.0]),
    (("True", "False"), ["true", "false"]),
    (("True", "False"), [True, False]),
    (("true", "false"), [True, False]),
    (("True", "TRUE"), ["true", "TRUE"]),
    (("1", "1.0"), ["1.0", "1"]),
    (("02", "2"), ["2", "02"]),
]


@pytest.mark.parametrize(("categories", "cells"), STORED)
def test_categories_may_be_stored_as_exported_rules_take_them(
    categories: tuple[str, ...], cells: list[Any]
) -> None:
    source = ColumnSchema("x", KindName.CATEGORICAL, categories)
    rule = make_model(Atom(Proposition(f"x_{categories[0]}")), [source])
    truth, _ = rule.read({"x": np.array(cells, dtype=object)}, 2)
    names: dict[str, Any] = {}
    exec(export(rule, "python"), names)
    assert rule.answers(truth).tolist() == [names["predict"]({"x": cell}) for cell in cells]


def test_predict_names_the_texts_that_it_read_as_missing(tmp_path: Path) -> None:
    rule = make_model(parse("x >= 2"), [ColumnSchema("x", KindName.NUMERIC)])
    (tmp_path / "new.csv").write_text("x,z\n1,NA\nNA,1\n?,1\nNA,1\n,1\n3,1\n")
    notes = predict(rule, str(tmp_path / "new.csv"), WORDS).notes
    assert "read as missing: 'NA' in x (2), '?' in x (1)" in notes[0]
    assert notes[1:] == ("column 'x': no value in 4 rows", "no prediction for 4 of 6 rows")


def test_a_category_that_cannot_be_seen_is_quoted_in_words() -> None:
    assert 'when x is " a"; otherwise' in _rule(" a").words
    assert 'when x is ""; otherwise' in _rule("").words


@pytest.mark.parametrize("category", TEXTS)
def test_an_estimator_tells_texts_apart_that_differ_by_whitespace(category: str) -> None:
    frame = pd.DataFrame({"x": [*MISSING, *MISSING]})
    y = np.array([text == category for text in frame["x"]])
    rule = FormulaClassifier(length=1, missing="keep", solver="native").fit(frame, y)
    assert (rule.errors_, rule.predict(frame).tolist()) == (0, y.tolist())
    assert str(rule.formula_) == str(Proposition(f"x_{category}"))
