"""Rules under constraints: fit, model.json, card, text, the estimator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc import FormulaClassifier
from fsm_hpc.cli.main import main
from fsm_hpc.errors import UserError
from fsm_hpc.models import model as model_file
from fsm_hpc.models.exporters import export

SAID = "require age; min_support 10"


def table(rows: int = 80) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(2)
    age, pay = rng.integers(18, 70, rows), rng.integers(0, 30, rows)
    job = rng.choice(["admin", "student", "other"], rows)
    wanted = (age >= 40) ^ (rng.random(rows) < 0.15)
    return pd.DataFrame({"age": age, "pay": pay, "job": job}), wanted


def fitted(**asked: Any) -> FormulaClassifier:
    made = FormulaClassifier(solver="native", cv=2, max_length=4, n_jobs=1, **asked)
    return made.fit(*table())


def columns_of(made: FormulaClassifier) -> set[str]:
    return {p.column for p in made.formula_.propositions()}


def test_the_estimator_finds_what_is_asked_for(tmp_path: Path) -> None:
    free, asked = fitted(), fitted(require=["pay"], forbid=["job"], min_support=10, max_columns=2)
    assert columns_of(free) == {"age"}
    assert {"pay"} <= columns_of(asked) <= {"age", "pay"}
    named = {"require": ["pay"], "forbid": ["job"], "min_support": 10, "max_columns": 2}
    assert asked.model_.constraints == named
    assert free.model_.constraints == {}
    asked.save(tmp_path / "model.json")
    loaded = FormulaClassifier.load(tmp_path / "model.json")
    parameters = loaded.get_params()
    assert {key: parameters[key] for key in named} == named


def test_a_category_by_name() -> None:
    made = fitted(require=["job_student"], decreasing=["job_student"])
    assert "job_student" in columns_of(made)
    assert "not job_student" in str(made.formula_)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"require": ["age"], "forbid": ["age"]}, "^require and forbid both name 'age'"),
        ({"min_support": -1}, "^min_support: expected a whole number from 0 on"),
        ({"require": ["agee"]}, "require: no column is called 'agee'"),
        ({"increasing": ["age"], "method": "interval"}, "increasing: 'age' is numeric"),
        ({"require": ["age", "pay"], "length": 2}, "the shortest has size 3"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        fitted(**asked)


def test_several_classes_meet_the_same_constraints() -> None:
    frame, _ = table()
    target = np.digitize(frame["age"], [30, 50])
    made = FormulaClassifier(solver="native", length=3, n_jobs=1, forbid=["job"], require=["pay"])
    made.fit(frame, target)
    for rule in made.rules_:
        assert "pay" in {p.column for p in rule.formula.propositions()}
    assert made.model_.constraints == {"require": ["pay"], "forbid": ["job"]}


def test_a_rule_says_what_it_meets_wherever_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "rule"
    words = ["rule.require=[age]", "rule.min_support=10", "scan.max_length=3", "fit.folds=0"]
    assert main(["fit", "dataset=hepatitis", "method=pivot", f"out={place}", *words]) == 0
    assert f"meets    {SAID}" in capsys.readouterr().out
    model = model_file.load(place / "model.json")
    assert model.constraints == {"require": ["age"], "min_support": 10}
    assert model.settings["require"] == ["age"]
    card = (place / "model.html").read_text(encoding="utf-8")
    assert f"Constraints that it meets: {SAID}." in card
    assert "no formula of size 3 or less that meets the constraints makes fewer" in card
    assert f"meets    {SAID}" in export(model, "text")
    assert main(["alternatives", str(place / "model.json"), "slack=1"]) != 0
    assert "was fitted with require=" in "".join(capsys.readouterr())


@pytest.mark.parametrize("wrong", [{"requires": ["pay"]}, {"require": 3}, {"max_columns": 0}, []])
def test_a_file_that_says_something_else_is_not_understood(tmp_path: Path, wrong: object) -> None:
    made = fitted(require=["pay"])
    place = tmp_path / "model.json"
    made.save(place)
    saved = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(saved | {"constraints": wrong}), encoding="utf-8")
    with pytest.raises(UserError, match="is invalid"):
        FormulaClassifier.load(place)
