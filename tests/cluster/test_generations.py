"""The newest submission and the newest attempt own a fold, whatever clocks say."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, attempts, submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.cluster.schedulers import slurm_script
from fsm_hpc.cluster.schedulers.local import Local
from fsm_hpc.cluster.submit import launch, plan, transaction
from fsm_hpc.study.files import FoldPaths, StudyPaths
from tests.support.fake_slurm import FakeSlurm

ONE = ["dataset=hepatitis", "method=median", "fold=1", "scan.max_length=1", "solver=clingo_dl"]
WORDS = [*ONE, "cluster=slurm"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transaction, "LOOKS", 1)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let this process be on a host whose clock is off by so many seconds."""
    right = time.time
    return lambda off_s: monkeypatch.setattr(time, "time", lambda: right() + off_s)


def study(tmp_path: Path) -> StudyPaths:
    return StudyPaths(tmp_path / "results" / "default")


def fold(tmp_path: Path) -> FoldPaths:
    return FoldPaths(study(tmp_path).root / "hepatitis" / "median" / "fold-1")


def outputs(tmp_path: Path) -> set[Path]:
    return {path.parent for path in study(tmp_path).submissions.glob(f"*/{arrays.FILE}")}


def submit_twice(tmp_path: Path, set_clock: Callable[[float], None], skew_s: float) -> list[Path]:
    """The folders of two submissions of a fold; the second is from a host with another clock."""
    assert main([*WORDS, "-m"]) == 0
    (first,) = outputs(tmp_path)
    assert main(["cancel", "-y"]) == 0
    set_clock(skew_s)
    assert main(["resume"]) == 0
    (second,) = outputs(tmp_path) - {first}
    return [first, second]


@pytest.mark.parametrize("skew_s", [-86400, -120, 120, 86400])
def test_a_replaced_job_does_nothing(
    tmp_path: Path, slurm: FakeSlurm, set_clock: Callable[[float], None], skew_s: float
) -> None:
    first, _ = submit_twice(tmp_path, set_clock, skew_s)
    assert supervise.work_in_array(str(first)) == "superseded"
    assert not fold(tmp_path).attempt.exists()


@pytest.mark.parametrize("skew_s", [-86400, -120, 120, 86400])
def test_the_newest_job_runs_however_soon_it_starts(
    tmp_path: Path, slurm: FakeSlurm, set_clock: Callable[[float], None], skew_s: float
) -> None:
    """Also where the earlier submission is that of a run in the foreground."""
    first, second = submit_twice(tmp_path, set_clock, skew_s)
    submissions.save(*arrays.read(first).members()[0])
    assert supervise.work_in_array(str(second)) == "finished"


@pytest.mark.parametrize("skew_s", [-120, 120])
def test_recovery_gives_the_fold_to_the_newest_submission(
    tmp_path: Path, slurm: FakeSlurm, set_clock: Callable[[float], None], skew_s: float
) -> None:
    first, second = submit_twice(tmp_path, set_clock, skew_s)
    for output, job_id in ((first, "1000"), (second, "1001")):
        arrays.with_state(arrays.read(output), arrays.ArrayState.SENT, job_id)
    assert main([*WORDS, "-m"]) == 0
    last = arrays.last_submission(fold(tmp_path))
    assert last is not None
    assert last.job_id == "1001"


def test_a_queued_job_of_a_folder_that_was_removed_does_not_win(
    tmp_path: Path, slurm: FakeSlurm
) -> None:
    assert main([*WORDS, "-m"]) == 0
    assert main(["cancel", "-y"]) == 0
    assert main(["resume"]) == 0
    newest = max(outputs(tmp_path), key=lambda path: (path / arrays.FILE).stat().st_mtime_ns)
    shutil.rmtree(fold(tmp_path).folder)
    assert main([*WORDS, "-m"]) == 0
    assert supervise.work_in_array(str(newest)) == "superseded"


def test_a_withdrawn_array_of_a_host_whose_clock_is_ahead_is_not_open(
    tmp_path: Path, slurm: FakeSlurm, set_clock: Callable[[float], None]
) -> None:
    slurm.says(sbatch="lost")
    set_clock(120)
    assert main([*WORDS, "-m"]) == 2
    set_clock(0)
    assert arrays.records(study(tmp_path)).open_folders == set()


# -------------------------------------------------------------------------------------- attempts


def claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restart: int
) -> tuple[FoldPaths, attempts.Attempt]:
    paths = fold(tmp_path)
    (output,) = outputs(tmp_path)
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "1000")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    monkeypatch.setenv("SLURM_RESTART_COUNT", str(restart))
    return paths, attempts.claim(paths, arrays.read(output).members()[0][1])


