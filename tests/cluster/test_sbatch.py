"""The script and the pickle that go to SLURM, as submitit makes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fsm_hpc.cluster.submit import sbatch
from fsm_hpc.cluster.submit.sbatch import Request
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


def request(tmp_path: Path, count: int | None) -> Request:
    output = tmp_path / "out put"
    output.mkdir()
    return Request(some_config(), output, "fsm-s-0a1b", write_down, (tmp_path / "mark",), count, 7)


def test_an_array_has_its_name_its_size_and_its_throttle(tmp_path: Path) -> None:
    text = sbatch.write(request(tmp_path, 30)).read_text()
    for line in ("--job-name=fsm-s-0a1b", "--array=0-29%7", "--cpus-per-task=8", "--requeue"):
        assert f"#SBATCH {line}" in text


def test_a_single_job_is_no_array(tmp_path: Path) -> None:
    assert "--array" not in sbatch.write(request(tmp_path, None)).read_text()


def test_a_job_runs_the_function_whatever_id_it_gets(tmp_path: Path) -> None:
    """The script as SLURM runs it, with srun that only runs what follows its options."""
    made = request(tmp_path, 3)
    script = sbatch.write(made)
    srun = tmp_path / "bin" / "srun"
    srun.write_text(SRUN)
    ids = {"SLURM_JOB_ID": "99", "SLURM_ARRAY_JOB_ID": "97", "SLURM_ARRAY_TASK_ID": "2"}
    rest = {"SLURM_CPUS_PER_TASK": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_NODEID": "0"}
    ranks = {"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    done = subprocess.run(
        ["bash", str(script)], env=os.environ | ids | rest | ranks, capture_output=True, text=True
    )
    assert (tmp_path / "mark").read_text() == "was here", done.stdout + done.stderr
    assert (made.output / "97_2_submitted.pkl").is_symlink()
