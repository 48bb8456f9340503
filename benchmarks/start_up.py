"""Processor time that everything but the search takes: python -m benchmarks.start_up

One fold whose search takes some hundredths of a second, in a process of its own; a second fold in
the same process; `status` of that study. Each is the least of several runs; kernels are compiled
before.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

FOLD = ("dataset=hepatitis", "method=pivot", "scan.max_length=3")
REPEATS = 3


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor_s(command: Sequence[str], folder: Path) -> float:
    before = children_s()
    subprocess.run(
        [sys.executable, *command], cwd=folder, env=os.environ, check=True, capture_output=True
    )
    return children_s() - before


def single_fold_s(folder: Path, number: int) -> float:
    return processor_s(["-m", "fsm_hpc", *FOLD, "fold=0", f"study=single{number}"], folder)


def further_fold_s(folder: Path) -> tuple[float, float]:
    """The time of fold 2 after folds 0 and 1 in one process: its configuration, and the fold."""
    from fsm_hpc.study.compose import compose
    from fsm_hpc.study.run import run_fold

    os.chdir(folder)
    for fold in range(3):
        began = time.process_time()
        config = compose([*FOLD, f"fold={fold}", "study=further"])
        composed = time.process_time()
        run_fold(config)
    return composed - began, time.process_time() - composed


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        single_fold_s(folder, REPEATS)  # compiles, if need be
        single = min(single_fold_s(folder, number) for number in range(REPEATS))
        status = min(
            processor_s(["-m", "fsm_hpc", "status", "study=single0"], folder)
            for _ in range(REPEATS)
        )
        print("processor seconds")
        print(f"one fold in a process of its own  {single:.2f}")
        composed, further = further_fold_s(folder)
        print(f"a further fold in a process       {further:.2f}")
        print(f"its configuration by Hydra        {composed:.2f}")
        print(f"status of that study              {status:.2f}")


if __name__ == "__main__":
    main()
