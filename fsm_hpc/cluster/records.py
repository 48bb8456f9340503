"""What a submission and an attempt leave on disk, and the fence between attempts."""

from __future__ import annotations

import os
import platform
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Any

import fsm_hpc
from fsm_hpc.study import provenance
from fsm_hpc.study.config import Config, build
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files


class End(Enum):
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
class Submission:
    """One fold handed to SLURM or to local processes; a newer one replaces it."""

    token: str
    kind: str
    config: dict[str, Any]
    code: dict[str, str | None]
    output: str  # folder where submitit keeps script, pickle and output
    submitted_at: float
    job_id: str | None = None  # None until sbatch has answered
    cancelled_at: float | None = None

    @property
    def config_then(self) -> Config:
        return build(Config, self.config)


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
    end: End | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()
    progress_s: float = 0.0  # solver seconds on disk when it ended
    earlier: tuple[dict[str, Any], ...] = field(default=())

    @property
    def identity(self) -> tuple[str, str, int]:
        return self.token, self.job_id, self.restart


def code_now() -> dict[str, str | None]:
    """Which code this is: compared when a queued job starts."""
    return {
        "version": fsm_hpc.__version__,
        "commit": provenance.code_commit(),
        "digest": provenance.code_digest(),
    }


def new_submission(config: Config, kind: str, output: str) -> Submission:
    token = secrets.token_hex(8)
    return Submission(token, kind, absolute(config).to_dict(), code_now(), output, time.time())


def submit_here(paths: FoldPaths, config: Config) -> Submission:
    """Hand a fold to this process, or to one that it starts."""
    submission = replace(new_submission(config, "local", ""), job_id=job_id_here(is_local=True))
    save_submission(paths, submission)
    return submission


def absolute(config: Config) -> Config:
    """The config with paths that mean the same in every folder."""
    return replace(
        config,
        results_dir=config.results_dir.absolute(),
        data_dir=config.data_dir.absolute() if config.data_dir else None,
        dataset=replace(config.dataset, path=config.dataset.own_path),
    )


def save_submission(paths: FoldPaths, submission: Submission) -> None:
    files.write_json(paths.submission, asdict(submission))


def load_submission(paths: FoldPaths) -> Submission | None:
    saved = files.read_json(paths.submission)
    try:
        return None if saved is None else Submission(**saved)
    except TypeError:  # written by another version
        return None


def save_attempt(paths: FoldPaths, attempt: Attempt) -> None:
    values = asdict(attempt)
    files.write_json(paths.attempt, values | {"end": attempt.end.value if attempt.end else None})


def load_attempt(paths: FoldPaths) -> Attempt | None:
    saved = files.read_json(paths.attempt)
    try:
        return None if saved is None else attempt_from_dict(saved)
    except (TypeError, ValueError):  # written by another version
        return None


def attempt_from_dict(saved: dict[str, Any]) -> Attempt:
    end = End(saved["end"]) if saved.get("end") else None
    lists = {name: tuple(saved.get(name, ())) for name in ("warnings", "earlier")}
    return Attempt(**{**saved, **lists, "end": end})


def claim(paths: FoldPaths, submission: Submission) -> Attempt:
    """Take the fold over for this process; whoever had it finds out and stops."""
    before = load_attempt(paths)
    is_local = submission.kind == "local"
    attempt = Attempt(
        token=submission.token,
        job_id=job_id_here(is_local),
        restart=0 if is_local else int(os.environ.get("SLURM_RESTART_COUNT", "0")),
        host=platform.node(),
        pid=os.getpid(),
        started_at=time.time(),
        earlier=() if before is None else (*before.earlier[-99:], _brief(before)),
    )
    save_attempt(paths, attempt)
    return attempt


def is_mine(paths: FoldPaths, attempt: Attempt) -> bool:
    """Whether the fold is still this attempt's to write; a file that cannot be read says yes."""
    submission, current = load_submission(paths), load_attempt(paths)
    if submission is not None and submission.token != attempt.token:
        return False
    return current is None or (current.identity, current.pid) == (attempt.identity, attempt.pid)


def retries(attempt: Attempt) -> int:
    """Earlier attempts of the same submission that brought nothing to an end of their own:
    lost with their node, preempted, or stopped before a single second was saved."""
    mine = [e for e in attempt.earlier if e["token"] == attempt.token]
    idle = [e for e in mine if e["end"] in (None, End.PREEMPTED.value, End.STOPPED.value)]
    before = [0.0, *(e["progress_s"] for e in mine)]
    stuck = [
        e
        for e, earlier_s in zip(mine, before, strict=False)
        if e["end"] == End.TIMEOUT.value and e["progress_s"] <= earlier_s
    ]
    return len(idle) + len(stuck)


def job_id_here(is_local: bool = False) -> str:
    """The id by which SLURM knows this process; local/HOST/PID elsewhere."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{n}_ID") for n in ("JOB", "TASK"))
    if array and task and not is_local:
        return f"{array}_{task}"
    job_id = None if is_local else os.environ.get("SLURM_JOB_ID")
    return job_id or f"local/{platform.node()}/{os.getpid()}"


def _brief(attempt: Attempt) -> dict[str, Any]:
    kept = ("token", "job_id", "restart", "host", "started_at", "ended_at", "progress_s", "message")
    return {name: getattr(attempt, name) for name in kept} | {
        "end": attempt.end.value if attempt.end else None
    }
