"""Collecting at any moment: every state, every mixture, nothing hidden."""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.parser import parse
from fsm_hpc.report import collect, mixture
from fsm_hpc.report.collect import Row, Study
from fsm_hpc.report.findings import findings
from fsm_hpc.search.lengths import Length
from fsm_hpc.study import checkpoint, result
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import process_identity, serialization
from tests.support.command_line import place_of, run_command
from tests.support.made_studies import AWKWARD, fold_result, put, small_study
from tests.support.scans import scan_state
from tests.support.submissions import submission


def study_with(folder: Path, **changes: Any) -> StudyPaths:
    """Fold 0 of hepatitis by pivot, changed."""
    study = StudyPaths(folder / "one")
    put(study, fold_result("hepatitis", "pivot", 0, **changes))
    return study


def only(study: StudyPaths, fold: int = 0) -> Row:
    return next(row for row in collect.read(study).rows if row.fold == fold)


def run_collect(study: StudyPaths, *flags: str) -> int:
    return run_command("collect", *place_of(study), *flags)


# ----------------------------------------------------------------------------------- one fold


def test_a_finished_and_proved_fold_is_done(tmp_path: Path) -> None:
    row = only(study_with(tmp_path))
    assert row.state is FoldState.DONE
    assert row.result is not None
    assert row.result.formula == "albumin >= 2.9 and not ascites"


def test_a_final_formula_without_a_proof_is_unproved_and_says_its_bound(tmp_path: Path) -> None:
    row = only(study_with(tmp_path, proved=False, errors=14, lower_bound=11))
    assert row.state is FoldState.UNPROVED
    assert "14 errors, of which 11 are proved" in row.reason


def test_a_scan_that_spent_its_budget_is_timed_out_though_its_final_formula_is_proved(
    tmp_path: Path,
) -> None:
    row = only(study_with(tmp_path, stop_reason="timeout"))
    assert (row.state, row.reason) == (
        FoldState.TIMEOUT,
        "scan budget spent, fell back to length 4",
    )


def test_a_fold_that_timed_out_twice_says_both(tmp_path: Path) -> None:
    row = only(study_with(tmp_path, stop_reason="timeout", proved=False))
    assert row.state is FoldState.TIMEOUT
    assert row.reason.endswith("the final formula is not proved either")


def test_a_scan_that_ran_out_of_memory_is_told_apart(tmp_path: Path) -> None:
    assert only(study_with(tmp_path, stop_reason="out_of_memory")).state is FoldState.OUT_OF_MEMORY


def test_a_baseline_is_done_though_nothing_is_proved_about_it(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "one")
    put(study, fold_result("hepatitis", "xgboost", 0))
    assert only(study).state is FoldState.DONE


def test_a_fold_with_a_scan_and_no_result_is_partial_and_shows_its_lengths(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    formula = parse("albumin >= 2.9")
    done = Length(1, formula, 20, 0.75, 0.77, True, 0.5, "native")
    checkpoint.save(study.fold(FoldId("hepatitis", "pivot", 1)).scan, scan_state((done,)), "f")
    row = only(study, fold=1)
    assert row.state is FoldState.PARTIAL
    assert row.reason == "resumes at length 2"
    assert [entry["formula"] for entry in row.lengths] == ["albumin >= 2.9"]


def test_a_baseline_stopped_while_tuning_is_partial(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "one")
    put(study, fold_result("hepatitis", "xgboost", 0))
    journal = study.fold(FoldId("hepatitis", "xgboost", 1)).trials
    journal.parent.mkdir(parents=True)
    journal.write_text("{}\n")
    assert only(study, fold=1).state is FoldState.PARTIAL


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (AttemptEnd.ERROR, FoldState.FAILED),
        (AttemptEnd.BAD_INPUT, FoldState.FAILED),
        (AttemptEnd.GAVE_UP, FoldState.FAILED),
        (AttemptEnd.OUT_OF_MEMORY, FoldState.OUT_OF_MEMORY),
    ],
)
def test_a_failed_attempt_is_told_with_its_reason(
    tmp_path: Path, end: AttemptEnd, state: FoldState
) -> None:
    study = study_with(tmp_path)
    paths = study.fold(FoldId("hepatitis", "pivot", 1))
    submissions.save(paths, submission("slurm"))
    gone = Attempt("t", "17_1", 0, "node-1", 1, 0.0, 1.0, end, "disk on fire")
    attempts.save(paths, gone)
    row = only(study, fold=1)
    assert row.state is state
    assert row.result is None
    assert "disk on fire" in row.reason


