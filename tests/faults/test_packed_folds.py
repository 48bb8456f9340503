"""Folds that share a job: what happens to one of them, or to the job, costs no other fold."""

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
from tests.support.fake_slurm import FakeSlurm

ROOT = Path(__file__).parents[2]
WORDS = ["dataset=hepatitis", "method=median", "solver=native", "scan.max_length=2", "fold=0,1,2"]
SITE = ["cluster=slurm", "cluster.cpus=1", "cluster.mem_gb=1", "cluster.folds_per_job=3"]
# the job as it is, but that fold 1 does something first, unless the file `free` is there
JOB = """
import os, sys
from pathlib import Path
import fsm_hpc.study.run as run
from fsm_hpc.cluster.node import supervise

run_fold = run.run_fold

def troubled(config, stop, *rest, **more):
    if config.fold == 1 and not Path("free").exists():
        {trouble}
    return run_fold(config, stop, *rest, **more)

run.run_fold = troubled
print(supervise.work_in_array(sys.argv[1]))
"""
WAITS = "stop.wait(120); return None"
# the signal before the time limit, which only this fold receives
LIMIT_OF_FOLD = f"os.kill(os.getpid(), {int(signal.SIGUSR2)}); return None"


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three folds that were submitted as one job."""
    monkeypatch.chdir(tmp_path)
    FakeSlurm(tmp_path / "bin", monkeypatch)
    assert main([*WORDS, *SITE, "-m"]) == 0
    (array,) = tmp_path.rglob("array.json")
    return array.parent


def start(output: Path, trouble: str, restart: int = 0) -> subprocess.Popen[str]:
    job = {"SLURM_JOB_ID": "1000", "SLURM_RESTART_COUNT": str(restart)}
    return subprocess.Popen(
        [sys.executable, "-c", JOB.format(trouble=trouble), str(output)],
        env={**os.environ, **job, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(output: Path, trouble: str, restart: int = 0) -> str:
    told, _ = start(output, trouble, restart).communicate(timeout=200)
    return told


def attempt(fold: int) -> dict[str, Any]:
    path = Path(f"results/default/hepatitis/median/fold-{fold}/attempt.json")
    return json.loads(path.read_text()) if path.exists() else {}


def wait(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def ends() -> list[str | None]:
    return [attempt(fold).get("end") for fold in range(3)]


def results() -> int:
    return len(list(Path("results").rglob("result.json")))


def test_all_folds_of_a_job_finish(output: Path) -> None:
    assert "finished" in run(output, "pass")
    assert ends() == ["finished"] * 3


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_fold_whose_process_dies_takes_no_other_with_it(output: Path, number: int) -> None:
    run(output, f"os.kill(os.getpid(), {int(number)})")
    expected = "out_of_memory" if number == signal.SIGKILL else "error"
    assert ends() == ["finished", expected, "finished"]
    assert "the other folds of its job continued" in attempt(1)["message"]


def test_a_fold_that_wants_too_much_memory_gets_an_error_and_no_other_does(output: Path) -> None:
    run(output, "b'x' * (3 * 2**30)")
    assert ends() == ["finished", "out_of_memory", "finished"]


def test_a_fold_with_an_error_does_not_end_the_job(output: Path) -> None:
    run(output, "raise RuntimeError('odd')")
    assert ends() == ["finished", "error", "finished"]
    assert attempt(1)["message"] == "RuntimeError: odd"


def test_at_its_time_limit_a_job_is_requeued_and_goes_on_with_what_is_left(output: Path) -> None:
    job = start(output, WAITS)
    wait(lambda: attempt(1))
    os.kill(job.pid, signal.SIGUSR2)
    wait(lambda: ends()[1] is not None)
    assert ends() == ["finished", "preempted", None]
    wait(lambda: "requeue" in Path("bin/calls").read_text())
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    Path("free").touch()
    assert "finished" in run(output, WAITS, restart=1)
    assert ends() == ["finished"] * 3
    assert [attempt(fold)["restart"] for fold in range(3)] == [0, 1, 1]


def test_a_fold_that_notices_the_time_limit_before_its_job_requeues_the_job(output: Path) -> None:
    job = start(output, LIMIT_OF_FOLD)
    wait(lambda: "requeue" in Path("bin/calls").read_text())
    assert ends() == ["finished", "preempted", "finished"]
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    Path("free").touch()
    assert "finished" in run(output, WAITS, restart=1)
    assert ends() == ["finished"] * 3


def test_a_fold_that_was_cancelled_after_a_time_limit_does_not_requeue_its_job(
    output: Path,
) -> None:
    job = start(output, LIMIT_OF_FOLD)
    wait(lambda: "requeue" in Path("bin/calls").read_text())
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    assert main(["cancel", "fold=1", "-y"]) == 0
    assert "finished" in run(output, WAITS, restart=1)
    assert ends() == ["finished", "preempted", "finished"]


def test_a_job_that_is_killed_goes_on_and_the_fold_that_ran_comes_last(output: Path) -> None:
    job = start(output, WAITS)
    wait(lambda: attempt(1))
    os.killpg(job.pid, signal.SIGKILL)  # as with its node
    job.communicate()
    assert results() == 1
    Path("free").touch()
    assert "finished" in run(output, WAITS, restart=1)
    assert results() == 3
    assert attempt(1)["started_at"] > attempt(2)["ended_at"]


def test_a_fold_that_is_cancelled_in_its_job_stops_alone(output: Path) -> None:
    job = start(output, WAITS)
    wait(lambda: attempt(1))
    assert main(["cancel", "fold=1", "-y"]) == 0
    told, _ = job.communicate(timeout=200)
    assert ends() == ["finished", "stopped", "finished"], told
