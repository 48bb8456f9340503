"""Signal a process of this machine, once it is shown to be the job that it is taken for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.errors import UserError
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold_id import FoldId, RuleId
from fsm_hpc.study.overrides import Override
from fsm_hpc.system import machine, process_identity

WORKER = "fsm_hpc.cluster.node.worker"  # what a job is started as, with its folder and number
COMMANDS = ("fsm_hpc", "fsm-hpc")  # what a person starts one fold with


def end(job: JobRecord) -> bool:
    """Ask the job's process to save and stop; False where it is not shown to be this job."""
    pid = _pid(job)
    with _held(pid) as handle:
        if not is_job(job):
            return False
        try:
            if handle is None:
                os.kill(pid, signal.SIGTERM)
            else:
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        except ProcessLookupError:
            pass  # it has just ended
        except PermissionError:
            return False
        return True


def is_job(job: JobRecord) -> bool:
    """Whether id, start and command line all say that this process works on this fold."""
    pid = _pid(job)
    if pid <= 1 or job.process != process_identity.of(pid) or job.fold is None or not job.folder:
        return False
    command = machine.command_line(pid)
    if WORKER in command:
        is_same_task = command[-1] == job.id.rpartition("_")[2] or "_" not in job.id
        return is_same_task and job.output is not None and _is_same(Path(command[-2]), job.output)
    return _names_fold(command, job.fold, FoldPaths(job.folder))


def _pid(job: JobRecord) -> int:
    return int(job.process.split("/")[2]) if job.process else 0


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _names_fold(command: Sequence[str], fold: FoldId, paths: FoldPaths) -> bool:
    """Whether it is a command of this program with overrides that mean this fold."""
    starts = [n for n, word in enumerate(command[:4]) if Path(word).name in COMMANDS]
    if not starts:
        return False
    rest = command[starts[0] + 1 :]
    overrides = [Override(text) for text in rest if "=" in text]
    given = {one.key for one in overrides}
    known = {"method": fold.method, "fold": str(fold.fold)}
    if "out" not in given:
        known["study"] = paths.study.root.name
    if not any(key.startswith("dataset.") for key in given):
        known["dataset"] = fold.dataset
    try:
        fits = all(one.names(known[one.key]) for one in overrides if one.key in known)
    except UserError:
        return False
    return fits and "method" in given and ("fit" in rest) == isinstance(fold, RuleId)


@contextmanager
def _held(pid: int) -> Iterator[int | None]:
    """A handle that stays with the process, so that its id cannot become another's meanwhile."""
    try:
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") and pid > 1 else None
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)
