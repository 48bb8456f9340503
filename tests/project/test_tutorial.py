"""The tutorial for one's own table works as it stands, in an empty folder."""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess
import sys
from pathlib import Path

from fsm_hpc.system.children import child_environment
from fsm_hpc.system.files import shipped_data_dir

ROOT = Path(__file__).parents[2]
QUICK = ["scan.max_length=3", "fit.folds=3", "solver=native"]  # the same commands, in seconds


def _commands() -> list[list[str]]:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    section = page.partition("## From a table to a rule")[2].partition("\n## ")[0]
    block = re.search(r"^```bash\n(.*?)^```", section, re.M | re.S)
    assert block is not None
    return [shlex.split(line)[3:] for line in block[1].splitlines()]


def test_every_command_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    table = gzip.decompress((shipped_data_dir() / "heart_disease.csv.gz").read_bytes())
    (tmp_path / "my.csv").write_bytes(table)
    said = []
    for words in _commands():
        quick = QUICK if words[0] == "fit" else []
        done = subprocess.run(
            [sys.executable, "-m", "fsm_hpc", *words, *quick],
            cwd=tmp_path,
            env=child_environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    fit, _, explain, sql, text = said
    assert "Predict output = 1 when " in fit
    assert (tmp_path / "my_rule" / "model.html").is_file()
    answers = (tmp_path / "answers.csv").read_text().splitlines()
    assert answers[0].endswith(",output,prediction,training_precision")
    assert len(answers) == len(table.splitlines())
    assert "Row 5 (one of those it was fitted on)" in explain
    assert sql.startswith("CASE WHEN ")
    assert "proved" in text
