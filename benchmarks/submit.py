"""Seconds that 2,000 jobs cost, beside a bare loop of the same sbatch calls, in one run."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import large_study
from slurm import daemons, trial
from slurm.settings import Settings

ROOT = Path(__file__).parents[1]
DATASETS = "bank,breast_cancer,german_credit,heart_disease,hepatitis"
SMALL = ["cluster.cpus=1", "cluster.mem_gb=1", "cluster.options={hold: true}"]


class Bench:
    """A folder, a cluster, and the seconds of commands."""

    def __init__(self, folder: Path, settings: Settings, profile: bool) -> None:
        self.folder, self.profile = folder, profile
        self.environment = daemons.environment(settings) | {"PYTHONPATH": str(ROOT)}
        self.environment["FSM_DATA_DIR"] = os.environ.get("FSM_DATA_DIR", "")

    def seconds(self, name: str, *words: str) -> tuple[float, float]:
        """Of a command: by the clock, and of processors."""
        python = [sys.executable]
        if self.profile:
            python += ["-m", "cProfile", "-o", str(ROOT / f"profile-{name}.out")]
        began, used = time.perf_counter(), _processor_s()
        subprocess.run(
            [*python, "-m", "fsm_hpc", *words],
            cwd=self.folder,
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.perf_counter() - began, _processor_s() - used

    def bare(self, arrays: int, size: int) -> float:
        """The same number of sbatch calls, with nothing around them."""
        script = self.folder / "bare.sh"
        script.write_text("#!/bin/bash\n#SBATCH --hold\ntrue\n")
        command = ["sbatch", f"--array=0-{size - 1}", "--mem=1G", str(script)]
        began = time.perf_counter()
        for _ in range(arrays):
            subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        return time.perf_counter() - began


def main() -> None:
    """Start a cluster, submit jobs that are held back, look, resume, cancel, and end it again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--array", type=int, default=100, help="jobs of an array")
    parser.add_argument(
        "--finished",
        type=int,
        nargs="*",
        default=[1_000, 10_000, 100_000],
        help="finished folds of synthetic studies for `status` and `collect`",
    )
    parser.add_argument("--profile", action="store_true", help="keep profile-NAME.out of each")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fsm-") as folder:
        settings = trial.up(Path(folder) / "slurm", max_array_size=flags.array)
        try:
            _measure(Bench(Path(folder), settings, flags.profile), flags.jobs, flags.array)
        finally:
            trial.down(settings.folder)
    large_study.measure(flags.finished)


def _measure(bench: Bench, jobs: int, size: int) -> None:
    folds = jobs // 10  # five datasets and two methods
    sweep = [f"dataset={DATASETS}", "method=median,pivot", f"folds={folds}", *SMALL]
    steps: dict[str, Callable[[], tuple[float, float]]] = {
        "-m": lambda: bench.seconds("submit", *sweep, "-m"),
        "the same again": lambda: bench.seconds("again", *sweep, "-m"),
        "plan": lambda: bench.seconds("plan", "plan", *sweep),
        "status": lambda: bench.seconds("status", "status"),
        "cancel": lambda: bench.seconds("cancel", "cancel", "-y"),
        "resume": lambda: bench.seconds("resume", "resume", SMALL[-1]),
    }
    bare_s = bench.bare(jobs // size, size)
    subprocess.run(["scancel", "--user", str(os.getuid())], env=bench.environment, check=True)
    print(f"{jobs} jobs in arrays of {size}; a bare loop of the sbatch calls: {bare_s:.1f} s")
    print(f"{'command':<16} {'seconds':>8} {'processor s':>12} {'x bare loop':>12}")
    for name, measure in steps.items():
        spent_s, used_s = measure()
        ratio = spent_s / bare_s
        print(f"{name:<16} {spent_s:>8.1f} {used_s:>12.1f} {ratio:>12.1f}", flush=True)


def _processor_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
