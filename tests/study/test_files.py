"""Names and atomic writes: a reader sees the old file or the new one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError


def test_a_failed_write_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scan.json"
    files.write_json(path, {"length": 1})

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        files.write_json(path, {"length": 2})
    assert serialization.read(path) == {"length": 1}
    assert os.listdir(tmp_path) == ["scan.json"]  # noqa: PTH208


def test_a_kill_before_the_replacement_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scan.json"
    files.write_json(path, {"length": 1})

    def killed(source: Path, target: Path) -> None:
        raise SystemExit(9)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(SystemExit):
        files.write_json(path, {"length": 2})
    assert serialization.read(path) == {"length": 1}


@pytest.mark.parametrize("content", ["", '{"a": 1', "[1]", "null"])
def test_a_file_that_is_not_whole_is_unreadable(tmp_path: Path, content: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(UnreadableError, match="cannot be read"):
        serialization.read(path)


def test_a_missing_file_reads_as_none(tmp_path: Path) -> None:
    assert serialization.read(tmp_path / "no" / "result.json") is None


def test_folds_are_listed_in_order_and_strangers_are_passed_over(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path)
    for fold in (10, 2):
        study.fold(FoldId("bank", "pivot", fold)).folder.mkdir(parents=True)
    (tmp_path / "bank" / "pivot" / "fold-x").mkdir()
    (tmp_path / "tables").mkdir()
    expected = [FoldId("bank", "pivot", 2), FoldId("bank", "pivot", 10)]
    assert list(study.folds_on_disk()) == [(fold_id, study.fold(fold_id)) for fold_id in expected]


def test_a_fold_knows_its_study(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path / "study")
    assert study.fold(FoldId("bank", "pivot", 0)).study == study


def test_conf_and_encodings_are_found_from_a_checkout() -> None:
    assert (files.conf_dir() / "config.yaml").is_file()
    assert any(files.encodings_dir().rglob("*.lp"))


def test_a_link_to_itself_hides_no_fold(tmp_path: Path) -> None:
    study = StudyPaths(tmp_path)
    study.fold(FoldId("hepatitis", "pivot", 3)).folder.mkdir(parents=True)
    study.settings.symlink_to(study.settings.name)
    assert [fold for fold, _ in study.folds_on_disk()] == [FoldId("hepatitis", "pivot", 3)]
