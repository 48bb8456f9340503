"""Find in the output and log of a job why it ended without recording an end."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsm_hpc.cluster import arrays, schedulers
from fsm_hpc.cluster.schedulers.base import SETUP_FAILED
from fsm_hpc.cluster.watch.fold_files import FoldFiles
from fsm_hpc.system import files

MOST_BYTES = 16_000  # that are read at the end of a file
OUTPUT_BYTES = 32_000  # more for the output of a job: a traceback follows the reason
MOST_CHARACTERS = 500  # of a reason
LEAST_FREE_BYTES = 4096  # a disk with less counts as full
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (\S+\.\d+) (.*)")  # a line of joblog.Log
_CUT_OFF = re.compile(r"[\d-]{1,10}( [\d:]{0,8}( \S*)?)?")  # an incomplete line of this form
# error messages of the system about files, programs and memory
_SYSTEM = re.compile(
    r"No space left on device|[Qq]uota exceeded|Permission denied|Read-only file system"
    r"|Input/output error|Stale file handle|No such file or directory|bad interpreter"
    r"|command not found|[Cc]annot execute|Exec format error|Cannot allocate memory"
    r"|Illegal instruction|Segmentation fault|Bus error|File too large|Too many open files"
    r"|error while loading shared libraries|Operation not permitted"
)
_MEMORY = re.compile(r"MemoryError|Cannot allocate memory|[Oo]ut [Oo]f [Mm]emory|oom.kill")


def job_outputs(fold: FoldFiles) -> list[Path]:
    """The files with the output of the job of a fold."""
    job, submission = fold.job, fold.submission
    if job is None or submission is None:
        return []
    return schedulers.named(submission.kind).outputs(job)


def startup_error(fold: FoldFiles) -> str:
    """Why a job ended before it claimed its fold; empty if its output has no reason.

    A setup line of the user failed, or a file could not be read.
    """
    for path in job_outputs(fold):
        for line in last_lines(path, OUTPUT_BYTES):
            if line.startswith((SETUP_FAILED, arrays.CANNOT_BEGIN)):
                return line.removeprefix("fsm_hpc: ")
    return ""


def error(fold: FoldFiles) -> str:
    """The error that ended the job; empty if its output has none."""
    errors = [text for lines in _texts(fold) for text in _errors(lines)]
    return errors[-1][:MOST_CHARACTERS] if errors else ""


def is_memory_error(text: str) -> bool:
    return _MEMORY.search(text) is not None


def shows_memory_error(fold: FoldFiles) -> bool:
    """Whether the output shows that the memory limit ended the last attempt."""
    if fold.submission is None or fold.current is None:
        return False
    pattern = schedulers.named(fold.submission.kind).memory_error
    return any(pattern.search(files.read_end(path, 4000)) for path in job_outputs(fold))


def scheduler_reason(fold: FoldFiles) -> str:
    """Why the scheduler ended the job, such as its time limit; empty if unknown."""
    if fold.submission is None:
        return ""
    pattern = schedulers.named(fold.submission.kind).end_reason
    matches = [match for lines in _texts(fold) for line in lines if (match := pattern.match(line))]
    return str(matches[-1][1]) if matches else ""


def full_disk(fold: FoldFiles) -> str:
    """A note that the disk is full, so that a job could not write its reason; else empty."""
    folder = fold.ref.paths.folder
    try:
        disk = os.statvfs(folder)
    except OSError:
        return ""
    is_full = disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES
    return f"no space is left on the disk of {folder}" if is_full else ""


def last_lines(path: Path, most_bytes: int = MOST_BYTES) -> list[str]:
    return files.read_end(path, most_bytes).decode(errors="replace").splitlines()


def _texts(fold: FoldFiles) -> Iterator[list[str]]:
    """The lines of the last attempt in each file; the log of the fold comes last."""
    attempt = fold.current
    who = f"{attempt.job_id}.{attempt.restart}" if attempt else ""
    for path in job_outputs(fold):
        yield _lines(path, who)
    log = fold.ref.paths.log
    if attempt or not any(_is_older(log, record) for record in _records(fold)):
        yield _lines(log, who)


def _records(fold: FoldFiles) -> Iterator[Path]:
    """The files that record its submission."""
    yield fold.ref.paths.submission
    if fold.submission is not None and fold.submission.output:
        yield Path(fold.submission.output, arrays.FOLDS)


def _is_older(path: Path, other: Path) -> bool:
    """Whether both files exist and the first was changed before the second."""
    try:
        return path.stat().st_mtime_ns < other.stat().st_mtime_ns
    except OSError:
        return False


def _lines(path: Path, who: str) -> list[str]:
    """The lines from the first line of this attempt on, without times.

    If the attempt logged nothing: the lines after those of other attempts.
    """
    texts = last_lines(path)
    if texts and _CUT_OFF.fullmatch(texts[-1]):  # by a full disk
        texts.pop()
    logged = [_LOGGED.fullmatch(text) for text in texts]
    of_others = [n for n, match in enumerate(logged) if match and match[1] != who]
    own = [n for n, match in enumerate(logged) if match and match[1] == who]
    first = own[0] if own else of_others[-1] + 1 if of_others else 0
    pairs = zip(texts[first:], logged[first:], strict=True)
    return [match[2] if match else text for text, match in pairs]


def _errors(lines: Iterable[str]) -> Iterator[str]:
    """The last line of every traceback, and every line with a system error."""
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
