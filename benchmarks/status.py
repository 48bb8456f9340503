"""Seconds that `status` takes on ten thousand folds: `python -m benchmarks.status`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import FoldResult
from tests.support.made_studies import fold_result

PER_METHOD = 100  # folds of one dataset and method


def main() -> None:
    """Write folds, half of them done, and time the command a few times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        write_folds(StudyPaths(results / "default"), options.folds)
        times = [_time_status(results) for _ in range(options.repeat)]
    told = ", ".join(f"{wall:.2f} s ({cpu:.2f} s of processor)" for wall, cpu in times)
    print(f"status on {options.folds} folds: {told}")


def write_folds(study: StudyPaths, count: int) -> None:
    """Synthetic folds of finished and stopped local runs, as large as real ones."""
    config = compose(["dataset=hepatitis", "method=median", "cluster=local"])
    submission = asdict(submissions.new_submission(config, "local"))
    submission["job_id"] = "local/elsewhere/1"
    lengths = [_length(number) for number in range(1, 9)]
    for number in range(count):
        group, fold = divmod(number, PER_METHOD)
        fold_id = FoldId(f"dataset{group // 5}", f"method{group % 5}", fold)
        paths = study.fold(fold_id)
        paths.folder.mkdir(parents=True)
        paths.submission.write_text(json.dumps(submission))
        is_done = number % 2 == 0
        end = AttemptEnd.FINISHED if is_done else AttemptEnd.STOPPED
        _write_attempt(paths, submission["token"], end)
        state = {"lengths": lengths, "under_way": None, "scan_s": 9.0, "stop_reason": None}
        paths.scan.write_text(json.dumps(state | {"final": None, "format": 1}))
        if is_done:
            result.save(paths.result, _result(fold_id, lengths))


def _write_attempt(paths: FoldPaths, token: str, end: AttemptEnd) -> None:
    attempt = Attempt(token, "local/elsewhere/2", 0, "elsewhere", 2, time.time(), end=end)
    values = asdict(attempt) | {"end": end.value}
    paths.attempt.write_text(json.dumps(values))


def _length(number: int) -> dict[str, Any]:
    return {
        "length": number,
        "size": number,
        "formula": " or ".join(f"column_{i}" for i in range(number)),
        "errors": 20 - number,
        "train_accuracy": 0.8,
        "validation_accuracy": 0.8,
        "proved": True,
        "seconds": 1.0,
        "solver": "native",
    }


def _result(fold: FoldId, lengths: list[dict[str, Any]]) -> FoldResult:
    made = fold_result(fold.dataset, "pivot", fold.fold)
    return replace(made, method=fold.method, lengths=lengths)


def _time_status(results: Path) -> tuple[float, float]:
    began = time.perf_counter()
    code = "import sys, time; from fsm_hpc.cli.main import main; main(sys.argv[1:]); "
    code += "print(time.process_time(), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "status", f"results_dir={results}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - began, float(done.stderr.split()[-1])


if __name__ == "__main__":
    main()
