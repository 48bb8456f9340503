"""How the cost of the native solver grows with rows, columns, the bound and threads."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.encodings import problem_of
from benchmarks.result_cache import ResultCache
from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ROWS_BOUND = 4
COLUMNS = (100, 300, 1_000, 4_000, 10_000, 20_000)
COLUMNS_BOUND = 3
WIDE_ROWS = 64
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


def wide_table(columns: int, seed: int = 0) -> Problem:
    """Few rows, many columns of three values, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (columns, WIDE_ROWS)).astype(float)
    named = [Column(f"c{i}", Kind.NUMERIC, column) for i, column in enumerate(values)]
    return Problem.build(named, rng.random(WIDE_ROWS) < 0.5, Method.PIVOT)


def solve_made_up(make: str, amount: int, bound: int, limit_s: float) -> dict[str, Any]:
    """Processor seconds and memory of one bound on a made-up table, one thread."""
    from benchmarks.solvers import processor_limit

    tables = {"rows": mixed_table, "columns": wide_table}
    problem = tables[make](amount)
    Native(1).solve(tables[make](50), bound, Incumbent(), Control())  # load kernels
    started = time.process_time()
    with processor_limit(limit_s) as control:
        outcome = Native(1).solve(problem, bound, Incumbent(), control)
    seconds = time.process_time() - started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "proved": outcome.proved, "peak_mb": peak_mb}


def _apart(make: str, amount: int, bound: int, limit_s: float) -> dict[str, Any]:
    """The same in a process of its own, so that its peak of memory is its own."""
    call = f"print(json.dumps(solve_made_up({make!r}, {amount}, {bound}, {limit_s})))"
    code = f"import json; from benchmarks.solver_scaling import solve_made_up; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def against(cache: ResultCache, make: str, bound: int, limit_s: float) -> dict[int, Any]:
    """Measurements over more and more rows, or columns."""
    measured = {}
    for amount in {"rows": ROWS, "columns": COLUMNS}[make]:
        name = f"{make} {amount} processor"
        kept = cache.once(name, partial(_apart, make, amount, bound, limit_s))
        measured[amount] = kept
        mark = "" if kept["proved"] else ">="
        print(
            f"  {amount:9,} {mark}{kept['seconds']:8.2f} s {kept['peak_mb']:8.0f} MiB", flush=True
        )
    return measured


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


def scaling(cache: ResultCache, limit_s: float, figures: Path) -> None:
    from benchmarks.solvers import reached

    print(f"processor seconds for bound {ROWS_BOUND} against rows, 50 mixed columns, pivot")
    by_rows = against(cache, "rows", ROWS_BOUND, 4 * limit_s)
    print(f"the same for bound {COLUMNS_BOUND} against columns of three values, {WIDE_ROWS} rows")
    by_columns = against(cache, "columns", COLUMNS_BOUND, 4 * limit_s)
    by_bound = {
        f"{dataset} {method}": cache.once(
            f"reach {dataset} {method} {limit_s:g}", partial(reached, dataset, method, 1, limit_s)
        )
        for dataset, method in CURVES
    }
    print(f"seconds for {' '.join(map(str, THREADS_AT))} against threads, {os.cpu_count()} cores")
    by_threads = {}
    for count in THREADS:
        kept = cache.once(f"threads {count}", partial(solve_bound, count))
        by_threads[count] = kept["seconds"]
        print(f"  {count:9} {kept['seconds']:8.2f} s", flush=True)
    draw(by_rows, by_columns, by_bound, by_threads, figures)


def draw(
    by_rows: dict[int, Any],
    by_columns: dict[int, Any],
    by_bound: dict[str, Any],
    by_threads: dict[int, float],
    figures: Path,
) -> None:
    """One figure, four panels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ((top, wide), (bounds, threads)) = plt.subplots(2, 2, figsize=(9, 7), layout="tight")
    _grow(top, by_rows, "rows", 1, f"50 mixed columns, pivot, bound {ROWS_BOUND}")
    title = f"{WIDE_ROWS} rows, three values, pivot, bound {COLUMNS_BOUND}"
    _grow(wide, by_columns, "columns", 2, title)
    _bounds(bounds, by_bound)
    threads.plot(list(by_threads), [by_threads[1] / s for s in by_threads.values()], "o-")
    threads.plot(list(by_threads), list(by_threads), ":", color="grey")
    threads.axvline(os.cpu_count() or 1, color="lightgrey", zorder=0)
    threads.set(
        xlabel="threads (grey: cores)", ylabel="speed-up", title=" ".join(map(str, THREADS_AT))
    )
    threads.set_xticks(list(by_threads))
    figures.mkdir(parents=True, exist_ok=True)
    for suffix in ("svg", "png"):
        figure.savefig(figures / f"solver_scaling.{suffix}", dpi=150)
    plt.close(figure)


def _grow(axes: Any, measured: dict[int, Any], over: str, power: int, title: str) -> None:
    """Seconds against an amount, and a power of it for the eye."""
    seconds = [kept["seconds"] for kept in measured.values()]
    axes.loglog(list(measured), seconds, "o-", color="tab:blue", label="measured")
    most = max(measured)
    guide = [seconds[-1] * (amount / most) ** power for amount in measured]
    label = {1: "linear", 2: "quadratic"}[power]
    axes.loglog(list(measured), guide, ":", color="grey", label=label)
    axes.set(xlabel=over, ylabel="processor seconds", title=title)
    axes.legend(frameon=False)


def _bounds(axes: Any, by_bound: dict[str, Any]) -> None:
    """Seconds of every bound alone."""
    styles = {"median": ":", "pivot": "-", "interval": "--"}
    for name, found in by_bound.items():
        dataset, method = name.split()
        color = "tab:blue" if dataset == "bank" else "tab:orange"
        spent = np.diff([0.0, *(b["seconds"] for b in found["bounds"])])
        lengths = range(1, len(spent) + 1)
        axes.semilogy(lengths, spent, styles[method], marker=".", color=color, label=name)
    axes.set(xlabel="bound", ylabel="processor seconds for this bound alone")
    axes.set_title("fold 0, training part")
    axes.legend(frameon=False, fontsize=7, loc="upper left", handlelength=4)
    axes.set_ylim(top=1e4)
    axes.xaxis.get_major_locator().set_params(integer=True)
