"""What a change costs: processor time of native here against another revision, interleaved.

    python -m benchmarks.cost --against REVISION

The revision is checked out as a git worktree in a folder of its own. Each side is one process that
solves what it is told, bounds 1 to the last of an instance with a new solver and one thread, on the
training part of fold 0; the two take turns, so that other work on the machine meets both alike.
Processor time, and of several rounds the median; the first one, which compiles, does not count.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INSTANCES = (
    ("bank", "pivot", 6),
    ("bank", "interval", 5),
    ("german_credit", "pivot", 7),
    ("heart_disease", "pivot", 8),
    ("breast_cancer", "interval", 8),
    ("bank", "median", 9),
    ("hepatitis", "pivot", 10),
)
HERE = Path(__file__).resolve().parents[1]


class Side:
    """A checkout, and the process that solves with its code."""

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "benchmarks" / "cost.py"), "--answer"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, instance: tuple[str, str, int]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(instance), file=self._process.stdin, flush=True)
        said = self._process.stdout.readline()
        if not said:
            raise SystemExit(f"the process for {instance} has ended without an answer")
        found: dict[str, Any] = json.loads(said)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answer() -> None:
    """Solve what standard input names, with the code that PYTHONPATH leads to."""
    from benchmarks.encodings import problem_of
    from fsm_hpc.search.solvers.base import Control, Incumbent
    from fsm_hpc.search.solvers.native import Native

    for line in sys.stdin:
        dataset, method, last = json.loads(line)
        problem = problem_of(dataset, method)
        solver, start = Native(1), Incumbent()
        began = time.process_time()
        for bound in range(1, last + 1):
            outcome = solver.solve(problem, bound, start, Control())
            start = Incumbent(outcome.formula, outcome.errors, bound)
        seconds = time.process_time() - began
        solver.close()
        print(json.dumps({"seconds": seconds, "errors": outcome.errors}), flush=True)


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A worktree of the revision, taken away afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ("git", "-C", str(HERE), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compare(sides: Sequence[Side], rounds: int, instances: Sequence[tuple[str, str, int]]) -> None:
    """Take turns, the one that begins changing, and say what each instance costs."""
    spent: dict[tuple[str, str, int], list[list[float]]] = {i: [[], []] for i in instances}
    for number in range(rounds + 1):
        for instance in instances:
            found = {}
            for at in (0, 1) if number % 2 else (1, 0):
                found[at] = sides[at].ask(instance)
                if number:
                    spent[instance][at].append(found[at]["seconds"])
            if found[0]["errors"] != found[1]["errors"]:
                raise SystemExit(f"{instance}: the two disagree: {found}")
    print(f"processor seconds, one thread, fold 0 training part, median of {rounds} rounds")
    print(f"{'bounds 1 to the last':26} {'before':>8} {'here':>8} {'ratio':>6}")
    ratios = []
    for (dataset, method, last), times in spent.items():
        before, here = map(statistics.median, times)
        ratios.append(here / before)
        name = f"{dataset} {method} {last}"
        print(f"{name:26} {before:8.3f} {here:8.3f} {here / before:6.2f}")
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean of the ratios: {mean:.3f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--against", metavar="REVISION", help="what is compared with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", nargs="*", default=sorted({i[0] for i in INSTANCES}))
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.answer:
        answer()
        return
    if not chosen.against:
        parser.error("expected --against REVISION")
    with checked_out(chosen.against) as tree:
        sides = [Side(tree), Side(HERE)]
        try:
            compare(sides, chosen.rounds, [i for i in INSTANCES if i[0] in chosen.tables])
        finally:
            for side in sides:
                side.close()


if __name__ == "__main__":
    main()
