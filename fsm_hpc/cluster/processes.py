"""Signal a process of this machine, once it is shown to be the fold that it is taken for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fsm_hpc.cluster.attempts import Attempt
from fsm_hpc.errors import UserError
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold_id import FoldId, RuleId
from fsm_hpc.study.words import Word
from fsm_hpc.system import machine, process_identity

WORKER = "fsm_hpc.cluster.node.worker"  # what a fold beside others is started as
COMMANDS = ("fsm_hpc", "fsm-hpc")  # what a person starts one fold with


def end(paths: FoldPaths, fold: FoldId, attempt: Attempt) -> bool:
    """Ask the attempt's process to save and stop; False where it is not shown to be this fold."""
    with _held(attempt.pid) as handle:
        if not is_fold(paths, fold, attempt):
            return False
        try:
            if handle is None:
                os.kill(attempt.pid, signal.SIGTERM)
            else:
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        except ProcessLookupError:
            pass  # it has just ended
        except PermissionError:
            return False
        return True


def is_fold(paths: FoldPaths, fold: FoldId, attempt: Attempt) -> bool:
    """Whether id, start and command line all say that this process works on this fold."""
    is_same = attempt.process != "" and attempt.process == process_identity.of(attempt.pid)
    if attempt.pid <= 1 or not is_same:
        return False
    command = machine.command_line(attempt.pid)
    if WORKER in command:
        return _is_same(Path(command[-1]), paths.folder)
    return _names_fold(command, fold, paths)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _names_fold(command: Sequence[str], fold: FoldId, paths: FoldPaths) -> bool:
    """Whether it is a command of this program with words that mean this fold."""
    starts = [n for n, word in enumerate(command[:4]) if Path(word).name in COMMANDS]
    if not starts:
        return False
    rest = command[starts[0] + 1 :]
    words = [Word(word) for word in rest if "=" in word]
    given = {word.key for word in words}
    known = {"method": fold.method, "fold": str(fold.fold)}
    if "out" not in given:
        known["study"] = paths.study.root.name
    if not any(key.startswith("dataset.") for key in given):
        known["dataset"] = fold.dataset
    try:
        fits = all(word.names(known[word.key]) for word in words if word.key in known)
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
