"""One life of a job: what it leaves on disk, and the fence between attempts."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.submissions import Submission, job_id_here
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files


class AttemptEnd(Enum):
    """How an attempt ended; an attempt without one was killed, or still runs."""

    FINISHED = "finished"  # the result is there
    TIMEOUT = "timeout"  # saved before the time limit, and requeued
    PREEMPTED = "preempted"  # saved when signalled long before the limit, and requeued
    STOPPED = "stopped"  # saved after SIGTERM or Ctrl-C: cancelled, or requeued by others
    SUPERSEDED = "superseded"  # a newer attempt or submission has taken the fold
    GAVE_UP = "gave_up"  # too many node failures and preemptions
    BAD_INPUT = "bad_input"  # a mistake that the user can mend
    ERROR = "error"  # an exception in code
    OUT_OF_MEMORY = "out_of_memory"  # Python could not get memory


@dataclass(frozen=True, slots=True)
class Attempt:
    """One process that works on a fold, known by job id and restart count."""

    token: str
    job_id: str
    restart: int
    host: str
    pid: int
    started_at: float
    ended_at: float | None = None
    end: AttemptEnd | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    progress_s: float = 0.0  # solver seconds on disk when it ended
    earlier: tuple[dict[str, Any], ...] = field(default=())

    @property
    def identity(self) -> tuple[str, str, int]:
        return self.token, self.job_id, self.restart


def save(paths: FoldPaths, attempt: Attempt) -> None:
    values = asdict(attempt)
    files.write_json(paths.attempt, values | {"end": attempt.end.value if attempt.end else None})


def load(paths: FoldPaths) -> Attempt | None:
    saved = files.read_json(paths.attempt)
    try:
        return None if saved is None else _from_dict(saved)
    except (TypeError, ValueError):  # written by another version
        return None


def _from_dict(saved: dict[str, Any]) -> Attempt:
    end = AttemptEnd(saved["end"]) if saved.get("end") else None
    lists = {name: tuple(saved.get(name, ())) for name in ("warnings", "earlier")}
    return Attempt(**{**saved, **lists, "end": end})


def claim(paths: FoldPaths, submission: Submission) -> Attempt:
    """Take the fold over for this process; whoever had it finds out and stops."""
    before = load(paths)
    is_local = submission.is_local
    attempt = Attempt(
        token=submission.token,
        job_id=job_id_here(is_local),
        restart=0 if is_local else int(os.environ.get("SLURM_RESTART_COUNT", "0")),
        host=platform.node(),
        pid=os.getpid(),
        started_at=time.time(),
        earlier=() if before is None else (*before.earlier[-99:], _brief(before)),
    )
    save(paths, attempt)
    return attempt


def is_mine(paths: FoldPaths, attempt: Attempt) -> bool:
    """Whether the fold is still this attempt's to write; a file that cannot be read says yes."""
    submission, current = submissions.load(paths), load(paths)
    if submission is not None and submission.token != attempt.token:
        return False
    return current is None or (current.identity, current.pid) == (attempt.identity, attempt.pid)


def retries(attempt: Attempt) -> int:
    """Earlier attempts of the same submission that brought nothing to an end of their own:
    lost with their node, preempted, or stopped before a single second was saved."""
    mine = [e for e in attempt.earlier if e["token"] == attempt.token]
    fruitless = (None, AttemptEnd.PREEMPTED.value, AttemptEnd.STOPPED.value)
    idle = [e for e in mine if e["end"] in fruitless]
    before = [0.0, *(e["progress_s"] for e in mine)]
    stuck = [
        e
        for e, earlier_s in zip(mine, before, strict=False)
        if e["end"] == AttemptEnd.TIMEOUT.value and e["progress_s"] <= earlier_s
    ]
    return len(idle) + len(stuck)


def _brief(attempt: Attempt) -> dict[str, Any]:
    kept = ("token", "job_id", "restart", "host", "started_at", "ended_at", "progress_s", "message")
    return {name: getattr(attempt, name) for name in kept} | {
        "end": attempt.end.value if attempt.end else None
    }
