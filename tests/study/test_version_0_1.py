"""A study that version 0.1 wrote is read, collected, explained and gone on with."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.study import result, scan_file
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId

WRITTEN = Path(__file__).parents[1] / "version_0_1" / "old"
PARTIAL = FoldId("heart_disease", "interval", 1)
STATES = {
    FoldId("german_credit", "pivot", 0): "unproved",
    PARTIAL: "partial",
    FoldId("heart_disease", "pivot", 1): "timeout",
    FoldId("hepatitis", "median", 0): "done",
    FoldId("hepatitis", "median", 1): "done",
    FoldId("hepatitis", "pivot", 0): "done",
    FoldId("hepatitis", "random_forest", 0): "done",
}
FINISHED = [fold for fold in STATES if fold != PARTIAL]


@pytest.fixture
def old(tmp_path: Path) -> StudyPaths:
    shutil.copytree(WRITTEN, tmp_path / "old")
    return StudyPaths(tmp_path / "old")


def run(old: StudyPaths, command: str, *words: str) -> int:
    return main([command, f"results_dir={old.root.parent}", "study=old", *words])


def states(old: StudyPaths, capsys: pytest.CaptureFixture[str]) -> dict[FoldId, str]:
    """What `status --json` says."""
    capsys.readouterr()
    assert run(old, "status", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    return {FoldId(one["dataset"], one["method"], one["fold"]): one["state"] for one in told}


def results(old: StudyPaths) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in old.root.rglob("result.json")}


def test_status_tells_every_fold(old: StudyPaths, capsys: pytest.CaptureFixture[str]) -> None:
    found = states(old, capsys)
    assert found == STATES
    assert Counter(found.values()) == {"done": 4, "unproved": 1, "timeout": 1, "partial": 1}


def test_status_says_where_the_partial_fold_goes_on(
    old: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(old, "status", "dataset=heart_disease", "fold=1", "--check") == 1
    said = capsys.readouterr().out
    assert "stopped, resumes at length 9" in said
    assert "2 folds: 1 timeout, 1 partial" in said


@pytest.mark.parametrize("fold", FINISHED, ids=str)
def test_a_result_is_read_and_written_as_it_was(fold: FoldId, tmp_path: Path) -> None:
    path = StudyPaths(WRITTEN).fold(fold).result
    done = result.read(path)
    assert done is not None
    assert done.id == fold
    then = json.loads(path.read_text(encoding="utf-8"))
    result.save(tmp_path / "result.json", done)
    now = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert {name: now[name] for name in then} == then | {"format": result.FORMAT}
    assert result.read(tmp_path / "result.json") == done


def test_collect_counts_and_tabulates_what_is_there(
    old: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(old, "collect") == 0
    said = capsys.readouterr().out
    first = "old: 18 folds: 4 done, 1 unproved, 1 timeout, 1 partial, 11 missing"
    assert said.splitlines()[0] == first
    assert "timeout        heart_disease/pivot fold 1: scan budget spent, fell back" in said
    assert "Test accuracy" in said
    assert len(old.folds_csv.read_text(encoding="utf-8").splitlines()) == 1 + 18


def test_explain_tells_a_row(old: StudyPaths, capsys: pytest.CaptureFixture[str]) -> None:
    folder = old.fold(FoldId("hepatitis", "pivot", 0)).folder
    assert main(["explain", str(folder), "--row", "0"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("hepatitis/pivot/fold-0: ")
    assert "Predict lives = 2 when " in said
    assert "Row 0 (" in said
    assert "the formula is " in said


@pytest.mark.parametrize(
    "words",
    [
        ["dataset=hepatitis"],
        ["dataset=german_credit"],
        ["dataset=heart_disease", "method=pivot"],
    ],
    ids=lambda words: words[0],
)
def test_what_has_ended_is_not_computed_again_with_the_same_settings(
    old: StudyPaths, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = results(old)
    assert run(old, "resume", *words) == 0
    said = capsys.readouterr().out
    assert "skipped" in said
    assert "at a time" not in said
    assert results(old) == before


def test_the_partial_fold_is_resumed_with_its_finished_lengths(
    old: StudyPaths, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, before = old.fold(PARTIAL), results(old)
    then = scan_file.facts(scan_file.read(paths.scan)).lengths
    assert len(then) == 8
    words = [f"dataset={PARTIAL.dataset}", f"method={PARTIAL.method}", "solver=clingo_dl"]
    assert run(old, "resume", *words, "scan.patience=2", "final.budget_h=1") == 0
    assert "1 job, 1 at a time" in capsys.readouterr().out
    done = result.read(paths.result)
    assert done is not None
    assert (done.proved, done.stop_reason) == (True, "early_stopping")
    assert tuple(done.lengths) == then[:4]  # two lengths below the best end the scan
    assert not paths.scan.exists()  # a final result needs no checkpoint
    assert states(old, capsys) == STATES | {PARTIAL: "done"}
    assert {path: content for path, content in results(old).items() if path in before} == before
