"""Print the logs of folds, and the output of jobs that failed early."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.job_output import job_outputs, last_lines
from fsm_hpc.system import files

FEW_LINES = 10  # of each fold when several are shown
FOLLOW_S = 0.5
MOST_BYTES = 16 * 2**20  # of one log
ERROR_WORDS = ("error:", "Error", "command not found")


def logs(folds: Sequence[FoldRef], follow: bool) -> int:
    """Print the log of one fold, or the last lines of several; `follow` prints new lines."""
    lines = 0 if len(folds) == 1 else FEW_LINES
    for fold in fold_files.read_all(folds):
        print(f"==> {fold.ref.id} <==")
        for line in last_lines(fold.ref.paths.log, MOST_BYTES)[-lines:]:
            print(line)
        for line in _from_job(fold):
            print(f"  {line}")
    if follow:
        _follow(folds)
    return 0


def _from_job(fold: FoldFiles) -> list[str]:
    """Errors in the output of the job; all lines if the fold never began."""
    if fold.newer:
        return list(fold.damage)
    outputs = job_outputs(fold)
    lines = [line for path in outputs for line in last_lines(path, MOST_BYTES)[-5 * FEW_LINES :]]
    if not fold.ref.paths.log.exists():
        return lines
    return [line for line in lines if any(word in line for word in ERROR_WORDS)]


def _follow(folds: Sequence[FoldRef]) -> None:
    offsets = {ref.id: _size(ref.paths.log) for ref in folds}
    try:
        while True:
            for ref in folds:
                offsets[ref.id] = _print_from(ref, offsets[ref.id], len(folds) > 1)
            time.sleep(FOLLOW_S)
    except KeyboardInterrupt:
        return


def _print_from(ref: FoldRef, offset: int, named: bool) -> int:
    size = _size(ref.paths.log)
    if size <= offset:
        return offset
    new = files.read_end(ref.paths.log, size - offset)
    for line in new.decode(errors="replace").splitlines():
        print(f"{ref.id}: {line}" if named else line, flush=True)
    return offset + len(new)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
