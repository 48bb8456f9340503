"""What the first use on an installation costs, which compiles; no search is charged for it.

    python -m benchmarks.first_use [--against REVISION]   seconds that pass, and of processors
    python -m benchmarks.first_use jobs                   six jobs at once in a fresh clone

Times are those of a process with an empty cache, less those of the same process once everything is
compiled. A second process compiles a part, so that on an idle machine less time passes. The jobs
run in a clone of the last commit on a new trial SLURM. One of them compiles the solver while
the others wait for it; no length's time may have a second of that, and what is found has to be the
same with nothing compiled as with everything.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from benchmarks.long_searches import HERE, checked_out
from benchmarks.trial_slurm import ROOT, Bench, answers, bench

WORDS = ("dataset=hepatitis", "method=pivot", "fold=0,1,2,3,4,5", "solver=native")
SIZE = ("scan.max_length=7", "scan.plateau=null", "cluster.cpus=1", "cluster.mem_gb=2")
RUNS = ("nothing compiled", "everything compiled")
COMPILING = "compiling the solver (once for this installation and processor)\n"
FIT = """
import numpy as np
from fsm_hpc import FormulaClassifier
values = np.arange(48).reshape(12, 4) * 5 % 13
FormulaClassifier(max_length=4).fit(values, values[:, 0] > 5)
"""
EVERYTHING = "from fsm_hpc.study import first_use; first_use.compile_all()"
USES = {"the first fit with pivots": FIT, "everything": EVERYTHING}


# ---------------------------------------------------------------------------------------- times


def used_s(tree: Path, code: str, cache: Path) -> tuple[float, float]:
    """Of a process that runs this with the code of a checkout: passed, and of its processors."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(cache)},
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, processor_s


def compiling_s(tree: Path, code: str) -> tuple[float, float]:
    """What it takes longer with an empty cache than with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        first, again = (used_s(tree, code, Path(folder)) for _ in range(2))
    return first[0] - again[0], first[1] - again[1]


def times(against: str | None) -> None:
    print("seconds of compiling on the first use: passed / of processors")
    with checked_out(against) if against else nullcontext() as other:
        print(f"{'':26}" + (f" {against:>15}" if other else "") + f" {'here':>15}")
        for name, code in USES.items():
            trees = [other, HERE] if other else [HERE]
            pairs = (compiling_s(tree, code) for tree in trees)
            spent = "".join(f" {passed:7.1f}/{processor:7.1f}" for passed, processor in pairs)
            print(f"{name:26}{spent}", flush=True)


# ----------------------------------------------------------------------------------------- jobs


def run(on: Bench, name: str) -> list[Path]:
    """One study; its results."""
    study = name.split()[0]
    code = on.send(study, *WORDS, *SIZE).wait()
    found = sorted((on.folder / "results" / study).rglob("result.json"))
    if code or len(found) != 6:
        said = (on.folder / f"{study}.txt").read_text()
        raise RuntimeError(f"expected six results, found {len(found)}; the study said:\n{said}")
    return found


def lengths_s(results: list[Path]) -> list[float]:
    """What every length of every fold took."""
    done = [json.loads(path.read_text())["lengths"] for path in results]
    return [entry["seconds"] for lengths in done for entry in lengths]


def compilers(on: Bench, name: str) -> int:
    """How many of the jobs have compiled."""
    logs = (on.folder / "results" / name.split()[0]).rglob("*log*")
    return sum(COMPILING in path.read_text() for path in logs if path.is_file())


def jobs() -> None:
    folder = Path(tempfile.mkdtemp(prefix="fsm-first-use-"))
    clone = folder / "clone"
    try:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        with bench(folder, clone) as on:
            found = {name: run(on, name) for name in RUNS}
            compiled = {name: compilers(on, name) for name in RUNS}
        for name, results in found.items():
            spent = lengths_s(results)
            print(
                f"{name}: {compiled[name]} of 6 jobs compiled; {len(spent)} lengths took "
                f"{sum(spent):.1f} s, the longest {max(spent):.2f} s"
            )
        cold, warm = ([answers(path) for path in found[name]] for name in RUNS)
        print("the same records" if cold == warm else f"OTHER records: {cold} and {warm}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", nargs="?", choices=("times", "jobs"), default="times")
    parser.add_argument("--against", metavar="REVISION", help="what is compared with")
    chosen = parser.parse_args()
    if chosen.step == "times":
        times(chosen.against)
    else:
        jobs()


if __name__ == "__main__":
    main()
