"""End jobs that are queued or running; what they have saved stays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from fsm_hpc.cluster import arrays, attempts, schedulers, study_lock, submissions
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldStatus, fold_states
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, terminal
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.serialization import NewerFormatError


def cancel(folds: Sequence[FoldRef], yes: bool) -> int:
    """Show what would be cancelled; do it with `yes`."""
    console = terminal.console()
    studies = sorted(studies_of(folds), key=str)
    with study_lock.held([study.root for study in studies if yes]):
        for message in transaction.recover(studies) if yes else arrays.unreadable(studies):
            console.print(message, soft_wrap=True)
        live = _shown(console, folds)
        if not live:
            console.print("nothing is queued or running")
            return 0
        if not yes:
            console.print(f"{counted(len(live), 'fold')} would be cancelled; -y does it")
            return 0
        for study in studies:
            study_lock.ensure_held(study)
        not_cancelled = _cancel_all(live)
    ended = len(live) - len(not_cancelled)
    console.print(f"{ended} cancelled; `resume` goes on with them")
    for reason in dict.fromkeys(not_cancelled.values()):
        which = [name for name, text in not_cancelled.items() if text == reason]
        console.print(f"{len(which)} not: {', '.join(which[:10])}: {reason}", soft_wrap=True)
    return 1 if not_cancelled else 0


def _shown(console: Console, folds: Sequence[FoldRef]) -> list[FoldStatus]:
    """The folds that are queued or running."""
    statuses, reports = fold_states(folds)
    show.silence(console, reports)
    for one in statuses:
        if one.files.newer:
            console.print(f"left alone: {one.ref.id}: {one.files.newer}", soft_wrap=True)
    live = [one for one in statuses if one.is_live]
    if live:
        is_short = len(live) <= show.MOST_ROWS
        console.print(show.fold_table(live) if is_short else show.group_table(live))
    return live


def studies_of(folds: Sequence[FoldRef]) -> set[StudyPaths]:
    """The studies whose job arrays are looked at when these folds are cancelled."""
    return {ref.paths.study for ref in folds}


def _cancel_all(live: Sequence[FoldStatus]) -> dict[str, str]:
    """Mark the submissions first: what was wanted is on disk whatever the scheduler does.

    What may not have ended, and why.
    """
    jobs: dict[str, dict[str, JobRecord]] = {}
    not_cancelled: dict[str, str] = {}
    files.write_each(partial(_mark, one, jobs, not_cancelled) for one in live)
    going_on = _going_on(live)
    for kind, records in jobs.items():
        ended = [record for job_id, record in records.items() if job_id not in going_on]
        not_cancelled |= schedulers.named(kind).cancel(ended)
    return not_cancelled


def _going_on(live: Sequence[FoldStatus]) -> set[str]:
    """Jobs that are shared with folds that go on; those that are cancelled find their marks."""
    shared = {
        job.id: job.output
        for job, submission in ((one.files.job, one.files.submission) for one in live)
        if job and job.output and submission and submission.folds_in_job > 1
    }
    return {job_id for job_id, output in shared.items() if _goes_on(job_id, output)}


def _goes_on(job_id: str, output: Path) -> bool:
    try:
        members = arrays.read(output).members_of_job(job_id)
    except (UnreadableError, OSError):
        return False
    return not all(_is_over(*member) for member in members)


def _is_over(paths: FoldPaths, submission: Submission) -> bool:
    try:
        latest, attempt = submissions.load(paths), attempts.load(paths)
    except NewerFormatError:
        return True
    is_own = latest is not None and latest.token == submission.token
    if latest is not None and (not is_own or latest.cancelled_at is not None):
        return True
    return attempt is not None and attempt.token == submission.token and attempt.end is not None


def _mark(one: FoldStatus, jobs: dict[str, dict[str, JobRecord]], failed: dict[str, str]) -> None:
    ref, submission, job = one.ref, one.files.submission, one.files.job
    if submission is None:
        failed[str(ref.id)] = "nothing says which job it is"
        return
    try:
        submissions.write(ref.paths, replace(submission, cancelled_at=time.time()))
    except OSError as error:
        failed[str(ref.id)] = f"the wish to cancel cannot be kept: {error}"
    if job is not None:
        jobs.setdefault(submission.kind, {})[job.id] = job
