"""A connective is one module and one config file: `nand` is added to a copy and tried there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIFF = ROOT / "tests" / "support" / "nand.diff"
COPIED = ("fsm_hpc", "conf", "encodings", "tests", "scripts", "benchmarks", "pyproject.toml")
CLAIMS = ("tests/formulas", "tests/search/test_languages.py", "tests/search/test_constraints.py")


@pytest.fixture(scope="module")
def with_nand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the connective in it."""
    folder = tmp_path_factory.mktemp("nand")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder / name)
    subprocess.run(["git", "apply", str(DIFF)], cwd=folder, check=True)
    return folder


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_it_takes_one_module_and_one_config_file() -> None:
    changed = [line for line in DIFF.read_text().splitlines() if line.startswith("diff ")]
    assert [line.split(" b/")[1] for line in changed] == [
        "conf/language/nand.yaml",
        "fsm_hpc/formulas/connectives/nand.py",
    ]


def test_it_is_read_printed_and_exported(with_nand: Path) -> None:
    code = (
        "from fsm_hpc.formulas.parser import parse; from fsm_hpc.formulas.language import Language;"
        "f = parse('(a nand b) or not c'); print(f, '|', f.words(), '|', f.latex(),"
        "Language('nand').has(f), Language.PAPER.has(f), f.size)"
    )
    said = run(with_nand, "-c", code)
    assert said.startswith("(a nand b) or not c | ")
    assert said.rstrip().endswith("True False 6")


@pytest.mark.slow
def test_it_is_searched_completely_also_under_constraints(with_nand: Path) -> None:
    said = run(with_nand, "-m", "pytest", "-q", "-x", "-k", "nand", *CLAIMS)
    assert " passed" in said
    assert " failed" not in said
