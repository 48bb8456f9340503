"""Why a job ended that recorded no end: from its log, and from its output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.watch import fold_files
from fsm_hpc.cluster.watch.fold_files import FoldFiles
from fsm_hpc.cluster.watch.fold_state import FoldState
from fsm_hpc.system import files

MOST_BYTES = 16_000  # of the end of a file that are read
MOST_LETTERS = 500  # of a reason
SMALLEST_ROOM = 4096  # bytes: a disk with less takes no file of ours
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (\S+\.\d+) (.*)")  # a line of joblog.Log
_CUT_OFF = re.compile(r"[\d-]{1,10}( [\d:]{0,8}( \S*)?)?")  # how such a line begins
# what a system says of a file, a program or memory, whoever prints it
_SYSTEM = re.compile(
    r"No space left on device|[Qq]uota exceeded|Permission denied|Read-only file system"
    r"|Input/output error|Stale file handle|No such file or directory|bad interpreter"
    r"|command not found|[Cc]annot execute|Exec format error|Cannot allocate memory"
    r"|Illegal instruction|Segmentation fault|Bus error|File too large|Too many open files"
    r"|error while loading shared libraries|Operation not permitted"
)
_MEMORY = re.compile(r"MemoryError|Cannot allocate memory|[Oo]ut [Oo]f [Mm]emory|oom.kill")


def explained(found: FoldFiles, state: FoldState, reason: str) -> tuple[FoldState, str]:
    """A job that recorded no end may have left the reason in its log, or in its output."""
    attempt, submission = found.attempt, found.submission
    has_begun = attempt is not None and submission is not None and attempt.token == submission.token
    has_ended = has_begun and attempt is not None and attempt.end is not None
    is_open = state in (FoldState.LOST, FoldState.FAILED) and not has_ended
    if submission and state is FoldState.FAILED and reason == fold_files.reason_not_to_begin(found):
        return state, reason
    if not is_open and (has_begun or state not in (FoldState.MISSING, FoldState.PARTIAL)):
        return state, reason
    error = of_error(found)
    if error and is_of_memory(error):
        return FoldState.OUT_OF_MEMORY, f"{error}, {found.resumes}"
    if error:
        return FoldState.FAILED, error
    full = _full_disk(found.ref.paths.folder) if submission else ""
    return state, "; ".join(filter(None, (of_scheduler(found), reason, full)))


def of_error(found: FoldFiles) -> str:
    """The error that ended the job; empty where nothing tells of one."""
    errors = [error for lines in _texts(found) for error in _errors(lines)]
    return errors[-1][:MOST_LETTERS] if errors else ""


def _full_disk(folder: Path) -> str:
    """Said where a job could not even write its reason."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return ""
    is_full = disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < SMALLEST_ROOM
    return f"no space is left on the disk of {folder}" if is_full else ""


def is_of_memory(reason: str) -> bool:
    return _MEMORY.search(reason) is not None


def of_scheduler(found: FoldFiles) -> str:
    """Why the scheduler says that it ended the job, such as its time limit."""
    if found.submission is None:
        return ""
    complaint = schedulers.named(found.submission.kind).complaint
    matches = [
        match for lines in _texts(found) for line in lines if (match := complaint.match(line))
    ]
    return str(matches[-1][1]) if matches else ""


def _texts(found: FoldFiles) -> Iterator[list[str]]:
    """The lines that the last attempt has left, file by file; its own log comes last."""
    submission, attempt = found.submission, found.attempt
    if submission is None:
        return
    has_begun = attempt is not None and attempt.token == submission.token
    who = f"{attempt.job_id}.{attempt.restart}" if attempt and has_begun else ""
    for path in fold_files.job_outputs(found):
        yield _lines(path, who)
    log = found.ref.paths.log
    if has_begun or _is_older(found.ref.paths.submission, log):
        yield _lines(log, who)


def _is_older(path: Path, other: Path) -> bool:
    try:
        return path.stat().st_mtime_ns <= other.stat().st_mtime_ns
    except OSError:
        return False


def _lines(path: Path, who: str) -> list[str]:
    """What is in the file from the first line of this attempt on, without the times; where it has
    none, what comes after the lines of others."""
    texts = files.read_end(path, MOST_BYTES).decode(errors="replace").splitlines()
    if texts and _CUT_OFF.fullmatch(texts[-1]):  # by a full disk
        texts.pop()
    logged = [_LOGGED.fullmatch(text) for text in texts]
    of_others = [n for n, match in enumerate(logged) if match and match[1] != who]
    own = [n for n, match in enumerate(logged) if match and match[1] == who]
    first = own[0] if own else of_others[-1] + 1 if of_others else 0
    pairs = zip(texts[first:], logged[first:], strict=True)
    return [match[2] if match else text for text, match in pairs]


def _errors(lines: Iterable[str]) -> Iterator[str]:
    """The last line of every traceback, and every line in which the system complains."""
    in_traceback, is_ignored = False, False
    for line in lines:
        if line.startswith("Exception ignored in"):
            is_ignored = True
        elif line.startswith("Traceback (most recent call last)"):
            in_traceback = True
        elif in_traceback and line and not line[0].isspace():
            in_traceback = False
            if not is_ignored:
                yield line
            is_ignored = False
        elif not in_traceback and _SYSTEM.search(line):
            yield line.strip()
