"""An attempt of a job at a fold: its file, and the rule which attempt owns the fold."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, TypedDict

from fsm_hpc.cluster import generations, schedulers, submissions
from fsm_hpc.cluster.schedulers.local import job_id_of_process
from fsm_hpc.cluster.submissions import JobId, Submission
from fsm_hpc.errors import UserError
from fsm_hpc.study import result
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files, process_identity, serialization, tempfiles
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.process_identity import Identity
from fsm_hpc.system.serialization import NewerFormatError, OpenSchema
from fsm_hpc.system.value_types import Count, Moment, ProcessId, SpentSeconds

FORMAT = 4


class AttemptEnd(Enum):
    """How an attempt ended; an attempt without one was killed, or still runs."""

    FINISHED = "finished"  # with a result
    TIMEOUT = "timeout"  # saved before the time limit, and requeued
    PREEMPTED = "preempted"  # saved after a signal long before the time limit, and requeued
    STOPPED = "stopped"  # saved after SIGTERM or Ctrl-C
    SUPERSEDED = "superseded"  # a newer attempt or submission owns the fold
    GAVE_UP = "gave_up"  # too many node failures and preemptions
    BAD_INPUT = "bad_input"  # a mistake that the user can correct
    ERROR = "error"  # an exception in code
    OUT_OF_MEMORY = "out_of_memory"  # Python could not allocate memory
    NEEDS_RESUME = "needs_resume"  # queued by another version of fsm_hpc: nothing was computed


class Earlier(TypedDict):
    """The record of an earlier attempt."""

    token: str
    job_id: JobId
    end: str | None
    progress_s: SpentSeconds


@dataclass(frozen=True, slots=True)
class Attempt:
    """One process that works on a fold, identified by job id and restart count."""

    token: str
    job_id: JobId
    restart: Count
    host: str
    pid: ProcessId
    started_at: Moment
    ended_at: Moment | None = None
    end: AttemptEnd | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    progress_s: SpentSeconds = 0.0  # solver seconds on disk when it ended
    progress: str = ""  # a digest of the state on disk when it ended, without its times
    earlier: Annotated[tuple[dict[str, Any], ...], OpenSchema(tuple[Earlier, ...])] = ()
    generation: Count = 0  # larger than that of its submission and of earlier attempts
    process: Identity = ""
    submission: Count = 0  # the generation of its submission

    @property
    def identity(self) -> tuple[str, str, int, int, str]:
        return self.token, self.job_id, self.restart, self.pid, self.process

    @property
    def order(self) -> tuple[int, int, int]:
        """Of two attempts, that with the larger order owns the fold."""
        return self.submission, self.restart, self.generation


class SupersededError(UserError):
    """A newer submission or attempt owns the fold."""


def save(paths: FoldPaths, attempt: Attempt) -> None:
    serialization.write(paths.attempt, FORMAT, attempt)


def read(paths: FoldPaths) -> Attempt | None:
    """The newest attempt at a fold; None if there is none."""
    return serialization.load(Attempt, paths.attempt, FORMAT)


def load(paths: FoldPaths) -> Attempt | None:
    """The newest attempt at a fold; None also if its file is damaged."""
    try:
        return read(paths)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return None


def claim(paths: FoldPaths, submission: Submission) -> Attempt:
    """Make this process the owner of the fold; an earlier owner notices it and stops.

    An error if a later restart of the same job has claimed the fold.
    """
    tempfiles.clear(paths.folder)
    files.quarantine_if_invalid(paths.attempt, lambda _: read(paths))
    before = load(paths)
    environment = schedulers.named(submission.kind).environment()
    attempt = Attempt(
        token=submission.token,
        job_id=environment.job_id if environment else job_id_of_process(),
        restart=environment.restart if environment else 0,
        host=platform.node(),
        pid=os.getpid(),
        started_at=time.time(),
        earlier=() if before is None else (*before.earlier[-99:], _brief(before)),
        generation=max(generations.next_of(paths), submission.generation + 1),
        process=process_identity.of(),
        submission=submission.generation,
    )
    if before is not None and before.order > attempt.order:
        raise SupersededError(
            f"a newer attempt, restart {before.restart} of job {before.job_id}, has this fold, and "
            f"this is restart {attempt.restart} of job {attempt.job_id}: nothing to do"
        )
    save(paths, attempt)
    return attempt


def is_mine(paths: FoldPaths, attempt: Attempt) -> bool:
    """Whether this attempt owns the fold; also if attempt.json cannot be read.

    If an older attempt has overwritten attempt.json at the same moment, it is written again.
    """
    try:
        submission, current = submissions.load(paths), load(paths)
    except NewerFormatError:  # a newer version owns the fold
        return False
    is_other = submission is not None and submission.token != attempt.token
    if submission is not None and is_other and submission.generation >= attempt.submission:
        return False
    if current is None:
        return not _is_finished(paths, attempt)
    if current.identity == attempt.identity:
        return True
    if current.order >= attempt.order:
        return False
    save(paths, attempt)
    return True


class _Finished(TypedDict, total=False):
    provenance: dict[str, Any]


def _is_finished(paths: FoldPaths, attempt: Attempt) -> bool:
    """Whether a newer attempt has written the result and removed its state."""
    try:
        done = serialization.read_some(_Finished, paths.result) or {}
    except UnreadableError:
        return False
    generation = done.get("provenance", {}).get("attempt")
    return type(generation) is int and generation > attempt.generation


def remove_state_if_final(paths: FoldPaths) -> None:
    """Remove scan.json and attempt.json of a fold whose result is final."""
    last, done = load(paths), None
    if last is not None and last.end is AttemptEnd.FINISHED and paths.id is not None:
        done = result.load(paths.result, paths.id)
    if done is not None and done.is_final:
        for path in (paths.scan, paths.attempt):
            path.unlink(missing_ok=True)


def lost(attempt: Attempt) -> int:
    """The number of earlier attempts of this submission that were lost, preempted or stopped."""
    interrupted = (None, AttemptEnd.PREEMPTED.value, AttemptEnd.STOPPED.value)
    return sum(e["end"] in interrupted for e in _of_submission(attempt))


def stuck(attempt: Attempt) -> int:
    """How many of the last attempts of this submission ended at the time limit without progress.

    Progress is a proved length, a better formula or a searched part.
    """
    start: dict[str, Any] = {"progress_s": 0.0}
    ends = [start, *_of_submission(attempt), *([_brief(attempt)] if attempt.end else [])]
    count = 0
    for before, after in zip(reversed(ends[:-1]), reversed(ends[1:]), strict=True):
        if after["end"] != AttemptEnd.TIMEOUT.value or not _is_as_far(before, after):
            break
        count += 1
    return count


def _is_as_far(before: dict[str, Any], after: dict[str, Any]) -> bool:
    if before.get("progress") and after.get("progress"):
        return bool(before["progress"] == after["progress"])
    return bool(
        after["progress_s"] <= before["progress_s"]
    )  # written by an older version, or without a state


def _of_submission(attempt: Attempt) -> list[dict[str, Any]]:
    return [entry for entry in attempt.earlier if entry["token"] == attempt.token]


def _brief(attempt: Attempt) -> dict[str, Any]:
    times = ("started_at", "ended_at", "progress_s", "progress")
    kept = ("token", "job_id", "restart", "host", *times, "message", "end")
    values = serialization.plain(attempt)
    return {name: values[name] for name in kept}
