"""More than two classes: a formula for each against the rest, the surest asked first."""

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
from sklearn.datasets import load_iris

from fsm_hpc import FormulaClassifier, explain_model
from fsm_hpc.cli.main import main
from fsm_hpc.errors import UserError
from fsm_hpc.models import combine
from fsm_hpc.models import model as model_file
from fsm_hpc.models.card import page
from fsm_hpc.models.exporters import FORMATS, export
from fsm_hpc.search.objective import Objective, ObjectiveName
from tests.support.command_line import run_command


def _iris() -> tuple[pd.DataFrame, pd.Series[str]]:
    loaded: Any = load_iris(as_frame=True)
    names = [name.partition(" (")[0] for name in loaded.data.columns]
    frame = loaded.data.set_axis(names, axis=1)
    return frame, pd.Series(loaded.target_names[loaded.target], name="species")


@pytest.fixture(scope="module")
def iris() -> FormulaClassifier:
    frame, species = _iris()
    made = FormulaClassifier(solver="native", length=4, n_jobs=1)
    return made.fit(frame, species)


def test_each_class_has_a_formula_against_the_rest(iris: FormulaClassifier) -> None:
    assert {rule.prediction for rule in iris.rules_} == {"setosa", "versicolor", "virginica"}
    frame, species = _iris()
    for rule in iris.model_.rules:
        wrong = rule.formula.evaluate(dict(frame)) != (species == rule.prediction).to_numpy()
        assert rule.errors == wrong.sum()
        assert rule.proved
    assert iris.errors_ == (iris.predict(frame) != species).sum()
    assert iris.score(frame, species) > 0.95


def test_the_first_formula_that_holds_is_the_answer(iris: FormulaClassifier) -> None:
    frame, _ = _iris()
    made = iris.model_
    said = [made.otherwise] * len(frame)
    for rule in reversed(made.rules):
        truth = rule.formula.evaluate(dict(frame))
        said = [rule.prediction if t else s for t, s in zip(truth, said, strict=True)]
    assert iris.predict(frame).tolist() == said
    shares = [rule.precision for rule in made.rules]
    assert shares == sorted(shares, reverse=True)


def test_the_predicted_class_is_the_likeliest(iris: FormulaClassifier) -> None:
    frame, _ = _iris()
    shares = iris.predict_proba(frame)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (iris.classes_[shares.argmax(axis=1)] == iris.predict(frame)).all()


def test_where_no_formula_holds_the_most_frequent_of_such_rows_is_said() -> None:
    values = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [5.0], [5.0]])
    labels = np.array([0, 1, 0, 2, 0, 1, 2, 1])
    made = FormulaClassifier(solver="native", length=1, n_jobs=1).fit(values, labels)
    truths = [rule.formula.evaluate({"x0": values[:, 0]}) for rule in made.model_.rules]
    left = ~np.logical_or.reduce(truths)
    assert left.any()
    counts = np.bincount(labels[left], minlength=3)
    assert counts[int(made.model_.otherwise)] == counts.max()


def test_rules_of_several_classes_are_saved_and_loaded(
    iris: FormulaClassifier, tmp_path: Path
) -> None:
    frame, _ = _iris()
    iris.save(tmp_path / "model.json")
    again = FormulaClassifier.load(tmp_path / "model.json")
    assert again.model_ == iris.model_
    assert (again.predict(frame) == iris.predict(frame)).all()
    saved = json.loads((tmp_path / "model.json").read_text())
    two: list[dict[str, Any]] = [{"rules": []}, {"rules": saved["rules"][:2]}]
    for damage in (*two, {"otherwise": "rosa"}, {"class_shares": []}):
        (tmp_path / "bad.json").write_text(json.dumps(saved | damage))
        with pytest.raises(UserError, match=r"bad\.json"):
            model_file.load(tmp_path / "bad.json")


def test_every_export_says_what_the_model_says(iris: FormulaClassifier) -> None:
    frame, _ = _iris()
    expected = iris.predict(frame).tolist()
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        found = database.execute(f"SELECT {iris.to_sql()} FROM t").fetchall()
    assert [answer for (answer,) in found] == expected
    with duckdb.connect() as other:
        other.register("t", frame)
        found = other.execute(f"SELECT {iris.to_sql()} FROM t").fetchall()
    assert [answer for (answer,) in found] == expected
    names: dict[str, Any] = {}
    exec(iris.to_python(), names)
    rows = frame.to_dict("records")
    assert [names["predict"](row) for row in rows] == expected
    assert iris.export("excel").count("IF(") >= 3
    tree = json.loads(export(iris.model_, "json"))
    assert [one["class"] for one in tree["rules"]] == [rule.prediction for rule in iris.rules_]
    assert all(export(iris.model_, language) for language in FORMATS)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed (Debian: nodejs)")