def test_a_fold_whose_process_lives_is_running(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    paths = study.fold(FoldId("hepatitis", "pivot", 1))
    submissions.save(paths, submission())
    alive = Attempt("t", "local/here/77", 0, platform.node(), os.getpid(), time.time())
    attempts.save(paths, replace(alive, process=process_identity.of()))
    assert only(study, fold=1).state is FoldState.RUNNING


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1}'])
def test_a_result_that_cannot_be_read_is_failed_and_not_missing(tmp_path: Path, text: str) -> None:
    study = study_with(tmp_path)
    study.fold(FoldId("hepatitis", "pivot", 0)).result.write_text(text)
    row = only(study)
    assert row.state is FoldState.FAILED
    assert "result.json" in row.reason


def test_a_result_in_the_wrong_folder_is_not_counted(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    moved = study.fold(FoldId("hepatitis", "pivot", 3)).result
    moved.parent.mkdir()
    study.fold(FoldId("hepatitis", "pivot", 0)).result.rename(moved)
    row = only(study, fold=3)
    assert row.result is None
    assert row.reason == "its result.json is of hepatitis/pivot/fold-0"


# -------------------------------------------------------------------------------- what is expected


def test_folds_that_never_began_are_missing_as_far_as_the_results_tell(tmp_path: Path) -> None:
    rows = collect.read(study_with(tmp_path)).rows
    assert [row.fold for row in rows] == list(range(10))
    assert [row.state for row in rows[1:]] == [FoldState.MISSING] * 9


def test_expected_folds_are_all_there_and_others_are_left_out(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    ids = [("bank", "median", 0), ("hepatitis", "pivot", 0), ("hepatitis", "pivot", 1)]
    expected = [FoldRef(FoldId(*fold), study.fold(FoldId(*fold))) for fold in ids]
    put(study, fold_result("hepatitis", "pivot", 7))
    found = [(row.dataset, row.fold, row.state) for row in collect.read(study, expected).rows]
    assert found == [
        ("bank", 0, FoldState.MISSING),
        ("hepatitis", 0, FoldState.DONE),
        ("hepatitis", 1, FoldState.MISSING),
    ]


def test_methods_stand_in_the_order_of_the_paper(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "one")
    for method in ("xgboost", "interval", "median", "random_forest", "pivot"):
        put(study, fold_result("hepatitis", method, 0))
    order = ("median", "pivot", "interval", "random_forest", "xgboost")
    assert collect.read(study).methods == order


def test_a_study_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no study in"):
        collect.read(StudyPaths(tmp_path / "nowhere"))


def test_a_study_without_folds_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="there are no folds"):
        collect.read(StudyPaths(tmp_path / "empty"))


# --------------------------------------------------------------------------------------- mixtures


def mixtures(folder: Path, **changes: Any) -> list[str]:
    """What is mixed when folds 0 to 2 are alike and fold 3 is changed."""
    study = StudyPaths(folder / "mixed")
    put(study, *(fold_result("hepatitis", "pivot", fold) for fold in range(3)))
    changed = fold_result("hepatitis", "pivot", 3, settings=changes.pop("settings", {}))
    origin = {**changed.provenance, **changes.pop("provenance", {})}
    put(study, replace(changed, provenance=origin, **changes))
    return [str(found) for found in mixture.find(collect.read(study))]


def test_alike_folds_are_no_mixture(tmp_path: Path) -> None:
    assert mixtures(tmp_path) == []


@pytest.mark.parametrize("setting", ["seed", "patience", "validation_fraction", "data"])
def test_a_setting_that_differs_is_named_with_its_folds(tmp_path: Path, setting: str) -> None:
    other: Any = {"validation_fraction": 0.5, "data": "abc"}.get(setting, 5)
    found = mixtures(tmp_path, settings={setting: other})
    assert len(found) == 1
    assert found[0].endswith(f"(folds 0-2) and {setting} {other} (fold 3)")


def test_solvers_that_differ_are_named(tmp_path: Path) -> None:
    assert mixtures(tmp_path, solver="clingo_dl") == [
        "hepatitis/pivot mixes solver native (folds 0-2) and solver clingo_dl (fold 3)"
    ]


@pytest.mark.parametrize("what", ["version", "code"])
def test_code_that_differs_is_named(tmp_path: Path, what: str) -> None:
    found = mixtures(tmp_path, provenance={what: "other"})
    assert found[0].endswith(f"(folds 0-2) and {what} other (fold 3)")


@pytest.mark.parametrize(("method", "count"), [("pivot", 0), ("xgboost", 1)])
def test_libraries_that_differ_are_named_for_baselines_only(
    tmp_path: Path, method: str, count: int
) -> None:
    study = StudyPaths(tmp_path / "mixed")
    for fold, version in enumerate(["1.8", "1.9"]):
        made = fold_result("hepatitis", method, fold)
        origin = {**made.provenance, "packages": {"scikit-learn": version, "clingo": version}}
        put(study, replace(made, provenance=origin))
    found = [str(m) for m in mixture.find(collect.read(study))]
    assert len(found) == count
    assert all("scikit-learn 1.8 (fold 0) and scikit-learn 1.9 (fold 1)" in m for m in found)


def test_hosts_threads_and_jobs_may_differ(tmp_path: Path) -> None:
    assert mixtures(tmp_path, provenance={"host": "n2", "threads": 1, "job_ids": ["9"]}) == []


def test_methods_of_a_dataset_on_other_folds_are_named(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "mixed")
    put(study, fold_result("hepatitis", "pivot", 0))
    put(study, fold_result("hepatitis", "median", 0, settings={"seed": 43}))
    found = [str(m) for m in mixture.find(collect.read(study))]
    assert found == ["hepatitis/* mixes seed 43 (median) and seed 42 (pivot)"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([3], "fold 3"), ([0, 1], "folds 0, 1"), ([0, 1, 2, 7, 9], "folds 0-2, 7, 9")],
)
def test_fold_numbers_are_drawn_together(numbers: list[int], text: str) -> None:
    assert mixture.fold_list(numbers) == text


