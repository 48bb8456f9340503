"""A date is a number of days to a solver, and a date in formulas, files and exported code."""

from __future__ import annotations

import datetime
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds.date import Day
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models.exporters import export
from fsm_hpc.models.predict import predict
from tests.support.tables import own_table

DAYS = [datetime.date(2021, 3, 1) + datetime.timedelta(days) for days in range(12)]
Y = [int(day >= datetime.date(2021, 3, 4)) for day in DAYS]
TEXTS = [day.isoformat() for day in DAYS]


def _fitted(table: Any, **parameters: Any) -> FormulaClassifier:
    return FormulaClassifier(length=1, solver="native", **parameters).fit(table, Y)


FRAMES: dict[str, Any] = {
    "objects": pd.DataFrame({"joined": pd.Series(DAYS, dtype=object)}),
    "pandas": pd.DataFrame({"joined": pd.to_datetime(TEXTS)}),
    "a time zone": pd.DataFrame({"joined": pd.to_datetime(TEXTS).tz_localize("Europe/Berlin")}),
    "arrow in pandas": pd.DataFrame({"joined": pd.Series(DAYS, dtype="date32[pyarrow]")}),
    "polars": pl.DataFrame({"joined": DAYS}),
    "polars moments": pl.DataFrame({"joined": DAYS}).cast(pl.Datetime),
    "pyarrow": pyarrow.table({"joined": DAYS}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_rule_shows_the_date_whatever_the_frame(name: str, tmp_path: Path) -> None:
    rule = _fitted(FRAMES[name])
    assert str(rule.formula_) == "joined >= 2021-03-04"
    assert rule.predict(FRAMES[name]).tolist() == Y
    rule.save(tmp_path / "model.json")
    loaded = FormulaClassifier.load(tmp_path / "model.json")
    assert str(loaded.formula_) == "joined >= 2021-03-04"
    assert loaded.predict(FRAMES["polars"]).tolist() == Y


def test_a_file_and_a_frame_give_the_same_problem(tmp_path: Path) -> None:
    text = "joined,y\n" + "".join(f"{day},{y}\n" for day, y in zip(TEXTS, Y, strict=True))
    frame = pd.DataFrame({"joined": pd.to_datetime(TEXTS), "y": Y})
    frame.to_parquet(tmp_path / "in.parquet")
    frame.to_excel(tmp_path / "in.xlsx", index=False)
    tables = [
        own_table(tmp_path, text),
        own_table(tmp_path, (tmp_path / "in.parquet").read_bytes()),
        own_table(tmp_path, (tmp_path / "in.xlsx").read_bytes()),
    ]
    assert {table.schemas[0].kind for table in tables} == {KindName.DATE}
    assert len({table.digest for table in tables}) == 1
    assert "date: joined" in tables[0].notes


@pytest.mark.parametrize(
    "text",
    [
        "joined >= 2021-03-04",
        "2021-03-04 <= joined <= 2021-04-01",
        "joined > 2021-03-04T12:00:00",
        "not (joined >= 1969-12-31 or x >= 2021)",
    ],
)
def test_a_formula_with_dates_reads_back(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize("method", ["median", "interval"])
@pytest.mark.parametrize("cuts", ["observed", "midpoints", "rounded"])
def test_every_threshold_is_written_as_a_date(method: str, cuts: str) -> None:
    rule = _fitted(FRAMES["pandas"], method=method, cuts=cuts)
    (proposition,) = rule.formula_.propositions()
    assert all(text.startswith("2021-03-") for text in proposition.thresholds)
    days = np.array(DAYS, dtype="M8[D]").astype(int)
    printed = parse(str(rule.formula_)).evaluate({"joined": days})
    assert rule.predict(FRAMES["pandas"]).tolist() == printed.astype(int).tolist()


def test_words_name_the_date() -> None:
    assert "when joined is at least 2021-03-04;" in export(_fitted(FRAMES["pandas"]).model_, "text")


@pytest.mark.parametrize("value", [TEXTS, DAYS, [f"{text} 00:00:00" for text in TEXTS]])
def test_exported_python_compares_dates(value: list[Any]) -> None:
    names: dict[str, Any] = {}
    exec(export(_fitted(FRAMES["pandas"]).model_, "python"), names)
    assert [names["predict"]({"joined": day}) for day in value] == Y
    with pytest.raises(ValueError, match=r"expected a date, found '4\.3\.2021'"):
        names["predict"]({"joined": "4.3.2021"})


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_exported_javascript_compares_dates() -> None:
    code = export(_fitted(FRAMES["pandas"]).model_, "javascript").split("\nif (typeof module")[0]
    rows = json.dumps(TEXTS)
    script = f"{code}\nconst told = {rows}.map((joined) => predict({{joined}}));"
    script += f"const dates = {rows}.map((t) => predict({{joined: new Date(t + 'T00:00:00')}}));"
    script += "console.log(JSON.stringify([told, dates]))"
    run = subprocess.run(["node", "-e", script], capture_output=True, check=True, timeout=60)
    assert json.loads(run.stdout) == [Y, Y]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
@pytest.mark.parametrize("missing", ["error", "keep"])
@pytest.mark.parametrize("joined", ["texts", "as.Date(texts)", "as.POSIXct(texts, tz = 'UTC')"])
def test_exported_r_compares_dates(missing: str, joined: str) -> None:
    code = export(_fitted(FRAMES["pandas"], missing=missing).model_, "r")
    texts = ", ".join(f"'{text}'" for text in TEXTS)
    script = f"{code}\ntexts <- c({texts}, NA)\ncat(predict_rule(list(joined = {joined})))"
    run = subprocess.run(
        ["Rscript", "--vanilla", "-e", script], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [*map(str, Y), "NA" if missing == "error" else "0"]


@pytest.mark.parametrize("missing", ["error", "keep"])
def test_exported_sql_compares_dates(missing: str) -> None:
    rule = _fitted(FRAMES["pandas"], missing=missing)
    query = f"SELECT {export(rule.model_, 'sql')} FROM t"
    none = None if missing == "error" else 0
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (joined TEXT)")
        database.executemany("INSERT INTO t VALUES (?)", [(text,) for text in [*TEXTS, None]])
        assert [answer for (answer,) in database.execute(query)] == [*Y, none]
    with duckdb.connect() as duck:
        duck.register("t", pyarrow.table({"joined": [*DAYS, None]}))
        assert [answer for (answer,) in duck.execute(query).fetchall()] == [*Y, none]


def test_exported_json_and_excel_have_the_date() -> None:
    model = _fitted(FRAMES["pandas"]).model_
    assert json.loads(export(model, "json"))["formula"] == {"column": "joined", ">=": "2021-03-04"}
    assert "DATE(2021,3,4)" in export(model, "excel")


def test_a_rule_about_dates_predicts_the_rows_of_files(tmp_path: Path) -> None:
    rule = _fitted(FRAMES["pandas"]).model_
    FRAMES["pandas"].to_csv(tmp_path / "new.csv", index=False)
    FRAMES["pandas"].to_parquet(tmp_path / "new.parquet")
    for name in ("new.csv", "new.parquet"):
        rows = predict(rule, str(tmp_path / name), DatasetSpec("new", "")).rows
        assert [row[1] for row in rows] == Y


def test_missing_dates_are_kept_and_can_be_asked_for() -> None:
    frame = pl.DataFrame({"joined": [*DAYS[:6], *[None] * 6]})
    rule = FormulaClassifier(length=1, solver="native", missing="keep")
    rule.fit(frame, [0] * 6 + [1] * 6)
    assert str(rule.formula_) == "joined is missing"


def test_a_half_day_is_written_with_its_time() -> None:
    assert Day(18690.5).written() == "2021-03-04T12:00:00"
    assert Day.parse("2021-03-04T12:00:00") == 18690.5
