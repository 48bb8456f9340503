"""A job's own side, without a cluster around it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.node import foreground, supervise, supervisor
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.system import machine, serialization
from tests.support.slurm_stand_ins import fake_slurm

ROOT = Path(__file__).parents[2]
WORK = """
import sys
from pathlib import Path
from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.study.files import FoldPaths
paths = FoldPaths(Path(sys.argv[1]))
supervise.work(paths, submissions.read(paths))
"""
LONG = ["dataset=heart_disease", "method=median", "fold=1", "solver=clingo_dl"]


def submit(folder: Path, kind: str, *words: str) -> FoldPaths:
    """A fold whose submission is on disk."""
    config = compose([*LONG, "cluster=slurm", f"results_dir={folder}", *words])
    submission = replace(submissions.new_submission(config, kind), job_id="7")
    paths = fold_paths(config)
    submissions.save(paths, submission)
    return paths


def start(paths: FoldPaths, *before: str) -> subprocess.Popen[bytes]:
    command = [*before, sys.executable, "-c", WORK, str(paths.folder)]
    job = {"SLURM_JOB_ID": "7"}
    return subprocess.Popen(command, env={**os.environ, **job, "PYTHONPATH": str(ROOT)})


def wait_for(paths: FoldPaths, ready: Callable[[Attempt], bool]) -> Attempt:
    deadline = time.monotonic() + 60
    while True:
        attempt = attempts.load(paths)
        if attempt is not None and ready(attempt):
            return attempt
        assert time.monotonic() < deadline, attempt
        time.sleep(0.1)


def test_a_job_requeues_itself_where_no_signal_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_slurm(tmp_path, monkeypatch, scontrol="")
    limits = ("cluster.timeout_h=0.0167", "cluster.signal_delay_s=110")
    paths = submit(tmp_path, "slurm", "solver.encoding=plain", *limits)
    job = start(paths)
    try:
        ended = wait_for(paths, lambda attempt: attempt.end is not None)
    finally:
        job.kill()
        job.wait()
    assert ended.end is AttemptEnd.TIMEOUT
    assert serialization.read(paths.scan)


@pytest.mark.parametrize(
    ("asked", "variables", "expected"),
    [
        (4, {}, ""),
        (9, {}, "9 cores requested, 4 available"),  # more than the node has
        (4, {"SLURM_CPUS_PER_TASK": "1"}, "4 cores requested, 1 available"),
        (4, {"SRUN_CPUS_PER_TASK": "2"}, "4 cores requested, 2 available"),
        (4, {"SLURM_CPUS_ON_NODE": "3"}, "4 cores requested, 3 available"),
        (4, {"SLURM_CPUS_ON_NODE": "odd"}, ""),
    ],
)
def test_a_job_with_fewer_cores_than_it_asked_for_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: int,
    variables: dict[str, str],
    expected: str,
) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    paths = submit(tmp_path, "slurm", f"cluster.cpus={asked}")
    submission = submissions.load(paths)
    assert submission is not None
    supervised = supervisor.Supervisor(submission, paths)
    config = supervised.config_here()
    assert "".join(supervised.attempt.warnings).startswith(expected)
    assert bool(supervised.attempt.warnings) == bool(expected)
    assert config.solver.threads == min(4, *(int(v) for v in variables.values() if v.isdigit()), 9)
    assert expected in (paths.log.read_text() if paths.log.exists() else "")


def test_more_threads_than_cores_are_warned_of_here_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    words = ["solver.threads=5", "cluster=local", f"results_dir={tmp_path}"]
    attempt = foreground.Foreground(compose([*LONG, *words]))
    attempt.config_here()
    expected = "solver.threads=5, but only 4 cores: threads share cores"
    assert attempt.attempt.warnings == (expected,)


@pytest.mark.parametrize(
    ("groups", "content", "cores"),
    [
        ("0::/job\n", {"job/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/job/task\n", {"job/cpu.max": "200000 100000", "job/task/cpu.max": "max 1"}, 2.0),
        ("0::/\n", {}, math.inf),
        ("3:cpu,cpuacct:/j\n", {"cpu,cpuacct/j/cpu.cfs_quota_us": "-1"}, math.inf),
        (
            "3:cpu:/j\n",
            {"cpu/j/cpu.cfs_quota_us": "50000", "cpu/j/cpu.cfs_period_us": "100000"},
            0.5,
        ),
        ("odd", {}, math.inf),
    ],
)
def test_the_limit_of_a_control_group_is_known(
    tmp_path: Path, groups: str, content: dict[str, str], cores: float
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    for name, text in content.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert machine.cgroup_cores(tmp_path) == cores


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core cannot be too few")
def test_a_job_with_too_few_cores_says_so(tmp_path: Path) -> None:
    paths = submit(tmp_path, "local", "scan.max_length=1", "cluster.cpus=2")
    core = min(os.sched_getaffinity(0))
    assert start(paths, "taskset", "-c", str(core)).wait(60) == 0
    done = serialization.read(paths.result)
    assert done is not None
    assert done["provenance"]["warnings"][0].startswith("2 cores requested, 1 available")
    assert done["provenance"]["threads"] == 1


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit])
def test_a_fold_left_at_once_is_stopped_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaving: type[BaseException]
) -> None:
    def leave(*_: object, **__: object) -> None:
        raise leaving

    monkeypatch.setattr("fsm_hpc.study.run.run_fold", leave)
    config = compose([*LONG, f"results_dir={tmp_path}"])
    with pytest.raises(leaving):
        foreground.Foreground(config).result()
    attempt = attempts.load(fold_paths(config))
    assert attempt is not None
    assert attempt.end is AttemptEnd.STOPPED


def test_whoever_works_without_slurm_shows_signs_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FENCE_S", 0.01)
    config = compose([*LONG, f"results_dir={tmp_path}"])
    paths = fold_paths(config)

    def long_work(*_: object, **__: object) -> None:
        os.utime(paths.attempt, (0, 0))
        deadline = time.monotonic() + 20
        while paths.attempt.stat().st_mtime == 0:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    monkeypatch.setattr("fsm_hpc.study.run.run_fold", long_work)
    assert foreground.Foreground(config).result() is None


def test_a_fold_in_the_foreground_outlives_the_shell_that_began_it(tmp_path: Path) -> None:
    words = " ".join([*LONG, "solver.encoding=plain", "scan.max_length=5"])
    command = f"{sys.executable} -m fsm_hpc {words} > said.txt 2>&1 &"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=True)
    paths = FoldPaths(tmp_path / "results/default/heart_disease/median/fold-1")
    ended = wait_for(paths, lambda attempt: attempt.end is not None)
    assert ended.end is AttemptEnd.FINISHED, (tmp_path / "said.txt").read_text()


def test_a_superseded_submission_does_nothing(tmp_path: Path) -> None:
    paths = submit(tmp_path, "local", "scan.max_length=1")
    older = submissions.load(paths)
    assert older is not None
    submissions.save(paths, replace(older, token="newer"))
    assert supervise.work(paths, older) == "superseded"
    assert not paths.attempt.exists()


def test_the_newest_claim_owns_the_fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = submit(tmp_path, "slurm")
    submission = submissions.load(paths)
    assert submission is not None
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    first = attempts.claim(paths, submission)
    assert attempts.is_mine(paths, first)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    second = attempts.claim(paths, submission)
    assert not attempts.is_mine(paths, first)
    assert attempts.is_mine(paths, second)
    assert [entry["restart"] for entry in second.earlier] == [0]


def test_an_attempt_survives_the_way_to_disk_and_back(tmp_path: Path) -> None:
    earlier = {"token": "s", "job_id": "6", "end": None, "progress_s": 0.0}
    values: dict[str, Any] = {"warnings": ("few cores",), "earlier": (earlier,)}
    attempt = Attempt("t", "7", 1, "n1", 5, 1.0, 2.0, AttemptEnd.TIMEOUT, "after 3 s", **values)
    paths = FoldPaths(tmp_path)
    attempts.save(paths, attempt)
    assert attempts.load(paths) == attempt
