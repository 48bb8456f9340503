"""`init` writes a study that runs as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.study.files import StudyPaths


def _made(tmp_path: Path, *words: str) -> Path:
    assert main(["init", "mine", "--config-dir", str(tmp_path), *words]) == 0
    return tmp_path / "experiment" / "mine.yaml"


def _run(tmp_path: Path, *words: str) -> None:
    own = ["--config-dir", str(tmp_path), "+experiment=mine", f"results_dir={tmp_path}/results"]
    quick = ["cluster=local", "solver=native", "scan.max_length=1", "folds=2"]
    assert main([*own, *quick, *words, "-m", "--wait"]) == 0


def test_the_study_that_it_writes_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "it's my ${table}.csv"
    table.write_text("a b,label\n" + "".join(f"{at % 7},{at % 7 > 3}\n" for at in range(40)))
    path = _made(tmp_path, "--table", str(table), "--target", "label")
    assert f"+experiment={path.stem} -m" in capsys.readouterr().out
    _run(tmp_path)
    study = StudyPaths(tmp_path / "results" / "mine")
    assert {found.parts[-3] for found in study.root.rglob("result.json")} == {"pivot", "tree"}
    assert len(list(study.root.rglob("result.json"))) == 4


def test_without_a_table_it_takes_a_shipped_one(tmp_path: Path) -> None:
    assert "heart_disease" in _made(tmp_path).read_text()
    assert main(["--config-dir", str(tmp_path), "+experiment=mine", "--cfg", "job"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected one name"),
        (["a/b"], "expected one name"),
        (["mine"], "exists already"),
        (["other", "--target", "y"], "expected --table FILE and --target COLUMN together"),
        (["other", "--table", "no.csv", "--target", "y"], "there is no file no.csv"),
    ],
)
def test_what_it_cannot_write_is_said(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _made(tmp_path)
    assert main(["init", "--config-dir", str(tmp_path), *words]) == 2
    assert message in capsys.readouterr().err
