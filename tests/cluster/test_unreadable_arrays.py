"""A job that cannot read what it is for is an error that `status` tells, never a withdrawn job."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster import arrays, cancellations, submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.study.files import StudyPaths
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
    (output / "array.json").write_text(json.dumps(saved | {"later": 3}))


def _without_this_task(output: Path) -> None:
    (output / "folds.jsonl").write_text("")


def _of_version_0_2(output: Path) -> None:
    """Which wrote a submission.json for every fold."""
    for paths, submission in arrays.read(output).members():
        submissions.save(paths, submission)
    saved = json.loads((output / "array.json").read_text())
    (output / "array.json").write_text(json.dumps(saved | {"format": 2}))


def _a_line_that_is_none(output: Path) -> None:
    os.truncate(output / "folds.jsonl", 0)
    os.truncate(output / "folds.jsonl", 10_000)


DAMAGES = [
    *(_too_large, _missing, _cut_off, _a_folder, _with_a_field_of_a_newer_version),
    *(_without_this_task, _of_version_0_2, _a_line_that_is_none),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_job_cannot_read_is_an_error(
    slurm: FakeSlurm, damage: Callable[[Path], None]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    damage(output_of_array())
    with pytest.raises(UnreadableError):
        supervise.work_in_array(str(output_of_array()))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_too_large, "array.json cannot be read: larger than"),
        (_missing, "array.json is not there"),
    ],
)
def test_folds_of_an_array_that_cannot_be_read_are_unknown_and_not_submitted_again(
    slurm: FakeSlurm,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Path], None],
    reason: str,
) -> None:
    assert main([*WORDS, "-m"]) == 0
    damage(output_of_array())
    capsys.readouterr()
    main(["status", "--json", *WORDS])
    first, _ = json.loads(capsys.readouterr().out)
    assert first["state"] == "unknown"
    assert reason in first["reason"]
    assert "the folder can be removed" in first["reason"]
    assert main([*WORDS, "-m"]) == 0
    assert "0 submitted, 2 skipped" in capsys.readouterr().out
    shutil.rmtree(output_of_array())
    assert main([*WORDS, "-m"]) == 0
    assert "2 submitted, 0 skipped" in capsys.readouterr().out


def test_lines_of_folds_that_were_written_before_a_kill_block_nothing(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    for path in output.iterdir():
        if path.name != "folds.jsonl":
            path.unlink()
    capsys.readouterr()
    assert main([*WORDS, "-m"]) == 0
    assert "2 submitted, 0 skipped" in capsys.readouterr().out


def test_status_tells_why_a_job_could_not_begin(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    content = (output / "array.json").read_bytes()
    _too_large(output)
    capsys.readouterr()
    with pytest.raises(UnreadableError):
        supervise.work_in_array(str(output))
    (output / "array.json").write_bytes(content)
    traceback = "Traceback ...\n" * 300
    (output / "1000_0_0_log.out").write_text(capsys.readouterr().err + traceback)
    slurm.says(squeue="empty")
    main(["status", "--json", *WORDS])
    first, _ = json.loads(capsys.readouterr().out)
    assert first["state"] == "failed"
    assert first["reason"].startswith(
        "the job cannot begin: array.json cannot be read: larger than"
    )


def test_a_fold_whose_job_version_0_2_queued_needs_to_be_resumed(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    _of_version_0_2(output)
    capsys.readouterr()
    with pytest.raises(UnreadableError):
        supervise.work_in_array(str(output))
    (output / "1000_0_0_log.out").write_text(capsys.readouterr().err)
    slurm.says(squeue="empty")
    main(["status", "--json", *WORDS])
    assert json.loads(capsys.readouterr().out)[0]["state"] == "needs resume"


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


@pytest.mark.parametrize("command", [["status"], ["cancel", "-y"], [*WORDS, "-m"]], ids=" ".join)
def test_a_command_tells_of_arrays_that_a_newer_version_wrote(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    (output_of_array() / "array.json").write_text('{"format": 99, "version": "9.9"}')
    capsys.readouterr()
    assert main(command) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert f"{output_of_array().name}/array.json was written by a newer version" in told


def test_a_job_reads_its_own_folds_and_no_others(slurm: FakeSlurm) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    content = (output / "folds.jsonl").read_bytes()
    (output / "folds.jsonl").write_bytes(content[: len(content) // 2] + b"damaged".ljust(10_000))
    ((paths, submission),) = arrays.folds_of_this_job(output)
    assert (paths.folder.name, submission.config_then.fold) == ("fold-0", 0)
    with pytest.raises(UnreadableError):
        arrays.read(output).members_of_task(1)


def test_settings_that_folds_share_are_written_once_for_all_of_them(slurm: FakeSlurm) -> None:
    assert main([*WORDS[:3], "folds=30", "-m"]) == 0
    (output,) = {path.parent for path in Path("results").absolute().rglob("array.json")}
    assert (output / "folds.jsonl").stat().st_size < 30 * 300
    configs = [submission.config_then for _, submission in arrays.read(output).members()]
    assert [config.fold for config in configs] == list(range(30))
    assert {config.folds for config in configs} == {30}


def test_arrays_of_version_0_2_are_passed_over(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "-m"]) == 0
    _of_version_0_2(output_of_array())
    capsys.readouterr()
    assert main([*WORDS, "-m"]) == 0
    assert "0 submitted, 2 skipped" in capsys.readouterr().out
    assert arrays.unsettled(StudyPaths(Path("results/default"))) == ([], [])


@pytest.mark.parametrize("content", ["", "{", '{"format": 1, "folds": {"fold-0": "x"}}', "[]"])
def test_damaged_cancellations_are_quarantined_by_the_next_cancel(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    assert main([*WORDS, "-m"]) == 0
    output = output_of_array()
    (output / cancellations.FILE).write_text(content)
    capsys.readouterr()
    assert main(["status", "--json"]) == 0
    assert [fold["state"] for fold in json.loads(capsys.readouterr().out)] == ["queued", "queued"]
    assert main(["cancel", "-y"]) == 0
    assert len(cancellations.read(output)) == 2
    assert [path.read_text() for path in output.glob(".damaged-*")] == [content]


def test_no_command_about_jobs_writes_a_file_for_each_fold(slurm: FakeSlurm) -> None:
    for words in ([*WORDS, "-m"], ["cancel", "-y"], ["resume"], ["cancel", "-y"]):
        assert main(words) == 0
    folders = [paths.folder for _, paths in StudyPaths(Path("results/default")).folds_on_disk()]
    assert [list(folder.iterdir()) for folder in folders] == [[], []]
