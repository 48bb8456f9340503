"""Seconds that submitting 350 jobs to the one-machine SLURM takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from slurm import daemons, trial

ROOT = Path(__file__).parents[1]
WORDS = ["dataset=hepatitis", "method=glob(*)", "folds=70", "cluster.sbatch={hold: true}"]


def main() -> None:
    """Start a cluster, submit jobs that are held back, and end it again."""
    with tempfile.TemporaryDirectory(prefix="fsm-") as folder:
        settings = trial.up(Path(folder) / "slurm")
        try:
            environment = daemons.environment(settings) | {"PYTHONPATH": str(ROOT)}
            began, used = time.perf_counter(), os.times().children_user
            command = [sys.executable, "-m", "fsm_hpc", *WORDS, "-m"]
            subprocess.run(
                command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL
            )
            wall, cpu = time.perf_counter() - began, os.times().children_user - used
            print(f"350 jobs submitted in {wall:.1f} s, {cpu:.1f} s of it processor time")
        finally:
            trial.down(settings.folder)


if __name__ == "__main__":
    main()
