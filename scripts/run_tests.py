"""Run all tests except the slow ones, with the SLURM tests parallel to the others."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import IO

SLURM = "slurm and not slow"
OTHERS = "not slurm and not slow"


def parallel() -> tuple[str, ...]:
    """Options that spread test files over processes; the tests of one file stay together."""
    processes = min(4, max(2, len(os.sched_getaffinity(0))))
    return ("-n", str(processes), "--dist", "loadfile")


def main() -> int:
    """Run both parts; the output of the SLURM tests comes last. 0 if both passed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        # no cache of failed tests, since both processes would write the same file
        slurm = _start(SLURM, "-p", "no:cacheprovider", "-p", "no:xdist", output=output)
        try:
            code = _start(OTHERS, *parallel()).wait()
            print(f"\nSLURM tests (pytest -m {SLURM!r}):", flush=True)
            codes = (code, slurm.wait())
        finally:
            if slurm.poll() is None:
                slurm.terminate()
                slurm.wait()
            output.seek(0)
            print(output.read(), flush=True)
    return next(filter(None, codes), 0)


def _start(marker: str, *options: str, output: IO[str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-m", marker, *options]
    error = subprocess.STDOUT if output else None
    return subprocess.Popen(command, stdout=output, stderr=error, text=True)


if __name__ == "__main__":
    sys.exit(main())
