"""Long searches here and in another checkout in turns, with optimal trees on the same rows.

    python -m benchmarks.solvers long --against REVISION_OR_FOLDER

Each side is one process that solves what it is told: all bounds up to the last one of an instance,
with a new solver and one thread, on the training part of fold 0. The two take turns, so that other
work on the machine meets both alike. Processor time; of several rounds the median. The first round
compiles, lists functions, and does not count. A folder is a checkout that is already compiled.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Answer = dict[str, Any]
HERE = Path(__file__).resolve().parents[1]
TREE_LIMIT_S = 120.0
TREE_DEPTHS = (2, 3)


@dataclass(frozen=True)
class Instance:
    """Bounds 1 to the last of a table; with a slack also the formulas within it."""

    dataset: str
    method: str
    last: int
    slack: int | None = None

    @property
    def kind(self) -> str:
        if self.slack is not None:
            return "formulas within a slack"
        return "fixed literals" if self.method == "median" else "thresholds"

    @property
    def name(self) -> str:
        within = "" if self.slack is None else f" slack {self.slack}"
        return f"{self.dataset} {self.method} {self.last}{within}"


INSTANCES = (
    Instance("bank", "median", 9),
    Instance("bank", "median", 10),
    Instance("german_credit", "median", 9),
    Instance("german_credit", "median", 10),
    Instance("heart_disease", "median", 9),
    Instance("heart_disease", "median", 10),
    Instance("bank", "pivot", 7),
    Instance("bank", "interval", 6),
    Instance("german_credit", "pivot", 8),
    Instance("student_dropout", "pivot", 6),
    Instance("student_dropout", "pivot", 7),
    Instance("student_dropout", "interval", 5),
    Instance("heart_disease", "pivot", 9),
    Instance("hepatitis", "pivot", 10),
    Instance("heart_disease", "median", 9, 3),
    Instance("heart_disease", "pivot", 9, 2),
)


# --------------------------------------------------------------------------------- two checkouts


class Side:
    """A checkout, and the process that solves with its code."""

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "benchmarks" / "long_searches.py")],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, instance: Instance) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(instance)), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{instance.name}: the process has ended without an answer")
        found: Answer = json.loads(line)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answer_questions() -> None:
    """Solve what standard input names, with the code that PYTHONPATH leads to."""
    for line in sys.stdin:
        print(json.dumps(_answer(Instance(**json.loads(line)))), flush=True)


def _answer(instance: Instance) -> Answer:
    from benchmarks.encodings import problem_of
    from fsm_hpc.search.solvers.base import Control, Incumbent
    from fsm_hpc.search.solvers.native import Native

    problem = problem_of(instance.dataset, instance.method)
    solver, start = Native(1), Incumbent()
    began = time.process_time()
    for bound in range(1, instance.last + 1):
        outcome = solver.solve(problem, bound, start, Control())
        start = Incumbent(outcome.formula, outcome.errors, bound)
    seconds = time.process_time() - began
    solver.close()
    if instance.slack is None:
        return {"optimum": seconds, "seconds": seconds, "found": outcome.errors}
    near_optimal = import_module(_rashomon_module()).near_optimal
    began = time.process_time()
    good = near_optimal(problem, instance.last, outcome.errors, instance.slack)
    found = [outcome.errors, good.count, good.is_complete]
    return {"optimum": seconds, "seconds": time.process_time() - began, "found": found}


def _rashomon_module() -> str:
    """The module of `near_optimal`, which version 0.2 called otherwise."""
    modules = [f"fsm_hpc.search.near_optimal.{name}" for name in ("rashomon", "good_set")]
    return next(name for name in modules if find_spec(name))


@contextmanager
def checked_out(against: str) -> Iterator[Path]:
    """The folder, or a worktree of the revision that is removed afterwards."""
    if Path(against).is_dir():
        yield Path(against).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ("git", "-C", str(HERE), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), against], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compare(against: str, rounds: int, datasets: Sequence[str]) -> None:
    """Print what each instance costs there and here."""
    chosen = [instance for instance in INSTANCES if instance.dataset in datasets]
    with checked_out(against) as tree:
        sides = [Side(tree), Side(HERE)]
        try:
            print(
                f"processor seconds for all bounds up to this one, one thread, fold 0 training "
                f"part, median of {rounds} rounds"
            )
            print(f"{'':30} {'before':>9} {'here':>9} {'ratio':>7}")
            ratios = {instance: _compared(sides, instance, rounds) for instance in chosen}
        finally:
            for side in sides:
                side.close()
    for kind in dict.fromkeys(instance.kind for instance in chosen):
        logs = [math.log(ratio) for one, ratio in ratios.items() if one.kind == kind]
        mean = math.exp(statistics.fmean(logs))
        print(f"{f'geometric mean, {kind}':50} {mean:7.2f}")


def _compared(sides: Sequence[Side], instance: Instance, rounds: int) -> float:
    """How many times faster an instance is here."""
    answers: list[list[Answer]] = [[], []]
    for number in range(rounds + 1):
        for at in (0, 1) if number % 2 else (1, 0):
            answers[at].append(sides[at].ask(instance))
    found = [[one["found"] for one in of_side] for of_side in answers]
    if found[0] != found[1]:
        raise SystemExit(f"{instance.name}: the two disagree: {found}")
    before, here = (
        float(statistics.median(one["seconds"] for one in side[1:])) for side in answers
    )
    line = f"{instance.name:30} {before:9.3f} {here:9.3f} {before / here:7.2f}"
    if instance.slack is not None:
        optimum = statistics.median(one["optimum"] for one in answers[1][1:])
        line += f"   {found[1][0][1]} formulas, {here / optimum:.1f} times the optimum"
    print(line, flush=True)
    return before / here


# ---------------------------------------------------------------------------------- optimal trees


def _streed(depth: int) -> Any:
    made = import_module("pystreed").STreeDClassifier
    return made(max_depth=depth, time_limit=TREE_LIMIT_S)


def _contree(depth: int) -> Any:
    return import_module("pycontree").ConTree(max_depth=depth, time_limit=TREE_LIMIT_S)


def _pytrees(depth: int) -> Any:
    return import_module("pytrees").ConTreeClassifier(max_depth=depth, max_time=TREE_LIMIT_S)


TREES: dict[str, tuple[str, Callable[[int], Any]]] = {
    "pystreed": ("median", _streed),  # of Boolean columns
    "pycontree": ("pivot", _contree),
    "pytrees-rs": ("pivot", _pytrees),
}


def beside(datasets: Sequence[str]) -> None:
    """Optimal trees on the same rows: another problem, but what a user would try instead."""
    heads = "".join(f" | {f'depth {depth}':>9} {'errors':>6}" for depth in TREE_DEPTHS)
    print(f"processor seconds of optimal trees, at most {TREE_LIMIT_S:g}\n{'':30}{heads}")
    for dataset in datasets:
        for package, (method, make) in TREES.items():
            cells = [_grown(dataset, method, make, depth) for depth in TREE_DEPTHS]
            print(f"{f'{dataset} {method} {package}':30}" + "".join(cells), flush=True)


def _grown(dataset: str, method: str, make: Callable[[int], Any], depth: int) -> str:
    from benchmarks.encodings import problem_of

    problem = problem_of(dataset, method)
    if method == "median":
        rows = np.stack([feature.holds for feature in problem.booleans], axis=1).astype(float)
    else:
        rows = np.stack([values.astype(float) for values in problem.table.values()], axis=1)
    labels = problem.labels.astype(int)
    try:
        tree = make(depth)
    except ImportError:
        return f" | {'':>9} {'':>6}"  # the package is not installed
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the time limit
        tree.fit(_framed(rows), labels)
    seconds = time.process_time() - began
    errors = int((np.asarray(tree.predict(_framed(rows))) != labels).sum())
    return f" | {seconds:9.2f} {errors:6}"


def _framed(rows: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, columns=[f"c{n}" for n in range(rows.shape[1])])


if __name__ == "__main__":
    answer_questions()
