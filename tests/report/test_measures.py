"""What stands beside an accuracy: the majority, balanced accuracy and the rest, everywhere."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.models.progress import print_result
from fsm_hpc.report import collect, mixture
from fsm_hpc.report.page.page import render
from fsm_hpc.report.tables.builder import ReportOptions, TableBuilder
from fsm_hpc.report.tables.tabular import Table
from fsm_hpc.report.tables.text import to_csv, to_markdown
from fsm_hpc.study import result
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.measures import METRICS, Confusion, scores_of, smoothed_shares
from fsm_hpc.study.result import Accuracy, FoldResult
from fsm_hpc.system import serialization
from tests.support.command_line import place_of, run_command
from tests.support.made_studies import fold_result, put
from tests.support.screens import said, screen

GOOD = Confusion(6, 1, 5, 1)  # 11 of 13 right, 7 of them positive
SAYS_NO = Confusion(0, 0, 10, 3)  # never positive: precision is undefined
ONE_CLASS = Confusion(0, 2, 11, 0)  # no row is positive: so is balanced accuracy


def fold_of(number: int, matrix: Confusion, method: str = "pivot") -> FoldResult:
    """A fold whose accuracy is that of its matrix."""
    made = fold_result("hepatitis", method, number, confusion=matrix)
    return replace(made, accuracy=Accuracy(0.9, 0.9, matrix.accuracy or 0.0))


def study_of(folder: Path, *matrices: Confusion) -> StudyPaths:
    study = StudyPaths(folder / "measured")
    put(study, *(fold_of(number, matrix) for number, matrix in enumerate(matrices)))
    return study


def table_of(study: StudyPaths, options: ReportOptions) -> Table:
    read = collect.read(study)
    return TableBuilder(read, mixture.find(read), options).accuracy()


# ------------------------------------------------------------------------------------ result.json


def test_a_result_is_written_with_its_measures(tmp_path: Path) -> None:
    path = study_of(tmp_path, SAYS_NO).fold(fold_of(0, SAYS_NO).id).result
    measures = json.loads(path.read_text())["measures"]
    assert list(measures) == list(METRICS)
    assert measures["majority"] == pytest.approx(10 / 13)
    assert measures["balanced_accuracy"] == 0.5
    assert measures["precision"] is None


def test_a_result_without_measures_gets_them_from_its_matrix(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(serialization.plain(fold_of(0, GOOD))))  # as version 0.1 wrote it
    done = result.read(path)
    assert done is not None
    assert done.measures == GOOD.measures() | {"auc": None, "log_loss": None}


def test_measures_in_a_file_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(
        json.dumps(serialization.plain(fold_of(0, GOOD)) | {"measures": {"accuracy": 1.0}})
    )
    done = result.read(path)
    assert done is not None
    assert done.measures == GOOD.measures() | {"auc": None, "log_loss": None}


# -------------------------------------------------------------------------------------- folds.csv


def test_folds_csv_has_the_measures_and_nothing_where_they_are_undefined(tmp_path: Path) -> None:
    study = study_of(tmp_path, GOOD, ONE_CLASS)
    run_command("collect", *place_of(study))
    with study.folds_csv.open(encoding="utf-8", newline="") as stream:
        good, one_class = list(csv.DictReader(stream))[:2]
    assert float(good["balanced_accuracy"]) == pytest.approx((6 / 7 + 5 / 6) / 2, abs=1e-6)
    assert float(good["f1"]) == pytest.approx(6 / 7, abs=1e-6)
    assert one_class["balanced_accuracy"] == one_class["recall"] == ""
    assert one_class["majority"] == "1.0"


# --------------------------------------------------------------------------------- collect --metric


@pytest.mark.parametrize("metric", METRICS)
def test_every_measure_has_its_table_and_file(tmp_path: Path, metric: str) -> None:
    study = study_of(tmp_path, GOOD, SAYS_NO)
    assert run_command("collect", *place_of(study), "--metric", metric) == 0
    names = {path.stem for path in study.tables.iterdir()}
    assert names == {metric, "coverage", "formulas_pivot", "runtimes", "all"}
    assert f"\\input{{{metric}}}" in (study.tables / "all.tex").read_text()


def test_the_caption_says_which_measure_it_is(tmp_path: Path) -> None:
    table = table_of(study_of(tmp_path, GOOD), ReportOptions(metric="balanced_accuracy"))
    assert table.caption.startswith("Balanced accuracy of the held-out rows in percent")


def test_a_measure_is_averaged_where_it_is_defined_and_says_over_how_many_folds(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, *[GOOD] * 8, ONE_CLASS, ONE_CLASS)
    table = table_of(study, ReportOptions(metric="balanced_accuracy"))
    cell = table.lines[0].cells[1]
    assert cell.value == pytest.approx(100 * (6 / 7 + 5 / 6) / 2)
    assert cell.note == "over 8 of 10 folds, as it is undefined in folds 8, 9"


def test_a_measure_that_is_undefined_in_every_fold_has_no_number(tmp_path: Path) -> None:
    table = table_of(study_of(tmp_path, *[SAYS_NO] * 10), ReportOptions(metric="precision"))
    cell = table.lines[0].cells[1]
    assert (cell.value, cell.note) == (None, "undefined in every fold")


def test_the_paper_stands_beside_no_other_measure_than_its_own(tmp_path: Path) -> None:
    table = table_of(study_of(tmp_path, GOOD), ReportOptions(paper=True, metric="f1"))
    assert "hepatitis,paper" not in to_csv(table)
    assert "The paper reports the accuracy only." in to_markdown(table)


def test_a_majority_has_no_winner(tmp_path: Path) -> None:
    study = study_of(tmp_path, GOOD)
    put(study, fold_of(0, SAYS_NO, method="interval"))
    table = table_of(study, ReportOptions(metric="majority"))
    assert table.best(table.lines[0]) == set()


# ------------------------------------------------------------------------------------ the majority


def test_an_accuracy_that_does_not_beat_the_majority_says_so_though_it_is_bold(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, *[SAYS_NO] * 10)
    worse = Confusion(0, 4, 6, 3)
    put(study, *(fold_of(number, worse, method="interval") for number in range(10)))
    table = table_of(study, ReportOptions())
    cells = table.lines[0].cells
    assert table.best(table.lines[0]) == {1}
    note = "does not beat always predicting the more frequent class (76.9)"
    assert [cell.note for cell in cells[1:]] == [note, note]


def test_an_accuracy_above_the_majority_has_no_such_note(tmp_path: Path) -> None:
    table = table_of(study_of(tmp_path, *[GOOD] * 10), ReportOptions())
    assert table.notes == {}


def test_folds_are_held_against_their_own_majorities(tmp_path: Path) -> None:
    study = collect.read(study_of(tmp_path, GOOD, SAYS_NO))
    group = study.groups["hepatitis", "pivot"]
    assert group.majority == pytest.approx((7 / 13 + 10 / 13) / 2)
    assert group.beats_majority is True


# -------------------------------------------------------------------------- terminal, status, page


def test_a_result_in_a_terminal_has_its_measures() -> None:
    console = screen(is_terminal=False)
    print_result(console, fold_of(0, GOOD))
    words = "majority 53.8 %, balanced accuracy 84.5 %, precision 85.7 %, recall 85.7 %"
    assert words in said(console)
    assert "does not beat" not in said(console)


def test_a_result_in_a_terminal_says_what_is_undefined_and_no_better_than_the_majority() -> None:
    console = screen(is_terminal=False)
    print_result(console, fold_of(0, SAYS_NO))
    assert "precision undefined, recall 0.0 %" in said(console)
    assert "the formula does not beat always predicting the more frequent class" in said(console)


def test_status_tells_scripts_the_balanced_accuracy_and_the_majority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command("status", *place_of(study_of(tmp_path, SAYS_NO, ONE_CLASS)), "--json")
    first, second = json.loads(capsys.readouterr().out)
    assert first["balanced_accuracy"] == 0.5
    assert first["majority"] == pytest.approx(10 / 13)
    assert (second["balanced_accuracy"], second["majority"]) == (None, 1.0)


def test_status_shows_people_the_balanced_accuracy_and_the_majority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run_command("status", *place_of(study_of(tmp_path, GOOD)))
    heading, line = capsys.readouterr().out.splitlines()[:2]
    assert heading.split()[6:9] == ["test", "balanced", "majority"]
    assert "84.6 %    84.5 %    53.8 %" in line


def test_the_page_shows_the_measures_of_every_fold(tmp_path: Path) -> None:
    page = render(collect.read(study_of(tmp_path, GOOD, SAYS_NO)), ReportOptions())
    sections = page.split('<details class="fold"')
    assert "balanced %" in sections[0]
    assert "<dt>balanced accuracy</dt><dd>84.5%</dd>" in sections[1]
    assert "<dt>precision</dt><dd>undefined</dd>" in sections[2]
    assert "It does not beat the majority class." in sections[2]
    assert "does not beat" not in sections[1]


# -------------------------------------------------------------------------------------- the rules


def test_the_page_starts_with_the_rules_in_words_and_their_figures(tmp_path: Path) -> None:
    page = render(collect.read(study_of(tmp_path, *[GOOD] * 10)), ReportOptions())
    rules = page[page.index('id="rules"') : page.index('id="problems"')]
    assert page.index('id="rules"') == page.index("<section id=") + len("<section ")
    assert "Predict outcome = lives when albumin is at least 2.9 and ascites is not true" in rules
    figures = ("test accuracy 84.6 ± 0.0 % over 10 folds", "majority 53.8 %", "size 4")
    assert all(figure in rules for figure in figures)


def test_a_rule_that_is_no_better_than_the_majority_says_so(tmp_path: Path) -> None:
    page = render(collect.read(study_of(tmp_path, SAYS_NO)), ReportOptions())
    rules = page[page.index('id="rules"') : page.index('id="problems"')]
    assert "does not beat always predicting the more frequent class (76.9)" in rules
    assert "over 1 of 10 folds" in rules


def test_a_method_without_a_formula_yet_stands_among_the_rules(tmp_path: Path) -> None:
    study = study_of(tmp_path, GOOD)
    study.fold(fold_of(0, GOOD, method="median").id).folder.mkdir(parents=True)
    page = render(collect.read(study), ReportOptions())
    assert "There is no formula yet." in page


def test_digests_are_shortened_and_whole_where_one_points_at_them(tmp_path: Path) -> None:
    page = render(collect.read(study_of(tmp_path, GOOD)), ReportOptions())
    whole = "0123456789abcdef" * 4
    assert f'<dt>digest of the table</dt><dd><code title="{whole}">0123456789…</code>' in page


# ----------------------------------------------------------------------------------- named folds


@pytest.mark.parametrize(
    "words",
    [
        ("fold=0",),
        ("dataset=hepatitis", "method=pivot", "fold=0"),
        ("dataset=hepatitis", "fold=0"),
    ],
)
def test_a_fold_that_was_asked_for_alone_leaves_none_missing(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    study = study_of(tmp_path, GOOD, GOOD)
    run_command("collect", *place_of(study), *words)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("measured: 1 fold: 1 ")
    assert "missing" not in first


@pytest.mark.parametrize("words", [(), ("dataset=hepatitis",), ("method=pivot",)])
def test_without_a_fold_filter_the_others_are_missing(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run_command("collect", *place_of(study_of(tmp_path, GOOD)), *words)
    assert capsys.readouterr().out.startswith("measured: 10 folds: 1 done, 9 missing")


# ------------------------------------------------------------------------- AUC and log-loss


def test_scores_are_those_of_scikit_learn() -> None:
    import numpy as np
    from sklearn.metrics import log_loss, roc_auc_score

    labels = np.array([True, False, True, False])
    probabilities = np.array([0.9, 0.2, 0.4, 0.6])
    scores = scores_of(labels, probabilities)
    assert scores.auc == pytest.approx(roc_auc_score(labels, probabilities), rel=1e-12)
    assert scores.log_loss == pytest.approx(log_loss(labels, probabilities))


def test_held_out_rows_of_one_class_have_a_log_loss_and_no_auc() -> None:
    import numpy as np

    scores = scores_of(np.array([True, True]), np.array([0.5, 0.5]))
    assert scores.auc is None
    assert scores.log_loss == pytest.approx(0.693147, abs=1e-6)


def test_the_share_of_a_side_without_rows_is_a_half() -> None:
    import numpy as np

    predicted, labels = np.array([True, True]), np.array([True, False])
    assert smoothed_shares(predicted, labels) == (0.5, 0.5)


def test_a_lower_log_loss_is_a_gain() -> None:
    assert METRICS["log_loss"].gain(0.2, 0.5) == pytest.approx(30)
    assert METRICS["auc"].gain(0.9, 0.8) == pytest.approx(10)


def test_the_auc_of_a_formula_is_its_balanced_accuracy(tmp_path: Path) -> None:
    """A formula gives two scores, so that its ROC curve has one corner."""
    words = ("dataset=hepatitis", "method=median", "solver=native", "scan.max_length=3")
    run_command("run", *words, f"results_dir={tmp_path}", "study=s", "fold=0", "cluster=local")
    saved = json.loads((tmp_path / "s/hepatitis/median/fold-0/result.json").read_text())
    assert saved["scores"]["auc"] == pytest.approx(saved["measures"]["balanced_accuracy"])
    assert saved["processor_s"] > 0
