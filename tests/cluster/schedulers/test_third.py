"""Another scheduler is one module and one config file, and nothing else has to know of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, schedulers
from fsm_hpc.errors import UserError
from fsm_hpc.study.files import FoldPaths
from tests.cluster.schedulers.conftest import THIRD

WORDS = ["dataset=hepatitis", "method=median", "fold=0,1", "scan.max_length=2", "solver=clingo_dl"]


def test_a_third_scheduler_is_one_module_and_one_config_file() -> None:
    there = {path.name for path in (THIRD / "cluster").iterdir() if path.suffix != ".pyc"}
    assert there - {"__pycache__"} == {"spool.py", "spool.yaml"}


@pytest.mark.usefixtures("third")
def test_folds_run_on_a_third_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "fsm_hpc", *WORDS, "cluster=spool", "-m", "--wait"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert "2 done" in done.stdout, done.stdout + done.stderr
    saved = arrays.last_submission(FoldPaths(next(tmp_path.rglob("fold-0"))))
    assert saved is not None
    assert (saved.kind, saved.job_id) == ("spool", "1_0")


@pytest.mark.usefixtures("third")
def test_folds_of_a_third_scheduler_are_cancelled_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*WORDS, "solver.encoding=plain", "cluster=spool", "-m"]) == 0
    assert main(["cancel", "-y"]) == 0
    assert "cancelled; `resume` continues them" in capsys.readouterr().out
    assert main(["resume", "scan.max_length=1", "cluster=spool", "--wait"]) == 0
    assert "2 done" in capsys.readouterr().out


def test_a_scheduler_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UserError, match="expected one of local, slurm, found 'grid'"):
        schedulers.named("grid")
