"""Run all tests but the slow ones: those of SLURM, which mostly wait, beside all others."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import IO

BESIDE = "slurm and not slow"
OTHERS = "not slurm and not slow"


def main() -> int:
    """The exit code of the part that failed; the tests of SLURM are shown after the others."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        # two processes that write one cache of what failed last would lose each other's
        beside = _start(BESIDE, "-p", "no:cacheprovider", output=said)
        try:
            code = _start(OTHERS).wait()
            print(f"\nand the tests of SLURM (pytest -m {BESIDE!r}):", flush=True)
            codes = (code, beside.wait())
        finally:
            if beside.poll() is None:
                beside.terminate()
                beside.wait()
            said.seek(0)
            print(said.read(), flush=True)
    return next(filter(None, codes), 0)


def _start(which: str, *options: str, output: IO[str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-m", which, *options]
    error = subprocess.STDOUT if output else None
    return subprocess.Popen(command, stdout=output, stderr=error, text=True)


if __name__ == "__main__":
    sys.exit(main())
