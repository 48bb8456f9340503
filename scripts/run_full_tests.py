"""Run all tests, including slow ones, with a new seed, and test the package on other Pythons.

The output of each part is written to build/test-full/SEED/. With the same seed, parts that have
passed are not run again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.run_tests import parallel

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "build" / "test-full"
# tests of compiled code, repeated with checks of all array indices
KERNEL_TESTS = ("tests/search/test_native.py", "tests/search/test_local_search.py")
CHECKED_BOUNDS = (("NUMBA_BOUNDSCHECK", "1"), ("NUMBA_CACHE_DIR", str(LOGS / "kernels")))
NO_TESTS = 5  # exit code of pytest if no test is selected


@dataclass(frozen=True)
class Part:
    """One command of the full run."""

    name: str
    module: str
    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def log(self, folder: Path) -> Path:
        return folder / f"{self.name}.txt"

    def passed(self, folder: Path) -> Path:
        return folder / f"{self.name}.passed"


def parts(seed: int) -> list[Part]:
    """Each folder of tests, compiled code with index checks, SLURM tests, other Pythons."""
    fresh = (f"--hypothesis-seed={seed}", "-p", "no:cacheprovider")
    folders = sorted({path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")})
    tests = [
        Part(name, "pytest", ("-m", "not slurm", *fresh, *parallel(), f"tests/{name}"))
        for name in folders
    ]
    slurm = Part("slurm", "pytest", ("-m", "slurm", *fresh, "-p", "no:xdist"))
    checked = Part("bounds", "pytest", ("-m", "not slow", *fresh, *KERNEL_TESTS), CHECKED_BOUNDS)
    return [*tests, checked, slurm, Part("pythons", "scripts.other_pythons")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    seed = parser.parse_args().seed
    folder = LOGS / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}: `make test-full SEED={seed}` repeats or continues this run")
    print(f"output of each part: {folder.relative_to(ROOT)}/", flush=True)
    outcomes = {part.name: _run(part, folder) for part in parts(seed)}
    failed = [name for name, has_passed in outcomes.items() if not has_passed]
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} parts passed with seed {seed}")
    for name in failed:
        print(f"failed: {name}, see {folder.relative_to(ROOT)}/{name}.txt")
    return 1 if failed else 0


def _run(part: Part, folder: Path) -> bool:
    """Run a part, unless it has passed with this seed; whether it passed."""
    if part.passed(folder).exists():
        print(f"{part.name:10} passed earlier", flush=True)
        return True
    started = time.monotonic()
    with part.log(folder).open("w", encoding="utf-8") as log:
        command = [sys.executable, "-m", part.module, *part.options]
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "full", **dict(part.environment)}
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    has_passed = done.returncode in (0, NO_TESTS)
    if has_passed:
        part.passed(folder).touch()
    outcome = f"{'passed' if has_passed else 'FAILED'} in {time.monotonic() - started:.0f} s"
    print(f"{part.name:10} {outcome}: {_last_line(part, folder)}", flush=True)
    return has_passed


def _last_line(part: Part, folder: Path) -> str:
    """The last line that pytest printed."""
    lines = part.log(folder).read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip("= ") for line in reversed(lines) if line.strip()), "no output")


if __name__ == "__main__":
    sys.exit(main())
