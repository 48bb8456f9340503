"""`collect` on 10,000 made-up folds against plain json.load of the same files."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fsm_hpc.cli.main import main as command_line
from fsm_hpc.search.method import Method
from fsm_hpc.study import result
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.result import FoldResult
from tests.support.made_studies import fold_result, lengths

LIMIT = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = StudyPaths(Path(folder) / "many")
        count = make(study, flags.folds)
        pairs = [
            (seconds(lambda: read_plainly(study)), seconds(lambda: collect(study)))
            for _ in range(flags.repeats)
        ]
    for plain_s, collect_s in pairs:
        print(
            f"{count} folds: json.load {plain_s:.2f} s, collect {collect_s:.2f} s, "
            f"ratio {collect_s / plain_s:.1f}"
        )
    ratio = max(collect_s / plain_s for plain_s, collect_s in pairs)
    print(f"worst ratio {ratio:.1f}, limit {LIMIT:g}")
    return 0 if ratio < LIMIT else 1


def make(study: StudyPaths, count: int) -> int:
    """Five methods, ten folds, as many datasets as it takes."""
    made = 0
    for number in range(-(-count // 50)):
        for method in Method:
            for fold in range(10):
                write(study, _result(f"dataset_{number}", method.value, fold))
                made += 1
    return made


def _result(dataset: str, method: str, fold: int) -> FoldResult:
    made = fold_result(dataset, method, fold)
    return replace(made, lengths=lengths(7)) if made.formula else made


def write(study: StudyPaths, made: FoldResult) -> None:
    path = study.fold(made.id).result
    result.save(path, made)


def read_plainly(study: StudyPaths) -> None:
    for path in study.root.rglob("result.json"):
        with path.open(encoding="utf-8") as stream:
            json.load(stream)


def collect(study: StudyPaths) -> None:
    place = [f"results_dir={study.root.parent}", f"study={study.root.name}"]
    with contextlib.redirect_stdout(io.StringIO()):
        command_line(["collect", *place, "--paper"])


def seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(main())
