"""A built wheel works in an empty folder: conf, encodings and tables travel inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the wheel's content and nothing of the checkout."""
    built = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True, timeout=300)
    (wheel,) = built.glob("*.whl")
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def _python(site: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_wheel_and_not_the_checkout_is_what_runs(installed: Path, tmp_path: Path) -> None:
    said = _python(installed, tmp_path, "-c", "import fsm_hpc; print(fsm_hpc.__file__)")
    assert said.stdout.strip().startswith(str(installed))


def test_a_fold_runs_from_the_wheel_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    words = ["dataset=hepatitis", "method=pivot", "scan.max_length=2", "solver=clingo_dl"]
    done = _python(installed, tmp_path, "-m", "fsm_hpc", *words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/default/hepatitis/pivot/fold-0/result.json").is_file()


def test_only_what_the_package_needs_is_in_it(installed: Path) -> None:
    folders = {path.name for path in installed.iterdir()}
    assert {name for name in folders if not name.endswith(".dist-info")} == {"fsm_hpc"}
    assert (installed / "fsm_hpc" / "conf" / "config.yaml").is_file()
    assert list((installed / "fsm_hpc" / "encodings").rglob("*.lp"))
