"""Submitting is a transaction: whatever sbatch does, a fold has one job or stays as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, cancellations
from fsm_hpc.cluster.arrays import ArrayState
from fsm_hpc.cluster.node import supervise
from fsm_hpc.cluster.schedulers import slurm_script
from fsm_hpc.cluster.schedulers.base import Batch
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import serialization
from tests.support.fake_slurm import FakeSlurm

ROOT = Path(__file__).parents[2]
WORDS = ["dataset=hepatitis", "method=median", "cluster=slurm", "fold=0,1"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transaction, "LOOKS", 1)
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def study(tmp_path: Path) -> StudyPaths:
    return StudyPaths(tmp_path / "results" / "default")


def folds(tmp_path: Path) -> dict[str, Any]:
    """The last submission of every fold."""
    paths = [paths for _, paths in study(tmp_path).folds_on_disk()]
    found = {one.folder.name: arrays.last_submission(one) for one in paths}
    return {name: serialization.plain(one) for name, one in found.items() if one is not None}


def states(capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["status", "--json", *WORDS]) == 0
    return [one["state"] for one in json.loads(capsys.readouterr().out)]


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fsm_hpc", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # a test run in the background of a shell ignores Ctrl-C, and so would what it starts
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_jobs_find_what_they_need_however_soon_they_start(tmp_path: Path, slurm: FakeSlurm) -> None:
    assert main([*WORDS, "-m"]) == 0
    (job,) = slurm.jobs
    assert job["has_pickle"]
    assert [one["job_id"] for one in folds(tmp_path).values()] == ["1000_0", "1000_1"]


def test_an_array_that_is_one_too_many_waits_for_another_to_end(
    tmp_path: Path, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["method=median,pivot", "cluster.by.pivot.cpus=2", "cluster.max_parallel=1"]
    assert main(["dataset=hepatitis", "cluster=slurm", "fold=0,1", *words, "-m"]) == 0
    first, second = sorted(tmp_path.rglob("jobs.sh"), key=lambda path: path.stat().st_mtime_ns)
    assert "--array=0-1%1" in first.read_text()
    assert "dependency" not in first.read_text()
    assert "--dependency=afterany:1000" in second.read_text()
    assert "1 at a time, after job 1000 has ended" in capsys.readouterr().out
    stored = [one["config"]["cluster"]["options"] for one in folds(tmp_path).values()]
    assert stored == [None, None]


def test_each_study_of_a_sweep_records_its_own_jobs(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "study=a,b", "-m"]) == 0
    for name in ("a", "b"):
        capsys.readouterr()
        assert main(["status", "--json", f"study={name}"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [one["state"] for one in found] == ["queued", "queued"]


@pytest.mark.parametrize("mode", ["garbled", "error"])
def test_jobs_of_an_unclear_answer_are_found_by_their_name(
    tmp_path: Path, slurm: FakeSlurm, mode: str
) -> None:
    slurm.says(sbatch=mode)
    assert main([*WORDS, "-m"]) == 0
    assert [one["job_id"] for one in folds(tmp_path).values()] == ["1000_0", "1000_1"]
    slurm.says(sbatch="ok")
    assert main([*WORDS, "-m"]) == 0
    assert len(slurm.calls("sbatch")) == 1


@pytest.mark.parametrize("mode", ["refuse", "lost"])
def test_what_was_there_stays_when_sbatch_refuses(
    tmp_path: Path, slurm: FakeSlurm, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    assert main(["cancel", "-y"]) == 0
    before = folds(tmp_path)
    slurm.says(sbatch=mode)
    assert main(["resume", "cluster.partition=nope"]) == 2
    assert "SLURM refused 2 jobs" in capsys.readouterr().err
    assert folds(tmp_path) == before
    assert states(capsys) == ["cancelled", "cancelled"]
    slurm.says(sbatch="ok")
    assert main(["resume"]) == 0
    assert len(slurm.jobs) == 2


def test_jobs_that_come_after_they_were_given_up_are_cancelled(
    tmp_path: Path, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.says(sbatch="lost")
    assert main([*WORDS, "-m"]) == 2
    ((made, _),), _ = arrays.unsettled(study(tmp_path))
    late = {"id": "7", "name": made.name, "count": 2, "is_cancelled": False}
    (slurm.folder / "queue").write_text(json.dumps(late) + "\n")
    slurm.says(sbatch="ok")
    capsys.readouterr()
    assert main([*WORDS, "-m"]) == 0
    assert "job 7 appeared although its submission had been refused" in capsys.readouterr().out
    assert ["7"] in slurm.calls("scancel")
    assert [one["job_id"] for one in folds(tmp_path).values()] == ["1001_0", "1001_1"]


def test_a_job_that_was_withdrawn_does_nothing(
    tmp_path: Path, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.says(sbatch="lost")
    assert main([*WORDS, "-m"]) == 2
    (output,) = study(tmp_path).submissions.iterdir()
    assert supervise.work_in_array(str(output)) == "superseded"
    assert "withdrawn" in capsys.readouterr().out
    assert folds(tmp_path) == {}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_jobs_of_a_command_that_was_ended_are_adopted_by_the_next(
    tmp_path: Path,
    slurm: FakeSlurm,
    end: signal.Signals,
    capsys: pytest.CaptureFixture[str],
) -> None:
    slurm.says(sbatch="hang")
    first = start(*WORDS, "-m")
    wait(lambda: bool(slurm.jobs))
    assert states(capsys) == ["unknown", "unknown"]
    first.send_signal(end)
    first.wait(timeout=60)
    slurm.end_commands()
    assert states(capsys) == ["unknown", "unknown"]
    slurm.says(sbatch="ok")
    assert main([*WORDS, "-m"]) == 0
    assert "was found and is used for its folds" in capsys.readouterr().out
    assert [one["job_id"] for one in folds(tmp_path).values()] == ["1000_0", "1000_1"]
    assert len(slurm.jobs) == 1


def test_jobs_that_never_reached_slurm_are_sent_again(
    tmp_path: Path, slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    (output,) = study(tmp_path).submissions.iterdir()
    arrays.with_state(arrays.read(output), ArrayState.OPEN)
    (slurm.folder / "queue").write_text("")  # as if killed before sbatch was called
    capsys.readouterr()
    assert main([*WORDS, "-m"]) == 0
    told = capsys.readouterr().out
    assert "never reached SLURM" in told
    assert "2 submitted" in told


def test_a_cut_between_answer_and_folds_is_mended(tmp_path: Path, slurm: FakeSlurm) -> None:
    assert main([*WORDS, "-m"]) == 0
    (output,) = study(tmp_path).submissions.iterdir()
    arrays.with_state(arrays.read(output), ArrayState.SENT, "1000")
    before = folds(tmp_path)
    assert main([*WORDS, "-m"]) == 0
    assert arrays.read(output).state is ArrayState.SETTLED
    assert folds(tmp_path) == before
    assert len(slurm.jobs) == 1


@pytest.mark.parametrize("mode", ["fail", "garbled", "empty"])
def test_folds_whose_jobs_nobody_knows_of_are_not_submitted_again(
    slurm: FakeSlurm, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.says(sbatch="garbled", squeue=mode)
    assert main([*WORDS, "-m"]) == 2
    assert "the next command checks this" in capsys.readouterr().err
    slurm.says(sbatch="ok")
    assert main([*WORDS, "-m"]) == 0
    assert "0 submitted, 2 skipped" in capsys.readouterr().out
    slurm.says(squeue="ok")
    assert main([*WORDS, "-m"]) == 0
    assert len(slurm.jobs) == 1


def test_two_shells_at_once_submit_each_fold_once(tmp_path: Path, slurm: FakeSlurm) -> None:
    slurm.says(sbatch="slow")
    both = [start(*WORDS, "-m") for _ in range(2)]
    told = sorted(process.communicate(timeout=90)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0], told
    assert len(slurm.jobs) == 1
    assert any("2 submitted, 0 skipped" in one for one in told), told
    assert any("0 submitted, 2 skipped" in one for one in told), told
    assert [one["job_id"] for one in folds(tmp_path).values()] == ["1000_0", "1000_1"]


def test_a_cancel_mark_wins_over_a_submission_under_way(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = slurm_script.submit

    def marked(request: Batch, before: Callable[[], None]) -> str:
        """`cancel` runs while sbatch runs."""
        cancellations.cancel(arrays.read(request.output).members()[:1])
        return submit(request, before)

    monkeypatch.setattr(slurm_script, "submit", marked)
    assert main([*WORDS, "-m"]) == 0
    assert [one["cancelled_at"] is None for one in folds(tmp_path).values()] == [False, True]
    (output,) = study(tmp_path).submissions.iterdir()
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "1000")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    assert supervise.work_in_array(str(output)) == "superseded"


def test_a_job_that_starts_first_makes_the_fold_its_own(
    tmp_path: Path, slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm.says(sbatch="garbled", squeue="fail")
    assert main([*WORDS, "scan.max_length=1", "solver=clingo_dl", "-m"]) == 2
    (output,) = study(tmp_path).submissions.iterdir()
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "1000")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
    assert supervise.work_in_array(str(output)) == "finished"
    paths = FoldPaths(study(tmp_path).root / "hepatitis" / "median" / "fold-1")
    assert json.loads(paths.result.read_text())["provenance"]["job_ids"] == ["1000_1"]
