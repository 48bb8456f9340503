"""Missing values that are kept: from a file or a DataFrame to rules that say `x is missing`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.baselines import tuning
from fsm_hpc.cli.main import main
from fsm_hpc.data.dataset import Dataset, load
from fsm_hpc.data.fold_kind import Folding
from fsm_hpc.data.folds import fold_rows
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import model as model_file
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from tests.support.rules import make_model

HEADER = "age,job,smokes,y"
ROWS = ["30,admin,yes,b", ",admin,no,a", "60,,NA,b", "50,services,no,b", ",services,,a", "7,x,yes,"]


def table(folder: Path, rows: list[str], **settings: Any) -> Dataset:
    path = folder / "t.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    spec = DatasetSpec(
        "t", "y", path=str(path), infer=True, usual_missing_values=("NA",), **settings
    )
    return load(spec, None)


def test_rows_with_missing_values_stay_but_those_without_a_class(tmp_path: Path) -> None:
    kept = table(tmp_path, ROWS, missing="keep")
    assert (kept.rows, kept.dropped_rows) == (5, 1)
    values = {c.name: c.values.tolist() for c in kept.columns}
    assert np.isnan(values["age"]).tolist() == [False, True, False, False, True]
    assert values["age is missing"] == [False, True, False, False, True]
    assert values["job_admin"] == [True, True, False, False, False]
    assert values["job is missing"] == [False, False, True, False, False]
    assert values["smokes"] == [True, False, False, False, False]
    assert values["smokes is missing"] == [False, False, True, False, True]
    (smokes,) = kept.schemas_of({"smokes"})
    assert (smokes.true_values, smokes.false_values) == (("yes",), ("no",))


def test_a_table_without_gaps_is_the_same_however_they_are_taken(tmp_path: Path) -> None:
    whole = [ROWS[0], ROWS[3], "20,admin,yes,a"]
    assert table(tmp_path, whole, missing="keep").digest == table(tmp_path, whole).digest


def test_a_column_without_any_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'age': expected values, found none; leave it out"):
        table(tmp_path, [",admin,yes,a", ",x,no,b"], missing="keep")


def test_a_median_is_that_of_the_values_that_are_there() -> None:
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, 5.0, np.nan]})
    made = FormulaClassifier(method="median", missing="keep", length=1, solver="native")
    made.fit(frame, [0, 0, 0, 1, 0])
    assert str(made.formula_) == "x > 3"


@pytest.mark.parametrize("method", [Method.RANDOM_FOREST, Method.XGBOOST])
def test_baselines_take_them(method: Method, tmp_path: Path) -> None:
    rows = [
        f"{i if i % 3 else ''},{'admin' if i % 2 else ''},yes,{'a' if i % 3 else 'b'}"
        for i in range(60)
    ]
    dataset = table(tmp_path, rows, missing="keep")
    parts = fold_rows(dataset.labels, None, 0, Folding())
    fitted = tuning.fit(
        dataset,
        parts,
        method,
        trials=1,
        seed=1,
        threads=1,
        record=tmp_path / "trials.json",
        stop=threading.Event(),
        on_trial=lambda count, best: None,
    )
    assert fitted is not None
    assert len(fitted.test) == len(parts.test)


# ---------------------------------------------------------------------------------- in Python


def _frame() -> tuple[pd.DataFrame, list[str]]:
    frame = pd.DataFrame(
        {
            "age": [30, np.nan, 60, 50, np.nan, 20],
            "count": pd.array([1, None, 3, 4, 5, None], dtype="Int64"),
            "flag": pd.array([True, None, False, True, None, False], dtype="boolean"),
            "job": ["a", "b", None, "a", "b", "a"],
        }
    )
    return frame, ["no", "yes", "no", "no", "yes", "no"]


def test_missing_values_are_refused_unless_they_are_kept() -> None:
    frame, y = _frame()
    with pytest.raises(ValueError, match="expected no missing values, found NaN in column 'age'"):
        FormulaClassifier().fit(frame, y)
    with pytest.raises(ValueError, match="missing: expected one of error, keep"):
        FormulaClassifier(missing="drop").fit(frame, y)


def test_a_formula_may_say_that_a_value_is_missing(tmp_path: Path) -> None:
    frame, y = _frame()
    made = FormulaClassifier(missing="keep", length=3, solver="native").fit(frame, y)
    assert str(made.formula_) == "age is missing"
    assert made.predict(frame).tolist() == y
    made.save(tmp_path / "model.json")
    again = FormulaClassifier.load(tmp_path / "model.json")
    assert again.predict(frame).tolist() == y
    assert '"age" IS NULL' in again.to_sql()


def test_an_array_may_have_them_too() -> None:
    values = np.array([[1.0, np.nan], [2.0, 1.0], [np.nan, 2.0], [4.0, np.nan]])
    made = FormulaClassifier(missing="keep", length=1, solver="native").fit(values, [1, 0, 0, 1])
    assert str(made.formula_) == "x1 is missing"
    assert made.predict(values).tolist() == [1, 0, 0, 1]


def test_a_column_that_was_whole_may_miss_values_later() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    made = FormulaClassifier(missing="keep", length=2, solver="native").fit(frame, [0, 0, 1, 1])
    assert made.predict(pd.DataFrame({"x": [np.nan, 9.0]})).tolist() == [0, 1]


def test_every_kind_of_column_reads_the_same_from_a_frame_and_in_training() -> None:
    frame, y = _frame()
    made = FormulaClassifier(missing="keep", length=5, solver="native").fit(frame, y)
    (problem,) = made._result.problems.values()
    columns = {c.name: c for c in problem.columns}
    assert columns["flag"].values.tolist() == [True, False, False, True, False, False]
    assert columns["flag is missing"].values.tolist() == [False, True, False, False, True, False]
    assert columns["job is missing"].values.tolist() == [False, False, True, False, False, False]
    assert np.isnan(columns["count"].values).tolist() == [False, True, False, False, False, True]


def test_whole_numbers_that_a_cut_could_not_hold_are_refused() -> None:
    frame = pd.DataFrame({"x": [2**53, 2**53 + 1, 1]})
    with pytest.raises(
        ValueError, match="that a 64-bit float holds exactly, found 9007199254740993"
    ):
        FormulaClassifier().fit(frame, [0, 1, 1])
    exact = pd.DataFrame({"x": [2**53, 2**53 + 2, 2**53 + 4]})
    made = FormulaClassifier(length=1, solver="native").fit(exact, [0, 1, 1])
    assert str(made.formula_) == "x >= 9007199254740994.0"
    assert made.predict(exact).tolist() == [0, 1, 1]


# ------------------------------------------------------------------------------- what is said


def test_the_negation_of_a_comparison_holds_where_the_value_is_missing() -> None:
    formula = parse("not x >= 3")
    assert formula.evaluate({"x": np.array([1.0, 4.0, np.nan])}).tolist() == [True, False, True]


@pytest.mark.parametrize("text", ["x is missing", "not `is` is missing", "`a b` is missing or is"])
def test_it_reads_back(text: str) -> None:
    assert str(parse(text)).replace("`is`", "is") == text.replace("`is`", "is")
    assert parse(str(parse(text))) == parse(text)


def test_words_do_not_call_a_missing_value_small() -> None:
    model = make_model(
        parse("not x >= 3"), [ColumnSchema("x", KindName.NUMERIC, keeps_missing=True)]
    )
    assert model.words == "Predict y = yes when x is not at least 3; otherwise y = no."
    plain = make_model(parse("not x >= 3"), [ColumnSchema("x", KindName.NUMERIC)])
    assert plain.words == "Predict y = yes when x is below 3; otherwise y = no."


def test_a_rule_is_fitted_applied_and_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{'' if i % 3 == 0 else i},admin,no,{'a' if i % 3 == 0 else 'b'}" for i in range(30)]
    Path("t.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    words = ["dataset=csv", "dataset.path=t.csv", "dataset.target=y", "dataset.positive=a"]
    options = ["method=pivot", "dataset.missing=keep", "fit.folds=0", "scan.max_length=2"]
    assert main(["fit", *words, *options, "solver=native", "out=rule"]) == 0
    model = model_file.load(Path("rule/model.json"))
    assert str(model.formula) == "age is missing"
    capsys.readouterr()
    assert main(["predict", "rule/model.json", "t.csv", "--out", "out.csv"]) == 0
    told = pd.read_csv("out.csv")
    assert told["prediction"].tolist() == told["y"].tolist()
    assert main(["predict", "rule/model.json", "t.csv", "--out", "out.parquet"]) == 0
    assert pd.read_parquet("out.parquet")["prediction"].tolist() == told["y"].tolist()
    assert main(["explain", "rule/model.json", "--row", "1"]) == 0
    assert "age is missing" in capsys.readouterr().out


def test_problems_know_which_rows_no_cut_reaches(tmp_path: Path) -> None:
    dataset = table(tmp_path, ROWS, missing="keep")
    problem = Problem.build(dataset.columns, dataset.labels, Method.INTERVAL)
    (age,) = problem.numerics
    assert age.ranks.tolist() == [0, -1, 2, 1, -1]
    assert problem.admits(parse("30 <= age <= 60 and age is missing"))
    assert not problem.admits(parse("y is missing"))
