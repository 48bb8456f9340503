"""One long length on one node and on three of the one-machine SLURM: answers, processor time.

    python -m benchmarks.nodes                      all three runs, a new trial cluster
    python -m benchmarks.nodes --runs three,killed  some of them

Wall time says nothing where three pretended nodes share the cores of one machine; processor time
is what SLURM's accounting has for all tasks of the job, start-up and compilation check included.
Every run is kept in `--out` as soon as it is made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.notebook import Notebook, Results
from fsm_hpc.study import scan_file
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from slurm import daemons, trial
from slurm.settings import Settings

ROOT = Path(__file__).parents[1]
FOLD = FoldId("german_credit", "interval", 0)
LENGTH = 9
WORDS = (
    *(f"dataset={FOLD.dataset}", f"method={FOLD.method}", f"fold={FOLD.fold}"),
    *("solver=native", f"scan.max_length={LENGTH}", f"scan.patience={LENGTH}", "scan.plateau=null"),
    *("cluster.cpus=1", "cluster.mem_gb=4", "wait=true"),
)
RUNS = {"one": 1, "three": 3, "killed": 3}  # nodes
KILL_AFTER_S = 30.0  # of the longest length


class Bench:
    """A folder of studies, one for each run, and the cluster that they run on."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._environment = daemons.environment(settings) | {"PYTHONPATH": str(ROOT)}

    def measure(self, name: str) -> Results:
        """One run from submission to result."""
        paths = StudyPaths(self._folder / "results" / name).fold(FOLD)
        command = [sys.executable, "-m", "fsm_hpc", *WORDS, f"study={name}"]
        command += [f"cluster.nodes={RUNS[name]}", "-m"]
        with (self._folder / f"{name}.txt").open("w") as output:
            sent = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=output, stderr=output
            )
            if name == "killed":
                self._kill_a_helper(paths)
            sent.wait()
        result = json.loads(paths.result.read_text())
        job_id = result["provenance"]["job_ids"][-1]
        return {
            "nodes": RUNS[name],
            "cpu_s": self._processor_s(job_id),
            "lengths": [_answer(entry) for entry in result["lengths"]],
            "seconds": result["lengths"][-1]["seconds"],
        }

    def _kill_a_helper(self, paths: FoldPaths) -> None:
        """The second task, in the middle of the longest length."""
        while (scan_file.facts(scan_file.load(paths.scan)).length or 0) < LENGTH:
            time.sleep(0.5)
        time.sleep(KILL_AFTER_S)
        job_id = json.loads(paths.attempt.read_text())["job_id"]
        for pid in daemons.task_pids(self._settings, job_id, task=1):
            os.kill(pid, signal.SIGKILL)

    def _processor_s(self, job_id: str) -> float:
        """Of all tasks; accounting lags behind by some seconds."""
        for _ in range(60):
            said = subprocess.run(
                ["sacct", "-j", job_id, "-n", "-P", "-o", "JobID,State,TotalCPU"],
                env=self._environment,
                capture_output=True,
                text=True,
            ).stdout
            rows = [line.split("|") for line in said.splitlines()]
            done = [row[2] for row in rows if row[0] == f"{job_id}.0" and row[1] != "RUNNING"]
            if done:
                return _seconds(done[0])
            time.sleep(1)
        raise RuntimeError(f"sacct does not tell of {job_id}: {said}")


def _answer(entry: dict[str, Any]) -> list[Any]:
    return [entry[key] for key in ("length", "size", "errors", "proved", "formula")]


def _seconds(text: str) -> float:
    """sacct's `days-hours:minutes:seconds.fraction`."""
    days, _, rest = text.rpartition("-")
    parts = [float(part) for part in rest.split(":")]
    return int(days or 0) * 86400.0 + sum(p * 60.0**n for n, p in enumerate(reversed(parts)))


def main() -> None:
    """Measure, then print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/nodes"))
    options = parser.parse_args()
    folder = options.out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    notebook = Notebook(folder / "nodes.json")
    settings = trial.up(Path(tempfile.mkdtemp(prefix="fsm-")), owner=os.getpid())
    bench = Bench(folder, settings)
    try:
        for name in options.runs.split(","):
            notebook.once(name, partial(bench.measure, name))
    finally:
        trial.down(settings.folder)
    one = notebook.results.get("one")
    for name, run in notebook.results.items():
        told = f"{name}: {run['nodes']} nodes, {run['cpu_s']:.0f} s of processor time"
        if one is not None:
            same = "the same" if run["lengths"] == one["lengths"] else "OTHER"
            told += f", {run['cpu_s'] / one['cpu_s']:.2f} x one node, {same} formulas"
        print(told, f"(last length {run['seconds']:.0f} s)")


if __name__ == "__main__":
    main()
