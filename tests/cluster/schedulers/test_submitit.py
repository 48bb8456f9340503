"""What is relied on of submitit beyond its public interface, for the one version that is pinned."""

from __future__ import annotations

import pickle
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from fsm_hpc.cluster.schedulers import slurm_script
from fsm_hpc.cluster.schedulers.base import Batch
from tests.support.fake_slurm import FakeSlurm
from tests.support.slurm_stand_ins import some_config

ROOT = Path(__file__).parents[3]


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Batch:
    FakeSlurm(tmp_path / "bin", monkeypatch)
    return Batch(some_config(), tmp_path, "fsm-name", divmod, (7, 2), 30, 4)


def test_the_installed_submitit_is_the_pinned_one() -> None:
    pins = re.findall(r'"(submitit[=<>].*)",', (ROOT / "pyproject.toml").read_text())
    assert pins == [f"submitit=={version('submitit')}"]


def test_only_one_function_uses_what_is_private() -> None:
    sources = {path: path.read_text() for path in (ROOT / "fsm_hpc").rglob("*.py")}
    private = ("_submitit_command_str", "_make_submission_file_text", "DelayedSubmission")
    used = [path for path, text in sources.items() if any(name in text for name in private)]
    assert [path.name for path in used] == ["slurm_script.py"]


def test_the_script_ends_with_the_srun_that_is_tried_again(batch: Batch) -> None:
    *before, launch = slurm_script.submitit_script(batch).rstrip().splitlines()
    assert launch.startswith("srun ")
    assert "submitit.core._submit" in launch
    assert "#SBATCH --array=0-29%4" in before
    assert "#SBATCH --job-name=fsm-name" in before


def test_the_pickle_holds_the_function_and_its_arguments(batch: Batch) -> None:
    slurm_script.submitit_script(batch)
    task = pickle.loads((batch.output / slurm_script.PICKLE).read_bytes())
    assert task.result() == (3, 1)
