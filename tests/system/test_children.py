"""No process that the package starts imports a module from the folder that it runs in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fsm_hpc.cli.main import main
from fsm_hpc.cluster.node import begin
from fsm_hpc.cluster.schedulers import slurm_script
from fsm_hpc.search.solvers.nodes import contact, team
from fsm_hpc.study.compose import compose_any
from fsm_hpc.system import children
from fsm_hpc.system.files import PACKAGE

OLD_PYTHON = "python3.10"  # has no -P
NAMES = (
    *("numpy", "json", "submitit", "pickle", "argparse", "dataclasses", "runpy", "os", "signal"),
    *("distributed", "numba", "pandas", "clingo", "rich", "hydra", "sitecustomize", "numbers"),
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with modules of usual names, each of which leaves a trace when it is imported."""
    folder = tmp_path / "hostile"
    (folder / "fsm_hpc").mkdir(parents=True)
    trace = (
        f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(7)"
    )
    for name in (*NAMES, "fsm_hpc/__init__"):
        (folder / f"{name}.py").write_text(trace)
    return folder


def imported(folder: Path) -> str:
    trace = folder.parent / "imported"
    return trace.read_text() if trace.exists() else ""


def pythons() -> list[str]:
    """This Python, and the old one where the machine has it."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = [str(path) for path in root.glob(f"versions/3.10.*/bin/{OLD_PYTHON}")]
    found = [path for path in (shutil.which(OLD_PYTHON), *kept) if path and _runs(path)]
    return [sys.executable, *found[:1]]


def _runs(python: str) -> bool:
    return subprocess.run([python, "--version"], capture_output=True).returncode == 0


def path_of(command: list[str], cwd: Path, tmp_path: Path, **environment: str) -> list[str]:
    """sys.path of a process that is started so, where the module to run is `shown`."""
    (tmp_path / "own").mkdir(exist_ok=True)
    (tmp_path / "own" / "shown.py").write_text("import sys\nprint('\\n'.join(sys.path))\n")
    values = {**os.environ, "PYTHONPATH": str(tmp_path / "own"), **environment}
    done = subprocess.run(command, cwd=cwd, env=values, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("python", pythons())
def test_a_module_is_run_without_the_working_directory_on_any_python(
    python: str, hostile: Path, tmp_path: Path
) -> None:
    flags = children.SAFE_PATH if python == sys.executable else ()
    for options in (flags, ()):
        path = path_of([python, *options, str(children.RUN_MODULE), "shown"], hostile, tmp_path)
        assert path[0] == str(tmp_path / "own")  # PYTHONPATH is honoured
        assert not {"", str(hostile), str(children.RUN_MODULE.parent)} & set(path)
    assert imported(hostile) == ""


@pytest.mark.parametrize("python", pythons())
def test_a_job_is_begun_without_the_working_directory_on_any_python(
    python: str, hostile: Path, tmp_path: Path
) -> None:
    cluster = compose_any([f"cluster.python='{python}'"]).cluster
    command = ["bash", "-c", f"{slurm_script.python_command(cluster)} -u -m shown"]
    mark = tmp_path / "began"
    path = path_of(command, hostile, tmp_path, **{begin.MARK: str(mark)})
    assert not {"", str(hostile)} & set(path)
    assert imported(hostile) == ""
    assert mark.exists()


def test_local_workers_and_what_follows_them_import_nothing_from_the_working_directory(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    words = ["dataset=hepatitis", "method=median", "fold=0", "scan.max_length=1", "cluster=local"]
    results = [f"results_dir={tmp_path / 'results'}", "study=mine", "--after=collect"]
    assert main(["-m", *words, *results]) == 0
    assert imported(hostile) == ""
    assert (tmp_path / "results" / "mine" / "tables").is_dir() or any(
        (tmp_path / "results" / "mine").glob("*.csv")
    )


def test_a_helper_imports_nothing_from_the_working_directory(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    file, log = tmp_path / "contact.json", tmp_path / "log.txt"
    contact.over(file).touch()  # nothing is left to help with
    with team.helpers_here(1, file, 1, 1000.0, log) as (helper,):
        helper.wait(120)
    assert (helper.returncode, imported(hostile)) == (0, ""), log.read_text()


def test_a_clingo_worker_imports_nothing_from_the_working_directory(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    command = children.module_command("fsm_hpc.search.solvers.clingo.worker", "999")
    environment = children.child_environment()
    done = subprocess.run(command, env=environment)  # it ends, as nobody is at the other end
    assert (done.returncode, imported(hostile)) == (0, "")


@pytest.mark.parametrize("path", [":", "{own}:", ":{own}", "{own}::{own}"])
def test_an_empty_part_of_pythonpath_is_not_the_working_directory(
    path: str, hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", path.format(own=tmp_path / "own"))
    monkeypatch.chdir(hostile)
    command = children.module_command("fsm_hpc", "--version")
    environment = children.child_environment()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, imported(hostile)) == (0, "")
    assert os.environ["PYTHONPATH"].strip(":").replace("::", ":") in environment["PYTHONPATH"]


def test_every_process_of_python_is_started_by_one_function() -> None:
    """`-m` and `-c` of a child put the working directory first; `module_command` does not."""
    starts = re.compile(
        r"sys\.executable,\s*\"-[mc]\"|multiprocessing import (?!Pipe)"
        r"|get_context\((?!\"fork\")"  # a forked process imports nothing anew
    )
    found = [str(path) for path in PACKAGE.rglob("*.py") if starts.search(path.read_text())]
    assert found == []
