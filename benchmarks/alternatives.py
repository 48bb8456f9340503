"""Check and measure the near-optimal set on the paper's tables.

    python -m benchmarks.alternatives pairs     counts of two literals against a matrix product
    python -m benchmarks.alternatives bounds    bound 5, beside ArborEnum where it is installed

Tables that this machine has not (`data_dir`) are named and left out.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

from fsm_hpc.errors import UserError
from fsm_hpc.search.method import Method
from fsm_hpc.search.near_optimal.compiling import ensure_compiled
from fsm_hpc.search.near_optimal.rashomon import near_optimal, slack_errors
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.table import Array
from fsm_hpc.study.compose import compose
from fsm_hpc.study.fold import prepare

DATASETS = (
    *("bank", "breast_cancer", "diabetes", "german_credit"),
    *("heart_disease", "hepatitis", "student_dropout"),
)
TWO_LITERALS = 4  # the bound: two propositions, a connective and a negation
BOUND = 5
SLACKS = {"heart_disease": 0.005, "diabetes": 0.005, "german_credit": 0.005, "bank": 0.002}
DEPTHS = (2, 3)  # of ArborEnum's trees
BLOCK = 512  # literals that are multiplied with all others at a time


# ----------------------------------------------------------------------------------------- pairs


def literals(problem: Problem) -> tuple[Array, Array]:
    """The truth of every proposition that is not constant on every row, and its column."""
    truths: list[Array] = []
    columns: list[int] = []
    fixed = [[feature.holds] for feature in problem.booleans]
    cut = [[n.ranks >= rank for rank in range(1, len(n.thresholds))] for n in problem.numerics]
    for number, one in enumerate([*fixed, *cut]):
        varied = [truth for truth in one if 0 < truth.sum() < problem.rows]
        truths += varied
        columns += [number] * len(varied)
    return np.array(truths, np.float32), np.array(columns)


def scores_of_pairs(problem: Problem) -> Array:
    """How many formulas of one or two literals have each number of errors, by matrix products."""
    truths, columns = literals(problem)
    weights = np.where(problem.labels, 1, -1).astype(np.float32)
    single, total = truths @ weights, weights.sum()
    histogram = np.zeros(problem.rows + 1, np.int64)
    positives = int(problem.labels.sum())

    def add(scores: Array) -> None:
        errors = np.rint(positives - scores).astype(np.int64)
        histogram[:] += np.bincount(errors.ravel(), minlength=problem.rows + 1)

    add(single)
    add(total - single)
    for start in range(0, len(truths), BLOCK):
        block = slice(start, start + BLOCK)
        both = (truths[block] * weights) @ truths.T
        later = columns[block, None] < columns[None, :]
        x = np.broadcast_to(single[block, None], both.shape)[later]
        y, xy = np.broadcast_to(single, both.shape)[later], both[later]
        for conjunction in (xy, x - xy, y - xy, total - x - y + xy):
            add(conjunction)
            add(total - conjunction)
    return histogram


def optimum_of(problem: Problem, bound: int, threads: int) -> int:
    return Native(threads).solve(problem, bound, Incumbent(), Control()).errors


def pairs(names: Sequence[str], threads: int) -> int:
    """The count of every table both ways; 1 if one differs."""
    print("two literals, pivot, all rows, slack 1 %: formulas within the slack of the optimum")
    print(
        f"{'table':16} {'rows':>5} {'optimum':>7} {'slack':>5} {'families':>8} "
        f"{'set':>9} {'product':>9} {'seconds':>7}"
    )
    differ = 0
    for name in names:
        problem = _problem(name, fitted=False)
        if problem is None:
            continue
        optimum = optimum_of(problem, TWO_LITERALS, threads)
        slack = slack_errors(0.01, problem.rows)
        started = time.monotonic()
        good = near_optimal(problem, TWO_LITERALS, optimum, slack, threads)
        seconds = time.monotonic() - started
        counted = int(scores_of_pairs(problem)[: optimum + slack + 1].sum())
        differ += counted != good.count
        verdict = "" if counted == good.count else "   DIFFERENT"
        print(
            f"{name:16} {problem.rows:5} {optimum:7} {slack:5} {len(good.families):8} "
            f"{good.count:9} {counted:9} {seconds:7.2f}{verdict}",
            flush=True,
        )
    print("all counts agree" if not differ else f"{differ} counts differ")
    return min(differ, 1)


def _problem(name: str, fitted: bool) -> Problem | None:
    try:
        fold = prepare(compose([f"dataset={name}", "method=pivot", "fold=0"]))
    except UserError as error:
        print(f"{name:16} left out: {str(error).splitlines()[0]}")
        return None
    rows = fold.rows.fitted if fitted else np.arange(len(fold.dataset.labels))
    problem = fold.problem(rows)
    assert problem.method is Method.PIVOT
    return problem


# ---------------------------------------------------------------------------------------- bounds


def bounds(names: Sequence[str], threads: int, limit_s: float) -> int:
    """Both on the same rows with the same slack, one after the other."""
    print(f"bound {BOUND}, pivot, fitted rows of fold 0, {threads} threads")
    for name in names:
        problem = _problem(name, fitted=True)
        if problem is None:
            continue
        slack = slack_errors(SLACKS[name], problem.rows)
        optimum = optimum_of(problem, BOUND, threads)
        started = time.monotonic()
        good = near_optimal(problem, BOUND, optimum, slack, threads)
        print(
            f"{name}: {problem.rows} rows, slack {slack} errors\n"
            f"  formulas of size {BOUND}: {optimum} errors at best, "
            f"{'complete' if good.is_complete else 'NOT complete'}, {len(good.families)} families, "
            f"{good.count} formulas, {time.monotonic() - started:.1f} s",
            flush=True,
        )
        for depth in DEPTHS:
            print(f"  ArborEnum, depth {depth}: {_trees(name, depth, limit_s)}", flush=True)
    return 0


def _trees(name: str, depth: int, limit_s: float) -> str:
    """ArborEnum in a process of its own, which a limit can end."""
    if importlib.util.find_spec("arborenum") is None:
        return "not installed (pip install arborenum)"
    command = [sys.executable, "-m", "benchmarks.alternatives", "trees", name, str(depth)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return f"not done within {limit_s:g} s"
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else '?'}"
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return f"{told['errors']} errors at best, {told['trees']} trees, {told['seconds']:.1f} s"


def trees(name: str, depth: int) -> int:
    """All trees of a depth within the slack: exact mode, every cut, errors alone as objective."""
    problem = _problem(name, fitted=True)
    assert problem is not None
    table = np.column_stack([column.values.astype(float) for column in problem.columns])
    model = importlib.import_module("arborenum").ArborEnum()
    started = time.monotonic()
    model.fit(
        table,
        problem.labels.astype(int),
        proxy_mode="continuous",
        lookahead_k=depth - 1,
        depth_budget=depth,
        lambda_reg=0.0,
        rashomon_mult=slack_errors(SLACKS[name], problem.rows) / problem.rows,
        additive=True,
        key_mode="exact",
    )
    seconds = time.monotonic() - started
    errors = int(model.get_min_objective())
    print(json.dumps({"errors": errors, "trees": int(model.count_trees()), "seconds": seconds}))
    return 0


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("pairs", "bounds", "trees"))
    parser.add_argument("names", nargs="*", help="tables; all where none is given")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each of ArborEnum")
    args = parser.parse_args(words)
    if args.what == "trees":
        return trees(args.names[0], int(args.names[1]))
    ensure_compiled()
    if args.what == "pairs":
        return pairs(args.names or DATASETS, args.threads)
    return bounds(args.names or list(SLACKS), args.threads, args.limit)


if __name__ == "__main__":
    sys.exit(main())