def test_node_says_what_the_model_says(iris: FormulaClassifier) -> None:
    frame, _ = _iris()
    rows = json.dumps(frame.to_dict("records"))
    asked = f"{iris.export('javascript')}\nconsole.log(JSON.stringify({rows}.map(predict)))"
    said = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == iris.predict(frame).tolist()


def test_the_card_is_honest_about_what_is_proved(iris: FormulaClassifier) -> None:
    shown = page(iris.model_)
    assert "3 classes, a rule for each" in shown
    assert "Proofs are of each formula, not of all together" in shown
    assert iris._repr_html_()


def test_the_time_limit_is_for_all_classes_together() -> None:
    frame, species = _iris()
    with pytest.warns(UserWarning, match="time_limit_s"):
        made = FormulaClassifier(solver="native", time_limit_s=0.05, n_jobs=1).fit(frame, species)
    assert made.timed_out_


def test_a_black_box_of_several_answers_is_explained(iris: FormulaClassifier) -> None:
    explained = explain_model(iris, _iris()[0], length=4, solver="native")
    assert explained.fidelity > 0.95
    assert len(explained.classifier.rules_) == 3


def test_fit_predict_and_explain_know_several_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, species = _iris()
    frame.assign(species=species).to_csv("iris.csv", index=False)
    words = ["dataset=csv", "dataset.path=iris.csv", "dataset.target=species", "method=pivot"]
    options = ["solver=native", "scan.max_length=3", "scan.splits=1", "fit.folds=3", "out=rules"]
    assert main(["fit", *words, *options]) == 0
    told = capsys.readouterr().out
    assert "3 classes" in told
    assert "balanced accuracy" in told
    made = model_file.load(Path("rules/model.json"))
    assert made.figures["accuracy"]["value"] > 0.8
    assert main(["predict", "rules/model.json", "iris.csv", "--out", "out.csv"]) == 0
    answers = pd.read_csv("out.csv")["prediction"]
    assert (answers == species).sum() == made.rows - made.errors
    capsys.readouterr()
    assert main(["explain", "rules/model.json", "--row", "3"]) == 0
    assert "so the prediction is species = setosa" in capsys.readouterr().out
    assert main(["status", "out=rules"]) == 0


# ------------------------------------------------------------------------------------- weights


def _weighted_table(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (14, 2)).astype(float)
    return values, np.resize(np.array(["a", "b", "c"]), 14), rng.integers(0, 5, 14)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("seed", range(12))
def test_a_weight_counts_like_so_many_rows_of_several_classes(
    seed: int, class_weight: str | None
) -> None:
    values, labels, weights = _weighted_table(seed)
    weights[:3] += 1  # every class counts
    made = FormulaClassifier(solver="native", length=1, n_jobs=1, class_weight=class_weight)
    once = made.fit(values, labels, weights)
    answers, shares = once.predict(values), once.predict_proba(values)
    known = (once.model_.otherwise, once.model_.classes, once.errors_)
    again = made.fit(values.repeat(weights, axis=0), labels.repeat(weights))
    assert known == (again.model_.otherwise, again.model_.classes, again.errors_)
    assert answers.tolist() == again.predict(values).tolist()
    assert np.allclose(shares, again.predict_proba(values))


def test_the_errors_of_several_classes_are_weights_of_wrong_rows() -> None:
    values, labels, weights = _weighted_table(3)
    weights = weights + 1
    for class_weight in (None, {"a": 1, "b": 7, "c": 2}):
        factors = np.array([(class_weight or {}).get(label, 1) for label in labels.tolist()])
        made = FormulaClassifier(
            solver="native", length=1, n_jobs=1, class_weight=class_weight
        ).fit(values, labels, weights)
        wrong = made.predict(values) != labels
        assert made.model_.weight == (weights * factors).sum()
        assert made.errors_ == (weights * factors)[wrong].sum()


def test_weights_decide_the_class_where_no_formula_holds() -> None:
    values = np.array([0.0] * 8 + [1.0] * 5)
    labels = np.array([0] * 6 + [1] * 2 + [0] + [2] * 4)  # often, rare, third
    none = np.zeros(13, dtype=bool)
    truths, precisions = [none, none, values >= 1], [0.0, 0.0, 0.8]

    def default(weights: Any) -> int:
        return combine.order_and_default(precisions, labels, truths, weights)[1]

    assert default(None) == 0
    assert default(combine.whole_weights(labels, None, Objective(ObjectiveName.BALANCED))) == 1
    given = np.where(labels == 1, 4.0, 1.0)
    assert default(combine.whole_weights(labels, given, Objective())) == 1


