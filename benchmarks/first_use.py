"""Six jobs at once in a fresh clone, where nothing is compiled, against the same ones afterwards.

    python -m benchmarks.first_use

The clone is of the last commit, and the jobs run on a new one-machine SLURM. One of them compiles
the solver while the others wait for it; no length's time may have a second of that, and what is
found has to be the same with nothing compiled as with everything.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.trial_slurm import ROOT, Bench, answers, bench

WORDS = ("dataset=hepatitis", "method=pivot", "fold=0,1,2,3,4,5", "solver=native")
SIZE = ("scan.max_length=7", "scan.plateau=null", "cluster.cpus=1", "cluster.mem_gb=2")
RUNS = ("nothing compiled", "everything compiled")
COMPILING = "compiling the solver (once for this installation and processor)\n"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
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


if __name__ == "__main__":
    main()
