"""Folds on the trial SLURM: send them, read them, and what accounting has of their jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slurm import daemons, trial
from slurm.settings import Settings

ROOT = Path(__file__).parents[1]
ACCOUNTING_S = 60  # by which it may lag behind
UNFINISHED = ("RUNNING", "PENDING", "COMPLETING")


class Bench:
    """A folder of studies, one for each run, and the cluster that they run on."""

    def __init__(self, folder: Path, settings: Settings, code: Path = ROOT) -> None:
        self.folder, self.settings = folder, settings
        self.environment = daemons.environment(settings) | {"PYTHONPATH": str(code)}

    def send(self, study: str, *words: str) -> subprocess.Popen[bytes]:
        """A command that submits folds and waits for them; what it says is kept beside them."""
        command = [sys.executable, "-m", "fsm_hpc", *words, f"study={study}", "--wait", "-m"]
        with (self.folder / f"{study}.txt").open("w") as output:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=output, stderr=output
            )

    def processor_s(self, job_id: str, lives: int = 1) -> float:
        """Of all tasks, over so many lives of a job."""
        told = []
        for _ in range(ACCOUNTING_S):
            told = self._steps(job_id)
            if len(told) >= lives and not any(state in UNFINISHED for state, _ in told):
                return sum(_seconds(used) for _, used in told)
            time.sleep(1)
        raise RuntimeError(f"sacct: expected {lives} lives of job {job_id}, found {told}")

    def _steps(self, job_id: str) -> list[tuple[str, str]]:
        """State and processor time of the step that runs the fold, for each life of its job."""
        said = subprocess.run(
            ["sacct", "-D", "-j", job_id, "-n", "-P", "-o", "JobID,State,TotalCPU"],
            env=self.environment,
            capture_output=True,
            text=True,
        ).stdout
        rows = [line.split("|") for line in said.splitlines()]
        return [(row[1].split()[0], row[2]) for row in rows if row[0] == f"{job_id}.0"]


@contextmanager
def bench(folder: Path, code: Path = ROOT) -> Iterator[Bench]:
    """A new cluster that ends with this process, and studies in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = trial.up(Path(tempfile.mkdtemp(prefix="fsm-")), owner=os.getpid())
    try:
        yield Bench(folder.absolute(), settings, code)
    finally:
        trial.down(settings.folder)


def answers(result: Path) -> list[list[Any]]:
    """What a fold found at every length, without times."""
    keys = ("length", "size", "errors", "proved", "formula")
    return [[entry[key] for key in keys] for entry in json.loads(result.read_text())["lengths"]]


def _seconds(text: str) -> float:
    """sacct's `days-hours:minutes:seconds.fraction`."""
    days, _, rest = text.rpartition("-")
    parts = [float(part) for part in rest.split(":")]
    return int(days or 0) * 86400.0 + sum(p * 60.0**n for n, p in enumerate(reversed(parts)))
