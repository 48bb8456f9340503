"""How the cost of the native solver grows with rows, with the bound and with threads."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.encodings import problem_of
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native

if TYPE_CHECKING:
    from benchmarks.solvers import Notebook

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ROWS_BOUND = 4
CURVES = (
    *(("bank", method) for method in ("median", "pivot", "interval")),
    *(("heart_disease", method) for method in ("median", "pivot", "interval")),
)
THREADS = (1, 2, 4)
THREADS_AT = ("german_credit", "pivot", 8)


def mixed_table(rows: int, seed: int = 0) -> Problem:
    """Fifty columns: 10 real, 15 whole numbers, 15 Boolean, 10 with five categories each."""
    rng = np.random.default_rng(seed)
    columns = [Column(f"real{i}", Kind.NUMERIC, rng.normal(size=rows)) for i in range(10)]
    for i in range(15):
        values = rng.integers(0, 10 + 20 * i, rows).astype(float)
        columns.append(Column(f"whole{i}", Kind.NUMERIC, values))
    columns += [Column(f"flag{i}", Kind.BOOLEAN, rng.random(rows) < 0.3) for i in range(15)]
    for i in range(10):
        codes = rng.integers(0, 5, rows)
        for code in range(5):
            name = f"kind{i}_{code}"
            columns.append(Column(name, Kind.BOOLEAN, codes == code, f"kind{i}", str(code)))
    rule = (columns[0].values > 0.3) & (columns[11].values > 7) | columns[30].values
    return Problem.build(columns, rule ^ (rng.random(rows) < 0.1), Method.PIVOT)


def solve_rows(rows: int, threads: int, limit_s: float) -> dict[str, Any]:
    """Seconds and memory of one bound on so many rows, merging the rows included."""
    problem = mixed_table(rows)
    Native(threads).solve(mixed_table(200), ROWS_BOUND, Incumbent(), Control())  # load kernels
    started = time.monotonic()
    control = Control(deadline=started + limit_s)
    outcome = Native(threads).solve(problem, ROWS_BOUND, Incumbent(), control)
    seconds = time.monotonic() - started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "proved": outcome.proved, "peak_mb": peak_mb}


def solve_rows_apart(rows: int, threads: int, limit_s: float) -> dict[str, Any]:
    """The same in a process of its own, so that its peak of memory is its own."""
    call = f"print(json.dumps(solve_rows({rows}, {threads}, {limit_s})))"
    code = f"import json; from benchmarks.solver_scaling import solve_rows; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def solve_bound(threads: int) -> dict[str, Any]:
    """Seconds of one hard bound alone, all smaller ones being proved before."""
    dataset, method, length = THREADS_AT
    problem = problem_of(dataset, method)
    solver = Native(threads)
    before = solver.solve(problem, length - 1, Incumbent(), Control())
    start = Incumbent(before.formula, before.errors, before.proved_length)
    started = time.monotonic()
    outcome = solver.solve(problem, length, start, Control())
    return {"seconds": time.monotonic() - started, "formula": str(outcome.formula)}


def scaling(notebook: Notebook, threads: int, limit_s: float, figures: Path) -> None:
    from benchmarks.solvers import reached

    print(
        f"seconds for bound {ROWS_BOUND} against rows, 50 mixed columns, pivot, {threads} threads"
    )
    by_rows = {}
    for rows in ROWS:
        name = f"rows {rows} {threads}"
        kept = notebook.once(name, partial(solve_rows_apart, rows, threads, 4 * limit_s))
        by_rows[rows] = kept
        mark = "" if kept["proved"] else ">="
        print(f"  {rows:9,} {mark}{kept['seconds']:8.2f} s {kept['peak_mb']:8.0f} MiB", flush=True)
    by_bound = {
        f"{dataset} {method}": notebook.once(
            f"reach {dataset} {method} {threads} {limit_s:g}",
            partial(reached, dataset, method, threads, limit_s),
        )
        for dataset, method in CURVES
    }
    print(f"seconds for {' '.join(map(str, THREADS_AT))} against threads, {os.cpu_count()} cores")
    by_threads = {}
    for count in THREADS:
        kept = notebook.once(f"threads {count}", partial(solve_bound, count))
        by_threads[count] = kept["seconds"]
        print(f"  {count:9} {kept['seconds']:8.2f} s", flush=True)
    draw(by_rows, by_bound, by_threads, figures)


def draw(
    by_rows: dict[int, Any], by_bound: dict[str, Any], by_threads: dict[int, float], figures: Path
) -> None:
    """One figure, three panels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    seconds = [by_rows[rows]["seconds"] for rows in by_rows]
    left.loglog(list(by_rows), seconds, "o-", color="tab:blue", label="measured")
    linear = [seconds[-1] * rows / max(by_rows) for rows in by_rows]
    left.loglog(list(by_rows), linear, ":", color="grey", label="linear")
    left.set(xlabel="rows", ylabel="seconds", title=f"50 mixed columns, pivot, bound {ROWS_BOUND}")
    left.legend(frameon=False)
    styles = {"median": ":", "pivot": "-", "interval": "--"}
    for name, found in by_bound.items():
        dataset, method = name.split()
        color = "tab:blue" if dataset == "bank" else "tab:orange"
        spent = np.diff([0.0, *(b["seconds"] for b in found["bounds"])])
        bounds = range(1, len(spent) + 1)
        middle.semilogy(bounds, spent, styles[method], marker=".", color=color, label=name)
    middle.set(xlabel="bound", ylabel="seconds for this bound alone", title="fold 0, training part")
    middle.legend(frameon=False, fontsize=7, loc="upper left")
    middle.set_ylim(top=1e4)
    middle.xaxis.get_major_locator().set_params(integer=True)
    right.plot(list(by_threads), [by_threads[1] / s for s in by_threads.values()], "o-")
    right.plot(list(by_threads), list(by_threads), ":", color="grey")
    right.axvline(os.cpu_count() or 1, color="lightgrey", zorder=0)
    right.set(
        xlabel="threads (grey: cores)", ylabel="speed-up", title=" ".join(map(str, THREADS_AT))
    )
    right.set_xticks(list(by_threads))
    figures.mkdir(parents=True, exist_ok=True)
    for suffix in ("svg", "png"):
        figure.savefig(figures / f"solver_scaling.{suffix}", dpi=150)
    plt.close(figure)
