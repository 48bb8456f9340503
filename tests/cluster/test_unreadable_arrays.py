"""A job that cannot read what it is for is an error that `status` tells, never a withdrawn job."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, study_lock
from fsm_hpc.cluster.node import fitting, supervise
from fsm_hpc.cluster.schedulers.base import SiteLimits
from fsm_hpc.cluster.submit import plan, transaction
from fsm_hpc.study.compose import expand
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.system import serialization
from fsm_hpc.system.files import UnreadableError
from tests.support.fake_slurm import FakeSlurm

WORDS = ["dataset=hepatitis", "method=median", "cluster=slurm", "fold=0,1"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(transaction, "LOOKS", 1)
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    return FakeSlurm(tmp_path / "bin", monkeypatch)


def output_of_array() -> Path:
    (output,) = StudyPaths(Path("results/default").absolute()).submissions.iterdir()
    return output


def _too_large(output: Path) -> None:
    os.truncate(output / "array.json", 64 * 2**20 + 1)


def _missing(output: Path) -> None:
    (output / "array.json").unlink()


def _cut_off(output: Path) -> None:
    (output / "array.json").write_bytes((output / "array.json").read_bytes()[:-9])


def _a_folder(output: Path) -> None:
    _missing(output)
    (output / "array.json").mkdir()


def _with_a_field_of_a_newer_version(output: Path) -> None:
    saved = json.loads((output / "array.json").read_text())
    (output / "array.json").write_text(json.dumps(saved | {"generation": 3}))


def _without_this_task(output: Path) -> None:
    saved = json.loads((output / "array.json").read_text())
    (output / "array.json").write_text(json.dumps(saved | {"members": []}))


def _unknown_end(output: Path) -> None:
    (output / "state.json").write_text("{")


DAMAGES = [
    *(_too_large, _missing, _cut_off, _a_folder, _with_a_field_of_a_newer_version),
    *(_without_this_task, _unknown_end),
]


@pytest.mark.parametrize("work", [supervise.work_in_array, fitting.work_in_array])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_job_cannot_read_is_an_error(
    slurm: FakeSlurm, damage: Callable[[Path], None], work: Callable[[str], str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    damage(output_of_array())
    with pytest.raises(UnreadableError):
        work(str(output_of_array()))


def test_status_tells_why_a_job_could_not_begin(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    _too_large(output)
    capsys.readouterr()
    with pytest.raises(UnreadableError):
        supervise.work_in_array(str(output))
    traceback = "Traceback ...\n" * 300
    (output / "1000_0_0_log.out").write_text(capsys.readouterr().err + traceback)
    slurm.says(squeue="empty")
    main(["status", "--json", *WORDS])
    first, _ = json.loads(capsys.readouterr().out)
    assert first["state"] == "failed"
    assert first["reason"].startswith(
        "the job cannot begin: array.json cannot be read: larger than"
    )


def test_the_next_command_tells_of_an_array_that_cannot_be_read(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.says(sbatch="garbled", squeue="fail")
    assert main([*WORDS, "-m"]) == 2
    _cut_off(output_of_array())
    capsys.readouterr()
    slurm.says(sbatch="ok", squeue="ok")
    assert main([*WORDS, "-m"]) == 0
    assert "array.json cannot be read" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize("name", ["array.json", "state.json"])
@pytest.mark.parametrize("command", [["status"], ["cancel", "-y"], [*WORDS, "-m"]], ids=" ".join)
def test_a_command_tells_of_arrays_that_a_newer_version_wrote(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str], name: str, command: list[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    (output_of_array() / "state.json").unlink()
    (output_of_array() / name).write_text('{"format": 99, "version": "9.9"}')
    capsys.readouterr()
    assert main(command) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert f"{output_of_array().name}/{name} was written by a newer version" in told


def test_a_sweep_is_split_so_that_jobs_can_read_their_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["dataset=hepatitis", "method=median", "folds=100", f"results_dir={tmp_path}"]
    decisions = plan.decide(expand([*words, "cluster=local"]))[0]
    monkeypatch.setattr(serialization, "MAX_BYTES", 100_000)
    parts = plan.lay_out(decisions, SiteLimits())
    assert sum(len(part.folds) for part in parts) == 100
    assert len(parts) > 1
    study = StudyPaths(tmp_path / "default")
    with study_lock.held([study.root]):
        for part in parts:
            folds = [[(d.ref.paths, d.config, None)] for d in part.folds]
            made = transaction._new(study, folds, is_array=True)
            arrays.save(made)
            assert arrays.read(made.output).members == made.members


def test_an_array_that_no_job_could_read_is_refused_before_sbatch(
    slurm: FakeSlurm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serialization, "MAX_BYTES", 1000)
    assert main([*WORDS, "-m"]) == 2
    assert "array.json would be larger than 1,000 bytes" in capsys.readouterr().err
    assert slurm.jobs == []
    assert list(Path("results").rglob("submission.json")) == []


def test_twenty_thousand_folds_are_more_than_one_file_holds() -> None:
    (config,) = expand(["dataset=hepatitis", "method=median", "fold=0"])
    paths = StudyPaths(Path("results/default")).fold(config.id)
    assert 1000 < arrays.most_members([(paths, config)]) < 20_000