def test_a_late_first_copy_does_not_win_over_a_restart(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*WORDS, "-m"]) == 0
    paths, restarted = claim(tmp_path, monkeypatch, 1)
    (output,) = outputs(tmp_path)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "0")
    assert supervise.work_in_array(str(output)) == "superseded"
    assert attempts.load(paths) == restarted
    assert attempts.is_mine(paths, restarted)


def test_a_first_copy_that_writes_at_the_same_moment_gives_way(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*WORDS, "-m"]) == 0
    paths, first = claim(tmp_path, monkeypatch, 0)
    _, restarted = claim(tmp_path, monkeypatch, 1)
    attempts.save(paths, first)
    assert attempts.is_mine(paths, restarted)
    assert not attempts.is_mine(paths, first)


def test_every_submission_and_attempt_increases_the_generation(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*WORDS, "-m"]) == 0
    paths, first = claim(tmp_path, monkeypatch, 0)
    _, second = claim(tmp_path, monkeypatch, 1)
    assert main(["cancel", "-y"]) == 0
    assert main(["resume"]) == 0
    last = arrays.last_submission(paths)
    assert last is not None
    assert 0 < first.generation < second.generation < last.generation


def test_a_result_is_not_final_while_a_newer_submission_is_queued(
    tmp_path: Path, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the times of the two files are."""
    assert main([*ONE, "scan.budget_h=0.0000001"]) == 0
    paths = fold(tmp_path)
    assert main([*WORDS, "scan.budget_h=1", "-m"]) == 0
    capsys.readouterr()
    for path in (paths.submission, *study(tmp_path).submissions.glob("*/*")):
        os.utime(path, (1000, 1000))
    main(["status", "--json"])
    assert [one["state"] for one in json.loads(capsys.readouterr().out)] == ["queued"]


# --------------------------------------------------------------------- whoever has lost the lock


def take_over(tmp_path: Path) -> None:
    owner = {"host": "elsewhere", "pid": 7, "since": 1.0, "token": "t"}
    (study(tmp_path).root / ".lock").write_text(json.dumps(owner))


def then_take_over(tmp_path: Path, work: Callable[..., Any]) -> Callable[..., Any]:
    """Another host takes the study over while this work is done."""

    def replaced(*words: Any, **named: Any) -> Any:
        done = work(*words, **named)
        take_over(tmp_path)
        return done

    return replaced


def test_who_has_lost_the_lock_does_not_call_sbatch(
    tmp_path: Path,
    slurm: FakeSlurm,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(slurm_script, "write", then_take_over(tmp_path, slurm_script.write))
    assert main([*WORDS, "-m"]) == 2
    assert "process 7 on elsewhere has taken over" in capsys.readouterr().err
    assert slurm.jobs == []
    assert not fold(tmp_path).submission.exists()


def test_who_loses_the_lock_while_sbatch_works_leaves_the_folds_to_the_next(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        asked = then_take_over(tmp_path, slurm_script._run_sbatch)
        patch.setattr(slurm_script, "_run_sbatch", asked)
        assert main([*WORDS, "-m"]) == 2
    assert not fold(tmp_path).submission.exists()
    (study(tmp_path).root / ".lock").unlink()
    assert main([*WORDS, "-m"]) == 0
    assert len(slurm.jobs) == 1
    last = arrays.last_submission(fold(tmp_path))
    assert last is not None
    assert last.job_id == "1000"


@pytest.mark.parametrize("words", [WORDS, [*ONE, "cluster=local"]], ids=["slurm", "local"])
def test_who_has_lost_the_lock_writes_nothing(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(launch, "decide", then_take_over(tmp_path, plan.decide))
    assert main([*words, "-m"]) == 2
    assert [path.name for path in study(tmp_path).root.iterdir()] == [".lock"]


def test_a_local_fold_that_another_command_has_submitted_since_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    submit = Local.submit

    def replaced(scheduler: Local, *words: Any) -> str:
        (array,) = map(arrays.read, outputs(tmp_path))
        ((paths, submission),) = array.members()
        newer = replace(submission, token="newer", generation=submission.generation + 1)
        submissions.save(paths, newer)
        return submit(scheduler, *words)

    monkeypatch.setattr(Local, "submit", replaced)
    main([*ONE, "cluster=local", "-m"])
    latest = submissions.load(fold(tmp_path))
    assert latest is not None
    assert latest.token == "newer"
    assert not fold(tmp_path).attempt.exists()
