"""The script and the pickle that go to SLURM, as submitit makes them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fsm_hpc.cluster.schedulers import slurm_commands, slurm_script
from fsm_hpc.cluster.schedulers.base import Batch, UnclearError
from tests.support.fake_slurm import FakeSlurm
from tests.support.slurm_stand_ins import some_config

SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do
    [[ $1 == --output ]] && shift
    shift
done
"$@"
"""


def write_down(path: Path) -> str:
    path.write_text("was here")
    return "done"


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeSlurm(tmp_path / "bin", monkeypatch)


def request(tmp_path: Path, count: int | None) -> Batch:
    output = tmp_path / "out put"
    output.mkdir()
    return Batch(some_config(), output, "fsm-s-0a1b", write_down, (tmp_path / "mark",), count, 7)


def test_an_array_has_its_name_its_size_and_its_throttle(tmp_path: Path) -> None:
    text = slurm_script.write(request(tmp_path, 30)).read_text()
    for line in ("--job-name=fsm-s-0a1b", "--array=0-29%7", "--cpus-per-task=8", "--requeue"):
        assert f"#SBATCH {line}" in text


def test_a_single_job_is_no_array(tmp_path: Path) -> None:
    assert "--array" not in slurm_script.write(request(tmp_path, None)).read_text()


def run_job(tmp_path: Path, made: Batch, srun: str) -> subprocess.CompletedProcess[str]:
    """The script as SLURM runs it, with another srun and without pauses."""
    script = slurm_script.write(made)
    (tmp_path / "bin" / "srun").write_text(srun)
    (tmp_path / "bin" / "sleep").write_text("#!/bin/bash\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    ids = {"SLURM_JOB_ID": "99", "SLURM_ARRAY_JOB_ID": "97", "SLURM_ARRAY_TASK_ID": "2"}
    rest = {"SLURM_CPUS_PER_TASK": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_NODEID": "0"}
    ranks = {"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    environment = os.environ | ids | rest | ranks
    return subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True)


def test_a_job_runs_the_function_whatever_id_it_gets(tmp_path: Path) -> None:
    made = request(tmp_path, 3)
    done = run_job(tmp_path, made, SRUN)
    assert done.returncode == 0
    assert (tmp_path / "mark").read_text() == "was here", done.stdout + done.stderr
    assert not list(made.output.glob("97_2_*")), "a job that has ended well leaves its output only"


def failing(tmp_path: Path, times: int) -> str:
    """An srun that does not get to start anything the first times."""
    tries = tmp_path / "tries"
    count = f'echo x >> "{tries}"; [ $(wc -l < "{tries}") -le {times} ] && exit 1'
    return SRUN.replace("#!/bin/bash\n", f"#!/bin/bash\n{count}\n")


def tries(tmp_path: Path) -> int:
    return len((tmp_path / "tries").read_text().splitlines())


def test_a_launch_that_slurm_fails_is_tried_again(tmp_path: Path) -> None:
    done = run_job(tmp_path, request(tmp_path, 3), failing(tmp_path, 2))
    assert done.returncode == 0
    assert (tmp_path / "mark").exists()
    assert tries(tmp_path) == 3
    assert "SLURM did not start the task (srun: exit code 1); retry in 5 s" in done.stdout


def test_a_launch_that_never_succeeds_fails_the_job(tmp_path: Path) -> None:
    done = run_job(tmp_path, request(tmp_path, 3), failing(tmp_path, 99))
    assert done.returncode == 1
    assert tries(tmp_path) == len(slurm_script.SRUN_RETRY_S) + 1


def test_what_has_begun_is_not_begun_again(tmp_path: Path) -> None:
    made = request(tmp_path, 3)
    breaking = replace(made, task=write_down, arguments=(tmp_path / "no" / "such" / "folder",))
    done = run_job(tmp_path, breaking, failing(tmp_path, 0))
    assert done.returncode != 0
    assert tries(tmp_path) == 1


def test_variables_of_a_shell_do_not_win_over_what_a_script_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = ("JOB_NAME", "ARRAY_INX", "TIMELIMIT", "SIGNAL", "NO_REQUEUE", "OPEN_MODE", "WAIT")
    for name in (*taken, "ACCOUNT", "QOS"):
        monkeypatch.setenv(f"SBATCH_{name}", "7")
    (tmp_path / "bin" / "sbatch").write_text("#!/bin/sh\nenv >&2\nexit 1\n")
    with pytest.raises(UnclearError) as told:
        slurm_script.submit(request(tmp_path, 3))
    seen = {part.partition("=")[0] for part in str(told.value).split("; ")}
    assert {name for name in seen if name.startswith("SBATCH_")} == {"SBATCH_ACCOUNT", "SBATCH_QOS"}


def test_habits_of_a_shell_hide_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SQUEUE_PARTITION", "SCANCEL_INTERACTIVE", "SLURM_TIME_FORMAT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("SLURM_CONF", "kept")
    told = slurm_commands.run("env") or ""
    seen = {line.partition("=")[0] for line in told.splitlines()}
    assert {name for name in seen if name.startswith(("SQ", "SC", "SLURM_"))} == {"SLURM_CONF"}
