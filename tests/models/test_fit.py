"""fit and predict as the owner of a table meets them."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsm_hpc.cli.commands import fit as fit_command
from fsm_hpc.cli.main import main
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.language import Language
from fsm_hpc.models import fit, model, notes
from fsm_hpc.models.model import Model
from fsm_hpc.study import measures
from fsm_hpc.study.compose import compose
from fsm_hpc.study.config import Config
from fsm_hpc.study.measures import Confusion
from fsm_hpc.study.run import run_fold
from tests.support.fakes import LadderSolver
from tests.support.rules import make_model

ROWS = 120


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, ROWS),
            "job": rng.choice(["cook", "clerk", "smith"], ROWS),
            "member": rng.choice(["yes", "no"], ROWS),
        }
    )
    right = (frame["age"] >= 50) | (frame["job"] == "cook")
    frame["label"] = np.where(right ^ (rng.random(ROWS) < 0.05), "in", "out")
    path = tmp_path / "my.csv"
    frame.to_csv(path, index=False)
    return path


def _words(table: Path, *more: str) -> list[str]:
    return [
        "dataset=csv",
        f"dataset.path={table}",
        "dataset.target=label",
        "method=pivot",
        "solver=native",
        "scan.max_length=4",
        f"out={table.parent}/rule",
        *more,
    ]


def _fitted(table: Path, *more: str) -> Model:
    assert main(["fit", *_words(table, "fit.folds=3", *more)]) == 0
    return model.load(table.parent / "rule" / "model.json")


def test_a_rule_in_another_language_says_so_wherever_it_goes(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(table)
    either = (frame["age"] >= 50) ^ (frame["member"] == "yes")
    labels = np.where(either, "in", "out")
    frame.assign(label=labels).to_csv(table, index=False)
    rule = _fitted(table, "language=xor", "fit.folds=0", "dataset.positive=out")
    assert rule.language is Language.XOR
    assert str(rule.formula) == "age >= 50 iff member"
    assert rule.settings["language"] == "xor"
    place = table.parent / "rule"
    assert "no formula of the language xor of size 3 or less" in (place / "model.html").read_text()
    assert main(["predict", str(place / "model.json"), str(table), "--out", str(place / "p")]) == 0
    assert pd.read_csv(place / "p")["prediction"].tolist() == labels.tolist()
    capsys.readouterr()
    words = ["dataset=csv", f"dataset.path={table}", "dataset.target=label"]
    words += ["dataset.positive=out"]
    assert main(["explain", str(place / "model.json"), "--row", "0", *words]) == 0
    assert "both or neither of (age is at least 50, member is true)" in capsys.readouterr().out


def test_one_rule_comes_with_what_to_expect_of_it(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = _fitted(table)
    said = capsys.readouterr().out
    assert str(rule.formula) in said
    assert "Predict label = " in said
    assert rule.proved
    assert not rule.timed_out
    assert rule.figures["folds"] == 3
    assert rule.figures["rows"] == ROWS
    low, high = rule.figures["accuracy"]["interval"]
    assert low < rule.figures["accuracy"]["value"] < high
    assert 0.5 <= rule.figures["majority"] < rule.figures["accuracy"]["value"]
    assert sum(one["folds"] for one in rule.rule.stability["formulas"]) == 3
    assert {p.column for p in rule.formula.propositions()} <= set(rule.rule.stability["columns"])
    page = (table.parent / "rule" / "model.html").read_text()
    assert "What to expect on new rows" in page
    assert "http:" not in page
    assert "https:" not in page


def test_the_same_command_again_computes_nothing_and_says_the_same(table: Path) -> None:
    first = _fitted(table)
    scan = table.parent / "rule/folds/my/pivot/fold-all/scan.json"
    before = json.loads(scan.read_text())
    assert _fitted(table).formula == first.formula
    assert json.loads(scan.read_text())["lengths"] == before["lengths"]


def test_a_spent_budget_is_said_and_a_larger_one_goes_on(table: Path) -> None:
    rule = _fitted(table, "fit.budget_h=0")
    assert rule.timed_out
    assert any("larger fit.budget_h" in note for note in map(str, rule.notes))
    assert not _fitted(table, "fit.budget_h=0.1").timed_out


def test_a_rule_that_does_not_beat_the_majority_is_warned_about(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=80), "label": rng.random(80) < 0.25})
    frame.to_csv(tmp_path / "my.csv", index=False)
    rule = _fitted(tmp_path / "my.csv")
    assert any(note.startswith("warning: ") for note in map(str, rule.notes))


def test_a_rule_that_always_says_the_same_is_called_so(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"x": range(60), "label": ["rare" if n in (20, 40) else "b" for n in range(60)]}
    )
    frame.to_csv(tmp_path / "my.csv", index=False)
    rule = _fitted(tmp_path / "my.csv", "method=median")
    assert rule.errors == 2
    assert "it predicts label = b on each of its rows" in " ".join(map(str, rule.notes))


def test_what_the_table_made_known_is_told_once(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = _fitted(table)
    said = capsys.readouterr().out
    assert "categorical: job" in rule.reading["notes"]
    assert "categorical: job" not in map(str, rule.notes)
    assert said.count("categorical: job") == 1


def test_a_table_too_small_for_its_folds_is_refused_before_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"x": range(6), "label": ["a", "b"] * 3})
    frame.to_csv(tmp_path / "my.csv", index=False)
    assert main(["fit", *_words(tmp_path / "my.csv")]) == 2
    told = capsys.readouterr()
    assert "at least 10 rows for 10 folds, found 6" in told.err
    assert "fit.folds=" in told.err
    assert "length 1" not in told.out
    assert main(["fit", *_words(tmp_path / "my.csv", "fit.folds=0")]) == 0


def test_a_stopped_fit_goes_on(table: Path) -> None:
    config = compose([*_words(table, "fit.folds=2"), "scan.splits=2"])
    stop = threading.Event()
    stop.set()
    assert fit.fit(config, stop, solver_of=lambda *_: LadderSolver()) is None
    fitted = fit.fit(config, solver_of=lambda *_: LadderSolver())
    assert fitted is not None
    assert fitted.model.figures["folds"] == 2


class _StopsAt(LadderSolver):
    """Asks for a stop at one of its calls."""

    def __init__(self, stop: Any, call: int) -> None:
        super().__init__()
        self.stop, self.call = stop, call

    def solve(self, *arguments: Any) -> Any:
        if len(self.calls) >= self.call:
            self.stop.set()
        return super().solve(*arguments)


@pytest.mark.parametrize("call", [0, 3, 12])
def test_a_stopped_fit_can_keep_its_best(table: Path, call: int) -> None:
    config = compose([*_words(table, "fit.folds=2"), "scan.splits=2"])
    stop = threading.Event()
    solver = _StopsAt(stop, call)
    fitted = fit.fit(config, stop, solver_of=lambda *_: solver, keeps_best=True)
    assert fitted is not None
    assert fitted.result is None
    rule = fitted.model
    assert rule.errors == rule.rule.errors
    assert rule.figures["folds"] < 2
    assert not any("compared without proof" in str(note) for note in rule.notes)


def test_a_stopped_fit_compares_models_on_the_folds_that_it_has(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, stop = compose(_words(table, "fit.folds=2")), threading.Event()

    def stopped_after_one(config: Config, *arguments: Any, **options: Any) -> Any:
        done = None if stop.is_set() else run_fold(config, *arguments, **options)
        if config.fold == 0:
            stop.set()
        return done

    monkeypatch.setattr(fit, "run_fold", stopped_after_one)
    fitted = fit.fit(config, stop, solver_of=lambda *_: LadderSolver(), keeps_best=True)
    assert fitted is not None
    rule = fitted.model
    assert rule.figures["folds"] == 1
    compared = rule.figures["comparison"]
    assert compared["rule"] == pytest.approx(rule.figures["accuracy"]["value"])
    assert compared["models"]


def test_a_table_and_its_target_are_enough(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(table.parent)
    options = ["fit.folds=2", "scan.max_length=2", "solver=native"]
    assert main(["fit", "my.csv", "--target", "label", *options]) == 0
    assert "takes at most 60 s, the rule itself at most 20 s" in capsys.readouterr().out
    assert model.load(Path("my_rule/model.json")).method == "pivot"
    assert main(["fit", "my.csv"]) == 2
    assert "fit my.csv --target COLUMN" in capsys.readouterr().err
    assert main(["fit", "my.csv", "other.csv", "--target", "label"]) == 2


# -------------------------------------------------------------------------------------- predict


def test_predictions_follow_the_columns_of_the_table(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = _fitted(table)
    capsys.readouterr()
    assert main(["predict", str(table.parent / "rule" / "model.json"), str(table)]) == 0
    told = pd.read_csv(io.StringIO(capsys.readouterr().out))
    source = pd.read_csv(table)
    assert told.columns.tolist() == [*source.columns, "prediction", "training_precision"]
    assert (told["prediction"] == told["label"]).sum() == ROWS - rule.errors
    assert set(told["training_precision"].round(4)) <= {round(share, 4) for share in rule.shares}


def test_predictions_go_to_a_file_and_come_from_parquet(table: Path) -> None:
    _fitted(table)
    frame = pd.read_csv(table)
    frame.to_parquet(table.parent / "new.parquet")
    words = ["predict", f"{table.parent}/rule", f"{table.parent}/new.parquet"]
    assert main([*words, "--out", f"{table.parent}/told.parquet"]) == 0
    assert main([*words, "--out", f"{table.parent}/told.csv"]) == 0
    parquet = pd.read_parquet(table.parent / "told.parquet")["prediction"]
    assert parquet.tolist() == pd.read_csv(table.parent / "told.csv")["prediction"].tolist()


def test_decimal_commas_are_read_as_in_the_table_that_was_fitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{number},5;{'yes' if number >= 30 else 'no'}" for number in range(60)]
    path = tmp_path / "my.csv"
    path.write_text("\n".join(["x;label", *rows]) + "\n")
    _fitted(path)
    capsys.readouterr()
    assert main(["predict", f"{tmp_path}/rule", str(path)]) == 0
    told = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert (told["prediction"] == told["label"]).all()


def _rule() -> Model:
    from fsm_hpc.data.kind_name import KindName
    from fsm_hpc.data.kinds import ColumnSchema
    from fsm_hpc.formulas.parser import parse

    sources = (
        ColumnSchema("age", KindName.NUMERIC),
        ColumnSchema("job", KindName.CATEGORICAL, ("clerk", "cook")),
        ColumnSchema("member", KindName.BOOLEAN, (), ("yes",), ("no",)),
    )
    formula = parse("age >= 40 and (job_cook or member)")
    return make_model(formula, sources)


GOOD: dict[str, list[Any]] = {"age": ["50", "30"], "job": ["cook", "cook"], "member": ["no", "yes"]}


def test_a_rule_is_applied_as_it_was_fitted() -> None:
    chosen, reading = _rule().read(GOOD, 2)
    assert chosen.tolist() == [1, 0]
    assert reading.notes == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"age": ["old", "30"]}, "column 'age': expected a finite number, found 'old'"),
        ({"member": ["maybe", "no"]}, "column 'member': expected one of yes, no, found 'maybe'"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        _rule().read(GOOD | change, 2)


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(UserError, match=r"expected the columns 'job'.*found: age, member"):
        _rule().read({name: GOOD[name] for name in ("age", "member")}, 2)


def test_unknown_categories_and_gaps_are_told_once() -> None:
    table = {"age": ["50", None, "60"], "job": ["smith", "cook", "smith"], "member": ["no"] * 3}
    chosen, reading = _rule().read(table, 3)
    assert chosen.tolist() == [0, 0, 0]
    assert reading.missing.tolist() == [False, True, False]
    assert len(reading.notes) == 2
    assert "'smith' did not occur in the fitted rows" in " ".join(reading.notes)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"kind": "fsm_hpc model", "format": 1}', "\0"])
def test_a_damaged_model_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"model\.json"):
        model.load(path)


def test_a_newer_model_is_refused_with_the_version_that_wrote_it(tmp_path: Path) -> None:
    saved = model.content(_rule()) | {"format": 99, "version": "9.0"}
    (tmp_path / "model.json").write_text(json.dumps(saved))
    with pytest.raises(UserError, match=r"written by a newer version of fsm_hpc \(9\.0\)"):
        model.load(tmp_path / "model.json")


# -------------------------------------------------------------------------------------- measures


def test_measures_are_those_of_the_matrix() -> None:
    matrix = Confusion(30, 10, 50, 10)
    assert matrix.accuracy == 0.8
    assert matrix.recall == 0.75
    assert matrix.precision == 0.75
    assert matrix.balanced_accuracy == pytest.approx((0.75 + 50 / 60) / 2)
    assert matrix.majority == 0.6
    assert matrix.f1 == pytest.approx(0.75)


def test_what_is_undefined_is_none() -> None:
    matrix = Confusion(0, 0, 5, 0)
    assert matrix.balanced_accuracy is None
    assert matrix.precision is None
    assert matrix.recall is None
    assert matrix.accuracy == 1.0


@pytest.mark.parametrize(("right", "rows"), [(0, 10), (10, 10), (5, 10), (999, 1000)])
def test_an_interval_holds_the_share(right: int, rows: int) -> None:
    ends = measures.wilson(right, rows)
    assert ends is not None
    assert 0 <= ends[0] <= right / rows <= ends[1] <= 1


# --------------------------------------------------------------- what a reading of the code found


def test_another_table_of_the_same_name_does_not_replace_a_rule(table: Path) -> None:
    first = _fitted(table)
    other = table.parent / "elsewhere" / "my.csv"
    other.parent.mkdir()
    other.write_text(table.read_text().replace("clerk", "baker"))
    words = [word for word in _words(other) if not word.startswith("out=")]
    for folds in (0, 2):
        assert main(["fit", *words, f"out={table.parent}/rule", f"fit.folds={folds}"]) == 2
    assert model.load(table.parent / "rule" / "model.json").formula == first.formula


def test_what_was_missing_when_fitted_is_missing_when_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{number},{'yes' if number >= 30 else 'no'}" for number in range(60)]
    path = tmp_path / "my.csv"
    path.write_text("\n".join(["x,label", *rows, "-999,yes"]) + "\n")
    _fitted(path, "dataset.missing_values=[-999]")
    capsys.readouterr()
    assert main(["predict", f"{tmp_path}/rule", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "-999,yes,,"


def test_a_table_of_the_one_column_that_is_needed_is_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{number},{'yes' if number >= 30 else 'no'}" for number in range(60)]
    path = tmp_path / "my.csv"
    path.write_text("\n".join(["x,label", *rows]) + "\n")
    _fitted(path)
    (tmp_path / "new.csv").write_text("x\n5\n50\n")
    capsys.readouterr()
    assert main(["predict", f"{tmp_path}/rule", f"{tmp_path}/new.csv"]) == 0
    told = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert told == ["no", "yes"]


def test_gaps_are_empty_in_parquet_whatever_the_classes_are(tmp_path: Path) -> None:
    from fsm_hpc.data.kind_name import KindName
    from fsm_hpc.data.kinds import ColumnSchema
    from fsm_hpc.data.spec import DatasetSpec
    from fsm_hpc.formulas.parser import parse
    from fsm_hpc.models import predict
    from tests.support.rules import make_model

    rule = make_model(parse("age >= 3"), [ColumnSchema("age", KindName.NUMERIC)], (0, 1))
    pd.DataFrame({"age": [5.0, None]}).to_parquet(tmp_path / "new.parquet")
    told = predict.predict(rule, f"{tmp_path}/new.parquet", DatasetSpec("new", ""))
    predict.write(told, f"{tmp_path}/told.parquet", print)
    assert pd.read_parquet(tmp_path / "told.parquet")["prediction"].isna().tolist() == [False, True]


def test_numbers_of_parquet_have_no_decimal_sign(tmp_path: Path) -> None:
    from fsm_hpc.models import predict

    pd.DataFrame({"age": [50.125, 30.5], "job": ["cook"] * 2, "member": ["2,5"] * 2}).to_parquet(
        tmp_path / "new.parquet"
    )
    rule = _rule()
    spec = compose(["dataset=csv", "method=pivot", "dataset.decimal=comma"]).dataset
    raw = predict.read(str(tmp_path / "new.parquet"), spec)
    assert predict._columns(rule, raw, spec)["age"].values.tolist() == [50.125, 30.5]


def test_a_row_of_another_table_is_explained_by_the_classes_of_the_rule(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _fitted(table, "dataset.positive=in")
    capsys.readouterr()
    words = ["explain", f"{table.parent}/rule/model.json", "--row", "0"]
    assert main([*words, f"dataset.path={table}"]) == 0
    label = pd.read_csv(table)["label"][0]
    assert f"The class in the table is label = {label}" in capsys.readouterr().out


# ------------------------------------------------------------------------ a black box's answers


def test_answers_of_another_model_are_explained_and_held_against_the_target(table: Path) -> None:
    frame = pd.read_csv(table)
    answers = pd.DataFrame({"prediction": np.where(frame["age"] >= 30, "in", "out")})
    answers.to_csv(table.parent / "answers.csv", index=False)
    rule = _fitted(table, f"labels={table.parent}/answers.csv")
    assert rule.errors == 0
    assert {p.column for p in rule.formula.propositions()} == {"age"}
    (note,) = [
        note for note in map(str, rule.notes) if note.startswith("it explains the answers in ")
    ]
    agrees = float((answers["prediction"] == frame["label"]).mean())
    assert note.endswith(f"those answers on {100 * agrees:.1f} %")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("prediction\nin\n", "expected an answer for each of the 120 rows"),
        ("prediction\n" + "in\n" * 120, "expected both answers, found 'in' only"),
        ("prediction\n" + "in\nperhaps\n" * 60, "found 'perhaps'"),
    ],
)
def test_answers_that_do_not_fit_the_table_are_refused(
    table: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (table.parent / "answers.csv").write_text(text)
    assert main(["fit", *_words(table, f"labels={table.parent}/answers.csv")]) == 2
    assert complaint in capsys.readouterr().err


def test_the_card_fits_a_phone_and_says_why_it_looked_no_further(table: Path) -> None:
    from tests.support.browser import browser

    _fitted(table)
    card = table.parent / "rule" / "model.html"
    with browser() as opened:
        page = opened.new_page(viewport={"width": 390, "height": 900})
        page.goto(card.as_uri())
        cut = "found => found.filter(e => e.scrollWidth > e.clientWidth + 1).length"
        assert page.eval_on_selector_all(".scroll", cut) == 0
        assert "The search stopped because " in page.inner_text(".fsm-card")
        page.get_by_text("How its table was read").click()
        assert "categorical: job" in page.inner_text(".fsm-card")


def test_a_large_table_has_one_split_and_longer_formulas_unless_others_are_given(
    tmp_path: Path,
) -> None:
    path = tmp_path / "large.csv"
    path.write_text("x,label\n" + "1,no\n2,yes\n" * (notes.LARGE // 2))
    found = {}
    for given in ([], ["scan.splits=3"], ["scan.max_length=4"]):
        arguments = [str(path), *given]
        scan = fit_command._composed(arguments, "label").scan
        found[tuple(given)] = (scan.splits, scan.max_length)
    assert list(found.values()) == [(1, 16), (3, 16), (1, 4)]


@pytest.mark.parametrize(("classes", "budget_h"), [("ab", 0.0167), ("abc", 0.05)])
def test_several_classes_have_more_time(tmp_path: Path, classes: str, budget_h: float) -> None:
    path = tmp_path / "small.csv"
    path.write_text("x,label\n" + "".join(f"{at},{name}\n" for at, name in enumerate(9 * classes)))
    assert fit_command._composed([str(path)], "label").fit.budget_h == budget_h


def test_a_note_states_that_one_split_chose_the_length(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("x,label\n" + "1,no\n2,yes\n" * (notes.LARGE // 2))
    words = ["fit", str(path), "--target", "label", "fit.folds=0", f"out={tmp_path / 'rule'}"]
    assert main([*words, "scan.max_length=1", "solver=native"]) == 0
    fitted = model.load(tmp_path / "rule" / "model.json")
    text = next(str(note) for note in fitted.notes if note.kind is notes.NoteKind.ONE_SPLIT)
    assert text.startswith("as the table has 20,000 rows, the length was chosen on one split")
