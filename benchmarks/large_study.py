"""Synthetic studies of finished folds, and what `status` and `collect` cost on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import submissions
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import serialization
from tests.support.made_studies import fold_result, lengths

ROOT = Path(__file__).parents[1]
METHODS = ("median", "pivot")
FOLDS = 10
COMMANDS = (("status", "status"), ("status again", "status"), ("collect", "collect"))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took."""

    wall_s: float
    processor_s: float
    memory_mb: float


def folds_of(count: int) -> Iterator[FoldId]:
    """A sweep over seeds: all folds of a dataset and method for each of them."""
    for number in range(count):
        group, fold = divmod(number, FOLDS)
        seed, method = divmod(group, len(METHODS))
        variant = f"seed={seed}" if seed else ""
        yield FoldId("hepatitis", METHODS[method], fold, variant)


def write(study: StudyPaths, count: int) -> int:
    """Write that many finished folds, each as a job leaves it; the number of files."""
    templates = {method: _template(method) for method in METHODS}
    submission = _submission()
    for fold in folds_of(count):
        paths = study.fold(fold)
        paths.folder.mkdir(parents=True)
        own = {"fold": fold.fold, "variant": fold.variant}
        seed = {"seed": int(fold.variant.partition("=")[2] or 0)}
        content = templates[fold.method] | own | seed
        content["settings"] = content["settings"] | seed | {"fold": fold.fold, "folds": FOLDS}
        paths.result.write_text(json.dumps(content, indent=1))
        paths.submission.write_text(submission)
        paths.log.write_text("length 1: 31 errors\nlength 2: 30 errors\nfinished\n")
    return 3 * count


def _template(method: str) -> dict[str, Any]:
    made = fold_result("hepatitis", method, 0)
    origin = made.provenance | {"generation": 2}
    made = replace(made, lengths=lengths(7), provenance=origin)
    content = {**serialization.header(result.FORMAT), **serialization.plain(made)}
    return content | {"measures": made.measures}


def _submission() -> str:
    config = compose(["dataset=hepatitis", "method=median"])
    made = submissions.new_submission(config, "slurm")
    made = replace(made, job_id="17_3", generation=1)
    content = serialization.header(submissions.FORMAT) | serialization.plain(made)
    return json.dumps(content, indent=1)


def cost_of(folder: Path, *words: str) -> Cost:
    """Run a command, and measure it with all processes that it starts."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "fsm_hpc", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    _, status, own = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(words)} ended with {status}")
    wall_s = time.perf_counter() - began
    return Cost(wall_s, own.ru_utime + own.ru_stime, own.ru_maxrss / 1024)


def measure(counts: Sequence[int]) -> None:
    """Print a table of costs, one line for each number of folds and command."""
    print(f"{'folds':>8} {'files':>8} {'command':<14} {'s':>7} {'processor s':>12} {'MB':>7}")
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="fsm-") as folder:
            files = write(StudyPaths(Path(folder) / "results" / "default"), count)
            for name, command in COMMANDS:
                cost = cost_of(Path(folder), command)
                print(
                    f"{count:>8} {files:>8} {name:<14} {cost.wall_s:>7.1f} "
                    f"{cost.processor_s:>12.1f} {cost.memory_mb:>7.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    measure([int(word) for word in sys.argv[1:]] or [1_000, 10_000])
