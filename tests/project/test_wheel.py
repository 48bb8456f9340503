"""The wheel and the sdist have what git has, and every command runs from an installed wheel."""

from __future__ import annotations

import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

import fsm_hpc
from tests.support import fresh_environment
from tests.support.fresh_environment import ROOT, Environment

PACKAGED = ("fsm_hpc", "conf", "encodings")
CLINGO = "solver=clingo_dl"  # the other solver is compiled anew in every installation
SWEEP = ("dataset=hepatitis", "method=median,pivot", "fold=0")
EVERY_MODULE = """
import importlib, pkgutil, fsm_hpc
names = [found.name for found in pkgutil.walk_packages(fsm_hpc.__path__, "fsm_hpc.")]
for name in names:
    if not name.endswith("__main__"):
        print(importlib.import_module(name).__file__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return fresh_environment.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("environment")
    return fresh_environment.install(built[1], folder, tmp_path_factory.mktemp("elsewhere"))


def git_files(*options: str) -> set[str]:
    """Files as git lists them; only those that are there, as a deletion may not be staged."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", *options]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def in_package(name: str) -> str:
    return name if name.startswith("fsm_hpc/") else f"fsm_hpc/{name}"


def test_the_wheel_has_every_tracked_file_of_the_package_and_nothing_else(
    built: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    tracked, new = git_files(*PACKAGED), git_files("--others", "--exclude-standard", *PACKAGED)
    assert found - set(map(in_package, new)) == set(map(in_package, tracked))


def test_the_sdist_has_every_tracked_file_and_nothing_else(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    new = git_files("--others", "--exclude-standard")
    assert names - new - {"PKG-INFO"} == git_files()


def test_both_are_named_by_the_version(built: tuple[Path, Path]) -> None:
    names = [path.name for path in built]
    assert [name.split("-")[1].removesuffix(".tar.gz") for name in names] == [
        fsm_hpc.__version__,
        fsm_hpc.__version__,
    ]


def test_every_module_is_imported_from_the_wheel(installed: Environment) -> None:
    done = installed.run("-c", EVERY_MODULE)
    assert done.returncode == 0, done.stderr
    modules = done.stdout.splitlines()
    sources = [name for name in git_files("fsm_hpc") if name.endswith(".py")]
    assert len(modules) >= len(sources) - 2  # fsm_hpc itself, and __main__
    assert all(place.startswith(str(installed.folder)) for place in modules)


def test_doctor_finds_the_site_ready(installed: Environment) -> None:
    said = installed.fsm_hpc("doctor", "dataset=hepatitis", "method=median", "cluster=local")
    assert "hepatitis: " in said


def test_datasets_lists_the_tables_that_come_with_it(installed: Environment) -> None:
    assert "hepatitis" in installed.fsm_hpc("datasets")


@pytest.fixture(scope="module")
def rule(installed: Environment) -> Path:
    """The folder of a rule that `fit` has found."""
    table = installed.cwd / "table.csv"
    rows = [f"{x},{'yes' if x > 20 else 'no'}" for x in range(40)]
    table.write_text("\n".join(["x,y", *rows]) + "\n", encoding="utf-8")
    words = ("dataset=csv", f"dataset.path={table}", "dataset.target=y", "method=pivot")
    out = installed.cwd / "rule"
    installed.fsm_hpc("fit", *words, CLINGO, "scan.max_length=1", "fit.folds=2", f"out={out}")
    return out


def test_fit_writes_a_rule_with_this_version_in_it(rule: Path) -> None:
    model = json.loads((rule / "model.json").read_text(encoding="utf-8"))
    assert model["formula"].startswith("x >= ")
    assert model["provenance"]["version"] == fsm_hpc.__version__


def test_predict_applies_the_rule(installed: Environment, rule: Path) -> None:
    table = installed.cwd / "table.csv"
    last = installed.fsm_hpc("predict", str(rule), str(table)).splitlines()[-1]
    assert last.startswith("39,yes,yes,")


@pytest.mark.parametrize("to", ["sql", "python", "text"])
def test_export_writes_the_rule(installed: Environment, rule: Path, to: str) -> None:
    assert "x" in installed.fsm_hpc("export", str(rule), "--to", to)


@pytest.fixture(scope="module")
def study(installed: Environment) -> Path:
    """A sweep on this machine, in the folder that the command was run in."""
    installed.fsm_hpc(*SWEEP, CLINGO, "scan.max_length=1", "cluster=local", "-m")
    return installed.cwd / "results" / "default"


def test_a_sweep_runs_here(study: Path) -> None:
    results = sorted(study.rglob("result.json"))
    assert [path.parts[-3] for path in results] == ["median", "pivot"]


def test_collect_writes_the_tables(installed: Environment, study: Path) -> None:
    assert "Test accuracy" in installed.fsm_hpc("collect")
    assert (study / "folds.csv").is_file()


def test_report_writes_the_page(installed: Environment, study: Path) -> None:
    installed.fsm_hpc("report")
    assert (study / "report.html").is_file()
