"""Does the search tell how far it is, and lose nothing when it is killed?

    python -m benchmarks.progress shares       on every table: the share told at half of the time
    python -m benchmarks.progress kills        a length killed five times against one in one piece

Small: `shares --datasets hepatitis --methods pivot --least 1`, `kills --length 7 --threads 1`.
Shares and processor times are ratios within one run: other work on the machine matters little.
Measurements are kept in `--out` as soon as they are made; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from benchmarks.encodings import problem_of
from benchmarks.result_cache import ResultCache, Results
from benchmarks.solvers import DATASETS, METHODS
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native import Native
from fsm_hpc.search.solvers.native.compiling import ensure_compiled

LEAST_S, MOST_S = 10.0, 60.0  # what a length lasts whose shares are looked at
KILLS = 5
HALF = (0.2, 0.8)  # where the share may be at half of the time


# --------------------------------------------------------------------------------------- shares


def told(problem: Problem, least_s: float) -> Results:
    """The shares that the first length of at least that many seconds told, second by second."""
    native, start, length = Native(1), Incumbent(), 0
    while True:
        length += 1
        began, heard = time.process_time(), [(0.0, 0.0)]

        def hear(
            best: Incumbent,
            began: float = began,
            heard: list[tuple[float, float]] = heard,
            length: int = length,
        ) -> None:
            if best.frontier is not None and best.frontier.size == length:
                heard.append((time.process_time() - began, best.frontier.share))

        deadline = time.monotonic() + 20 * MOST_S
        outcome = native.solve(problem, length, start, Control(deadline=deadline, report=hear))
        seconds = time.process_time() - began
        if not outcome.proved or outcome.errors == problem.fewest_errors or seconds >= least_s:
            return {"length": length, "seconds": seconds, "told": heard, "proved": outcome.proved}
        start = Incumbent(outcome.formula, outcome.errors, outcome.proved_length)


def _told_on(dataset: str, method: str, least_s: float) -> Results:
    return told(problem_of(dataset, method), least_s)


def shares(cache: ResultCache, cells: Sequence[tuple[str, str]], least_s: float) -> None:
    print(f"share told while the first length of at least {least_s:g} s was searched, one thread")
    print(f"{'cell':26} length seconds |  1/4   1/2   3/4 | left: told / true at 1/4, 1/2, 3/4")
    inside = falling = 0
    for dataset, method in cells:
        name = f"shares {dataset} {method} {least_s:g}"
        found = cache.once(name, partial(_told_on, dataset, method, least_s))
        seconds, heard = found["seconds"], found["told"]
        at = [_share_at(heard, part * seconds) for part in (0.25, 0.5, 0.75)]
        ratios = [
            (1 - share) / share * part / (1 - part) if share else float("inf")
            for share, part in zip(at, (0.25, 0.5, 0.75), strict=True)
        ]
        inside += HALF[0] <= at[1] <= HALF[1]
        falling += any(b[1] < a[1] for a, b in pairwise(heard))
        print(
            f"{dataset + ' ' + method:26} {found['length']:6} {seconds:7.1f} | "
            + " ".join(f"{share:5.0%}" for share in at)
            + " |            "
            + "  ".join(f"{ratio:5.2f}" for ratio in ratios),
            flush=True,
        )
    print(f"at half of the time between {HALF[0]:.0%} and {HALF[1]:.0%}: {inside} of {len(cells)}")
    print(f"cells in which a share was smaller than one before: {falling}")


def _share_at(heard: Sequence[Sequence[float]], moment: float) -> float:
    return max((share for at, share in heard if at <= moment), default=0.0)


# ---------------------------------------------------------------------------------------- kills


def fold(out: Path, length: int, threads: int, kill_after_s: float | None) -> float:
    """Run or go on with a fold, perhaps killed on the way; the processor time that it took."""
    command = [sys.executable, "-m", "fsm_hpc", "dataset=german_credit", "method=pivot", "fold=0"]
    command += ["solver=native", f"solver.threads={threads}", f"scan.max_length={length}"]
    command += ["scan.plateau=null", "scan.patience=99", f"results_dir={out}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        with suppress(ProcessLookupError):  # it was done before
            os.kill(process.pid, signal.SIGKILL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def answer(out: Path) -> list[list[object]]:
    (path,) = out.rglob("result.json")
    lengths = json.loads(path.read_text())["lengths"]
    return [[entry["length"], entry["errors"], entry["formula"]] for entry in lengths]


def killed(length: int, threads: int, seed: int) -> Results:
    """The processor time of a fold in one piece, and of one that is killed at random instants."""
    with tempfile.TemporaryDirectory() as folder:
        start_up = fold(Path(folder, "start"), 1, threads, None)
        began = time.monotonic()
        one_piece = fold(Path(folder, "one"), length, threads, None)
        wall_s = time.monotonic() - began
        rng = random.Random(seed)
        moments = [rng.uniform(0.05, 0.3) * wall_s for _ in range(KILLS)]
        pieces = [fold(Path(folder, "cut"), length, threads, moment) for moment in moments]
        pieces.append(fold(Path(folder, "cut"), length, threads, None))
        same = answer(Path(folder, "one")) == answer(Path(folder, "cut"))
    return {"start_up": start_up, "one": one_piece, "pieces": pieces, "wall": wall_s, "same": same}


def kills(cache: ResultCache, length: int, threads: Sequence[int]) -> None:
    print(f"german_credit pivot fold 0 up to length {length}, killed {KILLS} times; processor time")
    print("threads  one piece  in pieces  ratio  same answer")
    for count in threads:
        found = cache.once(f"kills {length} {count}", partial(killed, length, count, count))
        one = found["one"] - found["start_up"]
        cut = sum(found["pieces"]) - found["start_up"] * len(found["pieces"])
        print(f"{count:7} {one:9.1f}s {cut:9.1f}s {cut / one:6.2f}  {found['same']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("shares", "kills"))
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/progress.json"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--least", type=float, default=LEAST_S, help="seconds of a length")
    parser.add_argument("--length", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=(1, 2, 4))
    flags = parser.parse_args()
    ensure_compiled()
    cache = ResultCache(flags.out)
    if flags.what == "shares":
        shares(cache, [(d, m) for d in flags.datasets for m in flags.methods], flags.least)
    else:
        kills(cache, flags.length, flags.threads)


if __name__ == "__main__":
    main()
