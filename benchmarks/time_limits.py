"""A length that lasts longer than its job may: what SLURM's time limit costs.

    python -m benchmarks.time_limits                 german_credit pivot up to length 9
    python -m benchmarks.time_limits --length 8      a short one

On a new trial SLURM, with one thread: once without a limit that matters, and once with one
minute, which SLURM ends again and again; the job is requeued and goes on. Processor time is what
accounting has of all lives of the job, without what a life costs that only begins.
Every run is kept in `--out` as soon as it is made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from benchmarks.result_cache import ResultCache, Results
from benchmarks.trial_slurm import Bench, answers, bench

WORDS = (
    *("dataset=german_credit", "method=pivot", "fold=0", "solver=native", "scan.plateau=null"),
    *("scan.patience=99", "cluster.cpus=1", "cluster.mem_gb=2"),
)
MOST_OF_STARTS = 0.3  # of all processor time, beyond which what is left of it is a guess
MINUTE = ("cluster.timeout_h=0.0167", "cluster.signal_delay_s=20")


def measure(on: Bench, study: str, words: tuple[str, ...]) -> Results:
    """One fold from submission to result, however many lives its job had."""
    on.send(study, *WORDS, *words).wait()
    (path,) = (on.folder / "results" / study).rglob("result.json")
    attempt = json.loads((path.parent / "attempt.json").read_text())
    lives = attempt["restart"] + 1
    return {
        "lives": lives,
        "cpu_s": on.processor_s(attempt["job_id"], lives),
        "lengths": answers(path),
        "seconds": json.loads(path.read_text())["lengths"][-1]["seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=9)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/time_limits"))
    options = parser.parse_args()
    size = f"scan.max_length={options.length}"
    runs = {
        "start": ("scan.max_length=1",),
        f"whole-{options.length}": (size,),
        f"minutes-{options.length}": (size, *MINUTE),
    }
    cache = ResultCache(options.out / "time_limits.json")
    with bench(options.out) as on:
        start, whole, cut = (
            cache.once(study, partial(measure, on, study, words)) for study, words in runs.items()
        )
    starts_s = cut["lives"] * start["cpu_s"]
    spent = [run["cpu_s"] - run["lives"] * start["cpu_s"] for run in (whole, cut)]
    same = "the same" if whole["lengths"] == cut["lengths"] else "OTHER"
    print(f"one life of a job that only begins: {start['cpu_s']:.1f} s of processor time")
    print(f"without a limit: {spent[0]:.1f} s beyond that (last length {whole['seconds']:.0f} s)")
    print(f"a minute at a time: {cut['lives']} lives, {cut['cpu_s']:.1f} s in all, {same} formulas")
    if starts_s > MOST_OF_STARTS * cut["cpu_s"]:
        print("no ratio: beginning took most of it, and is not known to a tenth of a second")
    else:
        print(f"{spent[1]:.1f} s beyond the beginnings, {spent[1] / spent[0]:.2f} x")


if __name__ == "__main__":
    main()
