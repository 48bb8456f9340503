"""One long length on one node and on three of the trial SLURM: answers, processor time.

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
import time
from functools import partial
from pathlib import Path

from benchmarks.result_cache import ResultCache, Results
from benchmarks.trial_slurm import Bench, answers, bench
from fsm_hpc.study import scan_file
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from slurm import daemons

FOLD = FoldId("german_credit", "interval", 0)
LENGTH = 9
WORDS = (
    *(f"dataset={FOLD.dataset}", f"method={FOLD.method}", f"fold={FOLD.fold}"),
    *("solver=native", f"scan.max_length={LENGTH}", f"scan.patience={LENGTH}", "scan.plateau=null"),
    *("cluster.cpus=1", "cluster.mem_gb=4"),
)
RUNS = {"one": 1, "three": 3, "killed": 3}  # nodes
KILL_AFTER_S = 30.0  # of the longest length


def measure(on: Bench, name: str) -> Results:
    """One run from submission to result."""
    paths = StudyPaths(on.folder / "results" / name).fold(FOLD)
    sent = on.send(name, *WORDS, f"cluster.nodes={RUNS[name]}")
    if name == "killed":
        _kill_a_helper(on, paths)
    sent.wait()
    result = json.loads(paths.result.read_text())
    return {
        "nodes": RUNS[name],
        "cpu_s": on.processor_s(result["provenance"]["job_ids"][-1]),
        "lengths": answers(paths.result),
        "seconds": result["lengths"][-1]["seconds"],
    }


def _kill_a_helper(on: Bench, paths: FoldPaths) -> None:
    """The second task, in the middle of the longest length."""
    while (scan_file.facts(scan_file.load(paths.scan)).length or 0) < LENGTH:
        time.sleep(0.5)
    time.sleep(KILL_AFTER_S)
    job_id = json.loads(paths.attempt.read_text())["job_id"]
    for pid in daemons.task_pids(on.settings, job_id, task=1):
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Measure, then print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/nodes"))
    options = parser.parse_args()
    cache = ResultCache(options.out / "nodes.json")
    with bench(options.out) as on:
        for name in options.runs.split(","):
            cache.once(name, partial(measure, on, name))
    one = cache.results.get("one")
    for name, run in cache.results.items():
        told = f"{name}: {run['nodes']} nodes, {run['cpu_s']:.0f} s of processor time"
        if one is not None:
            same = "the same" if run["lengths"] == one["lengths"] else "OTHER"
            told += f", {run['cpu_s'] / one['cpu_s']:.2f} x one node, {same} formulas"
        print(told, f"(last length {run['seconds']:.0f} s)")


if __name__ == "__main__":
    main()
