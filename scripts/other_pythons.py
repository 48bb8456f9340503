"""Test the wheel with the oldest and the newest installed Python: import, fit, one fold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST = (3, 10)  # as pyproject.toml requires
NEWEST_MINOR = 30
VERSION = "import sys; print(*sys.version_info[:2])"
FOLD = ("dataset=hepatitis", "method=median", "fold=0", "scan.max_length=2")
FIT = ("fit", "dataset=hepatitis", "method=pivot", "scan.max_length=2", "fit.folds=2")


def main() -> int:
    """0 if the package works with both, or if only one Python is installed."""
    found = pythons()
    names = ", ".join(f"{major}.{minor}" for major, minor in sorted(found))
    print(f"supported versions of Python: {names or 'none'}", flush=True)
    if len(found) < 2:
        print("SKIPPED: expected at least two versions of Python from 3.10 on PATH or in pyenv")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        wheel = _build(Path(folder))
        failed = [v for v in (min(found), max(found)) if not _works(found[v], wheel, v)]
    return 1 if failed else 0


def pythons() -> dict[tuple[int, int], str]:
    """A Python for each version from 3.10 on, found on PATH or in pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], NEWEST_MINOR)]
    in_pyenv = map(str, sorted(root.glob("versions/*/bin/python")))
    found: dict[tuple[int, int], str] = {}
    for program in (sys.executable, *filter(None, on_path), *in_pyenv):
        version = _version(program)
        if version is not None and version >= OLDEST:
            found.setdefault(version, program)
    return found


def _version(program: str) -> tuple[int, int] | None:
    """None if it does not start, like a pyenv shim without that version."""
    done = subprocess.run([program, "-c", VERSION], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _works(program: str, wheel: Path, version: tuple[int, int]) -> bool:
    """Install, import, fit and run a fold in a separate folder; print failures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = str(folder / "venv" / "bin" / "python")
        steps = {
            "environment": [program, "-m", "venv", str(folder / "venv")],
            "install": [python, "-m", "pip", "install", "--quiet", str(wheel)],
            "import": [python, "-c", "from fsm_hpc import FormulaClassifier, explain_model, parse"],
            "fit": [python, "-m", "fsm_hpc", *FIT],
            "fold": [python, "-m", "fsm_hpc", *FOLD],
        }
        return all(_step(title, words, folder, version) for title, words in steps.items())


def _step(title: str, command: list[str], folder: Path, version: tuple[int, int]) -> bool:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    has_passed = done.returncode == 0
    outcome = "passed" if has_passed else f"FAILED\n{done.stdout}{done.stderr}"
    print(f"Python {version[0]}.{version[1]}: {title} {outcome}", flush=True)
    return has_passed


if __name__ == "__main__":
    sys.exit(main())
