"""How good answers are before they are proved: errors against processor seconds.

    python -m benchmarks.anytime --against REVISION

The pivot method on the training part of fold 0, one thread. Beside it the same search with the code
of a revision, checked out as a git worktree, and trees of depth 3 of pytrees-rs (ConTree with
`use_lds=True`, of which each time limit is a run of its own). Every measurement is kept in `--out`
as soon as it is made; the same command goes on from there. Compile both sides before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
TABLES = ("bank", "german_credit", "student_dropout")
BOUNDS = (8, 10, 12)
MOMENTS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
DEPTH = 3  # of trees


def curve(dataset: str, bound: int, last_s: float) -> dict[str, Any]:
    """Every improvement with the processor seconds at which it was told."""
    from benchmarks.encodings import problem_of
    from fsm_hpc.search.solvers.base import Control, Incumbent
    from fsm_hpc.search.solvers.native import Native

    problem = problem_of(dataset, "pivot")
    solver = Native(1)
    solver.solve(problem, 3, Incumbent(), Control())  # compiled, and the table is read
    solver.close()
    began = time.process_time()
    told: list[tuple[float, int]] = []

    def tell(incumbent: Incumbent) -> None:
        seconds = time.process_time() - began
        if incumbent.errors is not None and (not told or incumbent.errors < told[-1][1]):
            told.append((round(seconds, 3), incumbent.errors))

    class Limit:
        """Stops by processor time, whatever else the machine does."""

        def is_set(self) -> bool:
            return time.process_time() - began >= last_s

    stop: Any = Limit()
    outcome = solver.solve(problem, bound, Incumbent(), Control(stop=stop, report=tell))
    tell(outcome.incumbent)
    return {"told": told, "proved": outcome.proved_length, "lower_bound": outcome.lower_bound}


def tree_curve(dataset: str, last_s: float) -> dict[str, Any]:
    """The errors of a tree at every time limit."""
    import numpy as np

    from benchmarks.encodings import problem_of

    problem = problem_of(dataset, "pivot")
    rows = np.stack([column.values.astype(float) for column in problem.columns], axis=1)
    labels = problem.labels.astype(int)
    told = []
    for limit_s in (moment for moment in MOMENTS_S if moment <= last_s):
        began = time.process_time()
        model = import_module("pytrees").ConTreeClassifier(
            max_depth=DEPTH, max_time=limit_s, use_lds=True
        )
        model.fit(rows, labels)
        wrong = int((model.predict(rows) != labels).sum())
        told.append((min(limit_s, time.process_time() - began), wrong))
    return {"told": told}


def errors_at(measured: dict[str, Any], moment_s: float) -> str:
    found = [errors for seconds, errors in measured["told"] if seconds <= moment_s]
    return str(min(found)) if found else "-"


def measured_in(tree: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """Run one measurement with the code of a checkout."""
    command = [sys.executable, str(HERE / "benchmarks" / "anytime.py"), "--answer", *arguments]
    found = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return answer


def show(results: dict[str, Any]) -> None:
    """One line for each curve."""
    print("errors after processor seconds, pivot, one thread, fold 0 training part")
    print(f"{'':34}" + "".join(f"{moment:7.0f}" for moment in MOMENTS_S) + "  proved to")
    for name, found in results.items():
        figures = "".join(f"{errors_at(found, moment):>7}" for moment in MOMENTS_S)
        print(f"{name:34}{figures}  {found.get('proved', '')}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--against", metavar="REVISION", help="what is compared with")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--last", type=float, default=MOMENTS_S[-1], help="seconds of each curve")
    parser.add_argument("--out", type=Path, default=Path("build/anytime.json"))
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.answer:
        dataset, bound, last = chosen.answer
        is_tree = bound == "tree"
        found = (
            tree_curve(dataset, float(last)) if is_tree else curve(dataset, int(bound), float(last))
        )
        print(json.dumps(found))
        return
    if not chosen.against:
        parser.error("expected --against REVISION")
    from benchmarks.long_searches import checked_out
    from benchmarks.result_cache import ResultCache

    cache = ResultCache(chosen.out)
    with checked_out(chosen.against) as before:
        for dataset in chosen.tables:
            for bound in BOUNDS:
                for side, tree in (("here", HERE), (chosen.against, before)):
                    asked = [dataset, str(bound), str(chosen.last)]
                    cache.once(f"{dataset} {bound} {side}", partial(measured_in, tree, asked))
            asked = [dataset, "tree", str(chosen.last)]
            cache.once(f"{dataset} tree", partial(measured_in, HERE, asked))
    show(cache.results)


if __name__ == "__main__":
    main()
