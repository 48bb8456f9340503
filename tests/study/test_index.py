"""The index of finished folds: what it says is what the files say, whatever becomes of either."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldFiles
from fsm_hpc.study import index, result
from fsm_hpc.study.encoded_rows import EncodedRows
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from tests.support.made_studies import fold_result

FOLDS = [FoldId("hepatitis", "pivot", fold) for fold in range(10)]
LONG_AGO = 1_600_000_000


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyPaths:
    """Ten finished folds, and their index."""
    monkeypatch.setattr(index, "FEW", 1)
    made = StudyPaths(tmp_path / "study")
    for fold in FOLDS:
        write(made, fold)
    read_study(made)
    assert made.index.exists()
    return made


def write(study: StudyPaths, fold: FoldId, **changes: Any) -> None:
    path = study.fold(fold).result
    result.save(path, fold_result(fold.dataset, fold.method, fold.fold, **changes))
    settle(study, fold)


def settle(study: StudyPaths, fold: FoldId) -> None:
    """As if it had been written some time ago."""
    for path in (study.fold(fold).result, study.fold(fold).folder):
        os.utime(path, (LONG_AGO, LONG_AGO))


def read_study(study: StudyPaths) -> list[FoldFiles]:
    return fold_files.read_all(list(fold_files.on_disk(study.root)))


class Reads:
    """Which results were read from their own files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folds: list[str] = []
        self._read = result.read
        monkeypatch.setattr(result, "read", self)

    def __call__(self, path: Path, fold: FoldId | None = None) -> Any:
        self.folds.append(path.parent.name)
        return self._read(path, fold)


@pytest.fixture
def reads(study: StudyPaths, monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


def test_indexed_results_are_those_of_the_files_and_are_not_read_again(
    study: StudyPaths, reads: Reads
) -> None:
    found = [one.result for one in read_study(study)]
    assert reads.folds == []
    study.index.unlink()
    assert [one.result for one in read_study(study)] == found
    assert len(reads.folds) == len(FOLDS)


def test_a_rewritten_result_is_noticed_also_with_its_former_size_and_time(
    study: StudyPaths, reads: Reads
) -> None:
    path = study.fold(FOLDS[3]).result
    content = path.read_text()
    path.write_text(content.replace('"errors": 12', '"errors": 13'))
    assert path.stat().st_size == len(content)
    settle(study, FOLDS[3])
    changed = read_study(study)[3].result
    assert changed is not None
    assert changed.errors == 13
    assert reads.folds == ["fold-3"]


def test_a_new_submission_is_noticed(study: StudyPaths, reads: Reads) -> None:
    (study.fold(FOLDS[2]).submission).write_text("{}")
    read_study(study)
    assert reads.folds == ["fold-2"]


def test_a_removed_result_is_not_told(study: StudyPaths) -> None:
    study.fold(FOLDS[5]).result.unlink()
    assert [one.result is None for one in read_study(study)].index(True) == 5


def test_outdated_files_are_counted_whether_the_fold_is_indexed_or_not(study: StudyPaths) -> None:
    (study.fold(FOLDS[1]).folder / "scan.outdated-20260101-000000-abc.json").write_text("{}")
    settle(study, FOLDS[1])
    for _ in range(2):
        assert [one.outdated for one in read_study(study)] == [0, 1] + [0] * 8


def _of_another_version(path: Path) -> None:
    content = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(content.replace(b"\xa5", b"\xa4", 1)))


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def _as_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "flipped": _flipped,
    "text": lambda path: path.write_text("{}"),
    "other chunks": lambda path: path.write_bytes(gzip.compress(b"\0" * 3 + b"\1\xc0")),
    "a long chunk": lambda path: path.write_bytes(gzip.compress(b"\xff" * 64)),
    "another version": _of_another_version,
    "a folder": _as_a_folder,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_becomes_of_the_index_the_results_stay_the_same(
    study: StudyPaths, damage: str
) -> None:
    before = [one.result for one in read_study(study)]
    DAMAGES[damage](study.index)
    assert [one.result for one in read_study(study)] == before
    assert [one.result for one in read_study(study)] == before


def test_an_index_of_other_code_is_rebuilt(
    study: StudyPaths, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fsm_hpc.study.provenance.code_digest", lambda: "other")
    read_study(study)
    assert len(reads.folds) == len(FOLDS)
    read_study(study)
    assert len(reads.folds) == len(FOLDS)


def test_a_result_that_was_written_a_moment_ago_is_not_indexed(
    study: StudyPaths, reads: Reads
) -> None:
    path = study.fold(FOLDS[0]).result
    path.write_text(path.read_text())
    read_study(study)
    read_study(study)
    assert reads.folds == ["fold-0", "fold-0"]


def test_a_damaged_result_is_not_indexed(study: StudyPaths) -> None:
    study.fold(FOLDS[4]).result.write_text("half of a fi")
    settle(study, FOLDS[4])
    for _ in range(2):
        assert [len(one.damage) for one in read_study(study)] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


def test_few_new_results_are_not_worth_writing_the_index(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = study.index.read_bytes()
    monkeypatch.setattr(index, "FEW", 3)
    write(study, FOLDS[0], errors=11)
    read_study(study)
    assert study.index.read_bytes() == before


def test_a_result_in_the_folder_of_another_fold_is_not_taken_from_the_index(
    study: StudyPaths,
) -> None:
    saved = json.loads(study.fold(FOLDS[6]).result.read_text())
    study.fold(FOLDS[7]).result.write_text(json.dumps(saved))
    settle(study, FOLDS[7])
    assert read_study(study)[7].result is None


def test_a_study_that_cannot_be_written_is_read_without_an_index(
    study: StudyPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.index.unlink()

    def refused(path: Path, content: bytes) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("fsm_hpc.system.files.write_atomically", refused)
    assert all(one.result is not None for one in read_study(study))


def test_rows_that_are_packed_are_those_that_went_in() -> None:
    done = fold_result("hepatitis", "pivot", 0)
    packed = EncodedRows(done.lengths)
    assert packed == done.lengths
    assert (len(packed), packed[0], packed[-1]) == (6, done.lengths[0], done.lengths[-1])
    assert replace(done, lengths=packed) == done
