"""Build the package, and install its wheel into an environment that has nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_path

ROOT = Path(__file__).parents[2]
LIMIT_S = 600


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist of the checkout, and the wheel that is built from that sdist."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder that its commands run in."""

    folder: Path
    cwd: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of its Python, outside the checkout."""
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
        return subprocess.run(
            [str(self.python), *words],
            cwd=self.cwd,
            env={name: value for name, value in os.environ.items() if name not in hidden},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def fsm_hpc(self, *words: str) -> str:
        """What a command prints, which has to succeed."""
        done = self.run("-m", "fsm_hpc", *words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout


def install(wheel: Path, folder: Path, cwd: Path) -> Environment:
    """A new environment with the wheel in it. It borrows the dependencies of this one: a folder in
    a .pth file is searched, but its own .pth files, which name the checkout, are not read."""
    made = Environment(folder, cwd)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    borrowed = folder / "lib" / version / "site-packages" / "borrowed.pth"
    borrowed.write_text(f"{get_path('purelib')}\n{get_path('platlib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--ignore-installed", str(wheel)], check=True)
    return made