def test_balanced_weights_of_several_classes_are_exact() -> None:
    labels = np.array([0] * 6 + [1] * 4 + [2] * 3)
    found = combine.whole_weights(labels, None, Objective(ObjectiveName.BALANCED))
    assert found is not None
    assert dict(zip(labels.tolist(), found.tolist(), strict=True)) == {0: 2, 1: 3, 2: 4}


def test_fit_prints_the_notes_of_each_class_and_those_of_all_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = ["NA"] * 20
    cells = {"x": [*gaps, *range(40)], "y": [*gaps, *["a"] * 19, *["b"] * 18, *["rare"] * 3]}
    pd.DataFrame(cells).to_csv(tmp_path / "t.csv", index=False)
    words = ["dataset=csv", f"dataset.path={tmp_path}/t.csv", "dataset.target=y", "method=pivot"]
    words += ["fit.folds=0", "scan.max_length=1", f"out={tmp_path}/rules"]
    assert main(["fit", *words]) == 0
    told = capsys.readouterr().out
    assert "\nrare: the class rare has only 7.5 % of the rows" in told
    assert told.count("33 % of the rows (20 of 60) are dropped for missing values") == 1


def test_a_class_that_only_dropped_rows_have_is_no_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {"x": ["NA", 1, 2] * 10, "y": ["lost", "no", "yes"] * 10}
    pd.DataFrame(cells).to_csv(tmp_path / "t.csv", index=False)
    words = ["dataset=csv", f"dataset.path={tmp_path}/t.csv", "dataset.target=y", "method=pivot"]
    words += ["fit.folds=0", "scan.max_length=1", f"out={tmp_path}/rule"]
    assert main(["fit", *words]) == 0
    assert "target: y is true where it is yes, false where no" in capsys.readouterr().out


def test_notes_of_several_classes_name_the_classes() -> None:
    values = np.arange(60.0).reshape(-1, 1)
    labels = np.array([*["a"] * 28, *["b"] * 29, *["rare"] * 3])
    notes = FormulaClassifier(solver="native", length=1).fit(values, labels).model_.notes
    assert any("rare: the class rare has only 5.0 %" in str(note) for note in notes)


def test_who_has_weighted_the_classes_gets_no_advice_to_weight_them() -> None:
    values = np.arange(60.0).reshape(-1, 1)
    made = FormulaClassifier(solver="native", length=1, class_weight={False: 1, True: 99})
    assert made.fit(values, values[:, 0] >= 30).model_.notes == ()


def test_probabilities_of_several_classes_are_observed_shares() -> None:
    values, labels, weights = _weighted_table(5)
    weights = weights + 1.0
    made = FormulaClassifier(
        solver="native", length=1, n_jobs=1, class_weight={"a": 9, "b": 1, "c": 1}
    ).fit(values, labels, weights)
    answers, shares = made.predict(values), made.predict_proba(values)
    for row, answer in enumerate(answers):
        same = answers == answer
        observed = [weights[same & (labels == one)].sum() for one in made.classes_]
        assert np.allclose(shares[row], np.array(observed) / weights[same].sum())


def test_alternatives_name_the_rule_of_one_class(tmp_path: Path) -> None:
    frame, species = _iris()
    frame.assign(species=species).to_csv(tmp_path / "iris.csv", index=False)
    words = ["dataset=csv", f"dataset.path={tmp_path / 'iris.csv'}", "dataset.target=species"]
    limits = ["method=pivot", "scan.max_length=1", "fit.folds=0", "scan.splits=1", "solver=native"]
    assert main(["fit", *words, *limits, f"out={tmp_path / 'rules'}"]) == 0
    path = tmp_path / "rules" / "model.json"
    with pytest.raises(UserError, match=r"expected class=NAME with one of .*setosa.*found none"):
        run_command("alternatives", str(path))
    with pytest.raises(UserError, match=r"found rosa"):
        run_command("alternatives", str(path), "class=rosa")
    assert run_command("alternatives", str(path), "bound=1", "class=setosa") == 0
    page = tmp_path / "versicolor.html"
    assert (
        run_command("alternatives", str(path), "bound=1", "class=versicolor", f"--page={page}") == 0
    )
    assert "species = versicolor" in page.read_text()
