"""What the commands cost on large studies: `python -m benchmarks.submit [--folds N ...]`.

One study is submitted to commands of SLURM that accept and hold every job; another one has
finished folds. Processor time and memory include all processes that a command starts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import arrays, submissions
from fsm_hpc.cluster.arrays import ArrayState
from fsm_hpc.study import result
from fsm_hpc.study.compose import compose
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.system import serialization
from tests.support.made_studies import fold_result, lengths

ROOT = Path(__file__).parents[1]
METHODS = ("median", "pivot")
FOLDS = 10
ARRAY = 1000  # folds of an array
HELD = {
    "sbatch": """for script; do :; done
id=$(wc -l < queue); id=$((id + 1000))
last=$(sed -n 's/.*--array=0-\\([0-9]*\\).*/\\1/p' "$script")
echo "$id ${last:-0}" >> queue
echo "Submitted batch job $id" """,
    "squeue": """case "$*" in *-h*) ;; *) echo "JOBID|STATE|REASON|NODELIST" ;; esac
while read -r id last; do
  [ "$last" = gone ] || seq -f "${id}_%.0f|PENDING|JobHeldUser|" 0 "$last"
done < queue""",
    "scancel": "sed -i 's/ .*/ gone/' queue",
    "sacct": "",
    "scontrol": 'echo "MaxArraySize            = 1001"',
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took."""

    wall_s: float
    processor_s: float
    memory_mb: float


def main() -> None:
    """Measure every number of folds, and print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--profile", action="store_true", help="keep profile-COMMAND.out of each")
    flags = parser.parse_args()
    print(f"{'folds':>8} {'command':<22} {'s':>7} {'processor s':>12} {'MB':>7} {'files':>8}")
    for count in flags.folds:
        for measure in (measure_submitted, measure_finished):
            with tempfile.TemporaryDirectory(prefix="fsm-") as folder:
                measure(Path(folder), count, flags.profile)


def measure_submitted(folder: Path, count: int, profile: bool) -> None:
    """Submit that many folds as jobs that are held; look at them, cancel them, submit them anew."""
    _write_commands(folder / "bin")
    seeds = max(1, count // (FOLDS * len(METHODS)))
    sweep = (f"dataset=hepatitis method={','.join(METHODS)} folds={FOLDS}").split()
    commands = {
        "-m": [*sweep, f"seed=range(0,{seeds})", "cluster=slurm", "-m"],
        "status": ["status"],
        "status again": ["status"],
        "cancel": ["cancel", "-y"],
        "resume": ["resume"],
    }
    for name, words in commands.items():
        _report(folder, count, name, cost_of(folder, words, profile))


def measure_finished(folder: Path, count: int, profile: bool) -> None:
    """Look at that many finished folds, and collect them."""
    write_finished(StudyPaths(folder / "results" / "default"), count)
    for name, command in (("status", "status"), ("status again", "status"), ("collect", "collect")):
        _report(folder, count, f"{name} (finished)", cost_of(folder, [command], profile))


def _report(folder: Path, count: int, name: str, cost: Cost) -> None:
    files = sum(len(names) for _, _, names in os.walk(folder / "results"))
    print(
        f"{count:>8} {name:<22} {cost.wall_s:>7.1f} {cost.processor_s:>12.1f} "
        f"{cost.memory_mb:>7.0f} {files:>8}",
        flush=True,
    )


def cost_of(folder: Path, words: list[str], profile: bool) -> Cost:
    """Run a command in a folder, with the commands of SLURM that are there."""
    python = [sys.executable]
    if profile:
        python += ["-m", "cProfile", "-o", str(ROOT / f"profile-{words[0].split('=')[0]}.out")]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.execve(sys.executable, [*python, "-m", "fsm_hpc", *words], environment)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(time.perf_counter() - began, _processor_s(used), used.ru_maxrss / 1024)


def _processor_s(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def _write_commands(folder: Path) -> None:
    folder.mkdir()
    (folder / "queue").touch()
    for name, body in HELD.items():
        (folder / name).write_text(f"#!/bin/sh\ncd {folder}\n{body}\n")
        (folder / name).chmod(0o755)


def folds_of(count: int) -> Iterator[FoldId]:
    """A sweep over seeds: all folds of a dataset and method for each of them."""
    for number in range(count):
        group, fold = divmod(number, FOLDS)
        seed, method = divmod(group, len(METHODS))
        yield FoldId("hepatitis", METHODS[method], fold, f"seed={seed}" if seed else "")


def write_finished(study: StudyPaths, count: int) -> None:
    """Write that many finished folds, as jobs leave them, and their arrays."""
    templates = {method: _template(method) for method in METHODS}
    for fold in folds_of(count):
        paths = study.fold(fold)
        paths.folder.mkdir(parents=True)
        own = {"fold": fold.fold, "variant": fold.variant}
        seed = {"seed": int(fold.variant.partition("=")[2] or 0)}
        content = templates[fold.method] | own | seed
        content["settings"] = content["settings"] | seed | {"fold": fold.fold, "folds": FOLDS}
        paths.result.write_text(json.dumps(content, indent=1))
        paths.log.write_text("length 1: 31 errors\nlength 2: 30 errors\nfinished\n")
    _write_arrays(study, count)


def _write_arrays(study: StudyPaths, count: int) -> None:
    """Arrays of 1,000 jobs, with one fold each."""
    config = compose(["dataset=hepatitis", "method=median"])
    shared = submissions.new_submission(config, "slurm", generation=1)
    for start in range(0, count, ARRAY):
        output = study.submissions.absolute() / str(start)
        members = []
        for fold in islice(folds_of(count), start, start + ARRAY):
            own = {"fold": fold.fold, "seed": int(fold.variant.partition("=")[2] or 0)}
            submission = replace(shared, config=shared.config | own, output=str(output))
            members.append((study.fold(fold), submission))
        array = arrays.save(members, f"fsm-{start}", True, [1] * len(members))
        arrays.with_state(array, ArrayState.SETTLED, "17")


def _template(method: str) -> dict[str, Any]:
    made = fold_result("hepatitis", method, 0)
    origin = made.provenance | {"generation": 2}
    made = replace(made, lengths=lengths(7), provenance=origin)
    content = {**serialization.header(result.FORMAT), **serialization.plain(made)}
    return content | {"measures": made.measures}


if __name__ == "__main__":
    main()
