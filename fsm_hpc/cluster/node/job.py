"""Begin an attempt in a job, requeue the job, or wait for its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from fsm_hpc.cluster import cancellations, schedulers, submissions
from fsm_hpc.cluster.attempts import AttemptEnd, SupersededError
from fsm_hpc.cluster.node import nodes
from fsm_hpc.cluster.schedulers.base import Scheduler
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files


class Supervised(Protocol):
    """One attempt at a fold."""

    def run(self) -> AttemptEnd: ...


def begin_attempt(
    supervisor: Callable[[Submission, FoldPaths], Supervised],
    submission: Submission,
    paths: FoldPaths,
) -> AttemptEnd:
    """Run a submitted fold, unless it was cancelled or submitted again in the meantime."""
    latest = submissions.load(paths)
    if latest is None:
        files.quarantine_if_invalid(paths.submission, lambda _: submissions.read(paths))
    elif latest.token != submission.token and latest.generation >= submission.generation:
        print(f"superseded by job {latest.job_id}: nothing to do")
        return AttemptEnd.SUPERSEDED
    if cancellations.is_cancelled(paths, submission):
        print("cancelled, or submitted again, before it began: nothing to do")
        return AttemptEnd.SUPERSEDED
    config, folder = submission.config_then, Path(submission.output)
    has_helpers = config.nodes > 1 and not schedulers.named(submission.kind).ends_with_command
    if has_helpers and nodes.is_helper():
        nodes.help_job(folder, config)
        return AttemptEnd.FINISHED
    try:
        return supervisor(submission, paths).run()
    except SupersededError as error:
        print(error)
        return AttemptEnd.SUPERSEDED
    finally:
        if has_helpers:
            nodes.signal_done(folder)


def requeue_job(
    scheduler: Scheduler, job_id: str, config: Config, log: Callable[[str], None]
) -> None:
    """Requeue the job of this process; try again until it succeeds or the job is ended."""
    deadline = time.monotonic() + config.cluster.signal_delay_s + 600  # the job ends earlier
    while time.monotonic() < deadline:
        if scheduler.requeue(job_id):
            log("requeued")
            if not scheduler.ends_with_command:
                wait_for_the_end(60)
            return
        log(f"{scheduler.title} did not requeue the job; trying again")
        time.sleep(5)


def wait_for_the_end(limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
    """Wait until the scheduler kills this process."""
    deadline = clock() + limit_s
    while clock() < deadline:
        time.sleep(1)
