"""Folds side by side on this machine: stopped, seen and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import submissions
from fsm_hpc.study.files import StudyPaths

ROOT = Path(__file__).parents[2]
# the paper's plain rules need some ten seconds for length 5 of these folds, and minutes for more
LONG = ("dataset=heart_disease", "method=median", "fold=0,1,2", "solver=clingo_dl")
PLAIN = ("solver.encoding=plain", "cluster=local", "-m")


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fsm_hpc", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *words: str) -> str:
    output, _ = start(folder, *words).communicate(timeout=200)
    return output


def states(folder: Path) -> list[dict[str, Any]]:
    if not (folder / "results").exists():
        return []
    found: list[dict[str, Any]] = json.loads(run(folder, "status", "--json"))
    return found


def wait(folder: Path, ready: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 90
    while not ready(found := states(folder)):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


def some_run_at_length_4(found: list[dict[str, Any]]) -> bool:
    return any(s["state"] == "running" and (s["length"] or 0) >= 4 for s in found)


@pytest.fixture
def sweep(tmp_path: Path) -> Any:
    process = start(tmp_path, *LONG, *PLAIN)
    yield process
    process.kill()
    process.communicate()


def test_ctrl_c_saves_the_folds_and_resume_goes_on_with_a_shorter_scan(
    tmp_path: Path, sweep: subprocess.Popen[str]
) -> None:
    wait(tmp_path, some_run_at_length_4)
    sweep.send_signal(signal.SIGINT)
    told, _ = sweep.communicate(timeout=90)
    assert sweep.returncode == 130, told
    stopped = states(tmp_path)
    assert {s["state"] for s in stopped} <= {"partial", "missing"}
    assert any("resumes at length" in s["reason"] for s in stopped)
    again = run(tmp_path, "resume", "cluster=local", "scan.max_length=3")
    assert "3 done" in again
    assert "resumes at length" in again


def test_workers_whose_parent_is_killed_save_and_stop(
    tmp_path: Path, sweep: subprocess.Popen[str]
) -> None:
    wait(tmp_path, some_run_at_length_4)
    sweep.kill()
    sweep.wait()
    found = wait(tmp_path, lambda found: all(s["state"] in ("partial", "missing") for s in found))
    assert any("resumes at length" in s["reason"] for s in found)


def test_a_fold_in_the_foreground_is_seen_and_resumed_with_its_own_settings(
    tmp_path: Path,
) -> None:
    one = (*LONG[:2], "fold=1", *LONG[3:], PLAIN[0], "seed=7")
    process = start(tmp_path, *one)
    wait(tmp_path, lambda found: any(s["state"] == "running" and s["length"] for s in found))
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert (process.returncode, "stopped; run the same command again to continue" in told) == (
        130,
        True,
    ), told
    assert [s["state"] for s in states(tmp_path)] == ["partial"]
    assert "1 done" in run(tmp_path, "resume", "cluster=local", "scan.max_length=1")
    (done,) = tmp_path.glob("results/*/*/*/*/result.json")
    assert json.loads(done.read_text())["seed"] == 7


@pytest.mark.usefixtures("sweep")
def test_a_fold_that_a_job_works_on_is_not_run_in_the_foreground_as_well(tmp_path: Path) -> None:
    found = wait(tmp_path, lambda found: any(s["state"] == "running" for s in found))
    fold = next(s["fold"] for s in found if s["state"] == "running")
    again = start(tmp_path, *LONG[:2], f"fold={fold}", LONG[3], PLAIN[0])
    told, _ = again.communicate(timeout=60)
    assert again.returncode == 2, told
    assert f"fold-{fold} is running" in told
    assert "`cancel` ends it" in told
    assert not (tmp_path / f"results/default/heart_disease/median/fold-{fold}/result.json").exists()


def test_what_stands_in_the_place_of_a_result_is_kept_aside_and_named(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a,b,label\n" + "1,2,yes\n3,4,no\n5,1,yes\n2,2,no\n" * 10)
    words = ["dataset=csv", "dataset.path=own.csv", "dataset.target=label", "method=median"]
    common = ["solver=clingo_dl", "cluster=local", "scan.max_length=1", "fold=0,1", "-m"]
    blocked = tmp_path / "results" / "default" / "own" / "median" / "fold-0" / "result.json"
    blocked.mkdir(parents=True)  # a folder where the result should go
    (blocked / "file").touch()
    told = run(tmp_path, *words, *common)
    assert "result.json cannot be read: it is a folder" in told, told
    assert "2 done" in told, told
    (kept,) = blocked.parent.glob(".damaged-result.json-*")
    assert (kept / "file").exists()
    assert f"kept as {kept.name}" in told


def test_a_job_queued_by_another_version_computes_nothing_until_it_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = submissions.code_now()
    with monkeypatch.context() as earlier:
        earlier.setattr(submissions, "code_now", lambda: here | {"version": "0.1.9"})
        words = ["dataset=hepatitis", "method=median", "fold=1", "scan.max_length=1"]
        assert main([*words, "cluster=local", "-m"]) == 2
    (found,) = states(tmp_path)
    assert found["state"] == "needs resume"
    assert f"queued by fsm_hpc 0.1.9, found fsm_hpc {here['version']}; `resume`" in found["reason"]
    ((_, paths),) = StudyPaths(tmp_path / "results" / "default").folds_on_disk()
    assert not paths.scan.exists()
    assert not paths.result.exists()
    assert main(["resume", "cluster=local"]) == 0
    assert [one["state"] for one in states(tmp_path)] == ["done"]