# ------------------------------------------------------------------------------------ the command


def test_findings_are_printed_before_any_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_collect(small_study(tmp_path)) == 0
    said = capsys.readouterr().out
    first = said.splitlines()[0]
    assert first.startswith("small: 50 folds: 36 done, 1 unproved, 1 timeout, 1 out of memory")
    assert said.index("missing ") < said.index("Test accuracy")
    assert f"mixed          {AWKWARD}/random_forest: trials 100 (fold 0)" in said


def test_strict_tells_scripts_that_something_is_wrong(tmp_path: Path) -> None:
    assert run_collect(small_study(tmp_path), "--strict") == 1


def test_strict_is_content_with_a_whole_study(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "whole")
    put(study, *(fold_result("hepatitis", "pivot", fold) for fold in range(10)))
    assert run_collect(study, "--strict") == 0


def test_failed_folds_come_first_among_the_findings(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    study.fold(FoldId("hepatitis", "pivot", 0)).result.write_text("{")
    read: Study = collect.read(study)
    kinds = [finding.kind for finding in findings(read, mixture.find(read))]
    assert kinds[0] == "failed"


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_folds_csv_has_a_line_for_every_fold_also_without_result(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    run_collect(study)
    lines = read_csv(study.folds_csv)
    assert len(lines) == 50
    assert {line["dataset"] for line in lines} == {AWKWARD, "hepatitis"}
    missing = [line for line in lines if line["status"] == "missing"]
    assert len(missing) == 11
    assert {line["test_accuracy"] for line in missing} == {""}


def test_lengths_csv_has_every_length_and_marks_the_chosen_one(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    run_collect(study)
    lines = read_csv(study.lengths_csv)
    assert [line["length"] for line in lines] == ["1", "2", "3", "4", "5", "6"]
    assert [line["length"] for line in lines if line["chosen"] == "True"] == ["4"]


def test_collect_can_be_told_which_formats_to_write(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    run_collect(study, "--format", "csv")
    assert {path.suffix for path in study.tables.iterdir()} == {".csv"}


def test_collecting_again_gives_the_same_bytes(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    run_collect(study)
    first = {path: path.read_bytes() for path in study.tables.iterdir()}
    run_collect(study)
    assert {path: path.read_bytes() for path in study.tables.iterdir()} == first


def test_a_result_survives_the_way_to_disk_and_back(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    saved = serialization.read(study.fold(FoldId("hepatitis", "pivot", 0)).result)
    row = only(study)
    assert row.result is not None
    assert saved is not None
    assert saved.pop("measures") == row.result.measures
    assert saved["seconds"].pop("total") == row.result.seconds.total
    content = serialization.without_header(saved, "result.json", result.FORMAT)
    assert json.loads(json.dumps(serialization.plain(row.result))) == content
