"""Print the logs of folds, and what SLURM wrote where a fold could not."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from fsm_hpc.cluster import records
from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import Target

FEW_LINES = 10  # of each fold when several are shown
FOLLOW_S = 0.5
SLURM_WORDS = ("slurmstepd", "srun:", "sbatch:", "error:", "Error", "command not found")


def logs(targets: Sequence[Target], follow: bool) -> int:
    """One fold's log in full, several folds' last lines; `follow` stays and prints what comes."""
    lines = None if len(targets) == 1 else FEW_LINES
    for target in targets:
        print(f"==> {target.name} <==")
        for line in _last(target.paths.log, lines):
            print(line)
        for line in _from_slurm(target):
            print(f"  {line}")
    if follow:
        _follow(targets)
    return 0


def _from_slurm(target: Target) -> list[str]:
    """Complaints in the job's output; all of it when the fold never began."""
    submission = records.load_submission(target.paths)
    if submission is None:
        return []
    lines = [
        line for path in evidence.job_outputs(submission) for line in _last(path, 5 * FEW_LINES)
    ]
    if not target.paths.log.exists():
        return lines
    return [line for line in lines if any(word in line for word in SLURM_WORDS)]


def _last(path: Path, count: int | None) -> list[str]:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return [line.rstrip("\n") for line in deque(stream, count)]
    except FileNotFoundError:
        return []


def _follow(targets: Sequence[Target]) -> None:
    places = {target.name: _size(target.paths.log) for target in targets}
    try:
        while True:
            for target in targets:
                places[target.name] = _print_from(target, places[target.name], len(targets) > 1)
            time.sleep(FOLLOW_S)
    except KeyboardInterrupt:
        return


def _print_from(target: Target, place: int, named: bool) -> int:
    if _size(target.paths.log) <= place:
        return place
    with target.paths.log.open("rb") as stream:
        stream.seek(place)
        new = stream.read()
    for line in new.decode(errors="replace").splitlines():
        print(f"{target.name}: {line}" if named else line, flush=True)
    return place + len(new)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
