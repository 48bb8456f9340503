"""The command line as a person or a script meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main

ROOT = Path(__file__).parents[2]


def _run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, "-m", "fsm_hpc", *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


FOLD = ["dataset=hepatitis", "method=median", "fold=0", "scan.max_length=3", "solver=clingo_dl"]


def test_one_fold_is_run_told_and_kept_and_the_second_time_only_told(tmp_path: Path) -> None:
    first = _run(*FOLD, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "length 3 errors" in " ".join(first.stdout.split())
    assert "Predict lives = 2 when " in first.stdout
    assert "held out" in first.stdout
    path = tmp_path / "results/default/hepatitis/median/fold-0/result.json"
    before = path.read_bytes()
    second = _run(*FOLD, cwd=tmp_path)
    assert second.returncode == 0
    assert "is finished" in second.stdout
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["dataset=banc", "method=pivot"], "did you mean bank?"),
        (["dataset=bank", "method=pivot", "scan.patienc=1"], "did you mean scan.patience"),
        (["dataset=bank", "method=pivot", "solver=x"], "solver=x is not known"),
        (
            ["dataset=bank", "method=pivot", "solver.name=nope"],
            "solver.name: expected one of clingo_dl, native, portfolio, found 'nope'",
        ),
        (["stats"], "did you mean status?"),
        (["statu"], "did you mean status?"),
        (
            ["dataset=bank", "method=interval", "solver.threads"],
            "expected a command or key=value, found 'solver.threads'",
        ),
        (["dataset=csv", "method=pivot", "dataset.path=no.csv", "dataset.target=y"], "no.csv"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_a_folder_that_is_a_file_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    words = ["dataset=hepatitis", "method=median", "solver=native", "scan.max_length=1"]
    assert main([*words, f"results_dir={tmp_path}/file"]) == 2
    assert "Not a directory" in capsys.readouterr().err


def test_the_config_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dataset=bank", "method=pivot", "--cfg", "job"]) == 0
    assert "patience: 2" in capsys.readouterr().out


@pytest.mark.parametrize("flags", [["--cfg", "job"], ["--cfg=job"]])
def test_the_config_is_shown_wherever_the_flag_stands(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*flags, "dataset=bank", "method=pivot"]) == 0
    assert "patience: 2" in capsys.readouterr().out


def test_no_words_show_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "python -m fsm_hpc" in capsys.readouterr().out


def test_a_command_without_standard_output_does_its_work(tmp_path: Path) -> None:
    """As cron and daemons may start one."""
    words = [sys.executable, "-m", "fsm_hpc", "status", f"results_dir={tmp_path}", "--check"]
    closed = ["bash", "-c", 'exec "$@" >&- 2>&-', "closed", *words]
    assert subprocess.run(closed, cwd=tmp_path).returncode == subprocess.run(words).returncode


def test_ctrl_c_in_a_library_that_fails_at_cleaning_up_is_still_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(words: list[str]) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            raise AttributeError("of a half-made object")

    monkeypatch.setattr("fsm_hpc.cli.main._run", interrupted)
    assert main(["status"]) == 130


def test_a_signal_keeps_the_finished_lengths_and_the_same_command_goes_on(tmp_path: Path) -> None:
    words = ["dataset=heart_disease", "method=interval", "solver=clingo_dl", "scan.max_length=9"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "fsm_hpc", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "length 1 errors" in " ".join(line.split()):
            process.send_signal(signal.SIGUSR2)
            break
    rest = process.stdout.read()
    assert process.wait(timeout=60) == 130
    assert "stopped; run the same command again to continue" in rest
    folder = tmp_path / "results/default/heart_disease/interval/fold-0"
    saved = json.loads((folder / "scan.json").read_text())
    assert saved["lengths"]
    assert saved["under_way"]["best"]["formula"]
    assert not (folder / "result.json").exists()
