"""What a kill leaves of a write is cleared by the next claim, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.system import tempfiles

HERE, DAY_S = tempfiles.namespace_digest(), 24 * 3600


@pytest.fixture(scope="module")
def dead() -> int:
    """The id of a process that is gone."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


def put(folder: Path, name: str, age_s: float) -> Path:
    path = folder / name
    path.write_text("half of it")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_drafts_of_dead_processes_go_and_all_else_stays(tmp_path: Path, dead: int) -> None:
    gone = [
        put(tmp_path, f".result.json.{HERE}.{dead}.0123abcd", 120),
        put(tmp_path, ".scan.json.another.host.7.0123abcd", 2 * DAY_S),
    ]
    stays = [
        put(tmp_path, f".result.json.{HERE}.{dead}.0123abce", 1),  # perhaps of a container
        put(tmp_path, f".result.json.{HERE}.1.0123abcd", 120),
        put(tmp_path, f".scan.json.another.host.{dead}.0123abcd", DAY_S / 2),
        put(tmp_path, ".damaged-result.json-20200101-000000-0123ab", 9 * DAY_S),
        put(tmp_path, "result.json", 9 * DAY_S),
        put(tmp_path, ".model.alternatives.json", 9 * DAY_S),
        put(tmp_path, f"mine.{HERE}.{dead}.0123abcd", 9 * DAY_S),
    ]
    (tmp_path / f".x.json.{HERE}.{dead}.0123abcd").symlink_to("result.json")
    assert tempfiles.clear(tmp_path) == len(gone)
    assert [path.exists() for path in gone] == [False, False]
    assert all(path.exists() for path in stays)
    assert (tmp_path / f".x.json.{HERE}.{dead}.0123abcd").is_symlink()


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert tempfiles.clear(tmp_path / "nothing") == 0


def test_whoever_claims_a_fold_clears_what_a_kill_left(tmp_path: Path, dead: int) -> None:
    words = ["dataset=hepatitis", "method=median", "fold=0", f"results_dir={tmp_path}"]
    config = compose(words)
    paths = fold_paths(config)
    paths.folder.mkdir(parents=True)
    left = put(paths.folder, f".scan.json.{HERE}.{dead}.0123abcd", 120)
    attempts.claim(paths, submissions.new_submission(config, "local"))
    assert not left.exists()
    assert paths.attempt.exists()
