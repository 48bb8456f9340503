"""Hosts that one machine pretends to be: other PID namespaces, and clocks that are wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
FAKETIME = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)


@cache
def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


needs_namespaces = pytest.mark.skipif(
    not _can_unshare(), reason="this user cannot make PID namespaces"
)
needs_faketime = pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")


def python(code: str, *words: str, is_container: bool = False, clock_s: int = 0) -> list[str]:
    """A command that runs Python code, in a container of its own, by a clock that is off."""
    before = [*(UNSHARE if is_container else ()), "env", *clock(clock_s)]
    return [*before, f"PYTHONPATH={ROOT}", sys.executable, "-c", code, *words]


def clock(offset_s: int) -> list[str]:
    """Variables that put the clock forward; times of files stay those of the file server."""
    if offset_s == 0:
        return []
    return [f"LD_PRELOAD={FAKETIME}", f"FAKETIME={offset_s:+d}s", "NO_FAKE_STAT=1"]


def start(command: list[str], folder: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def stop(process: subprocess.Popen[str]) -> None:
    """End it at once; with `unshare` its container ends, too."""
    process.kill()
    process.communicate(timeout=60)
