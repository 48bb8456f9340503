"""Cancel jobs that are queued or running; their saved state stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from fsm_hpc.cluster import arrays, attempts, cancellations, schedulers, study_lock, submissions
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import FoldStatus, fold_states
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import terminal
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted
from fsm_hpc.system.serialization import NewerFormatError


def cancel(folds: Sequence[FoldRef], yes: bool) -> int:
    """Show the folds that would be cancelled; `yes`: cancel them."""
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
            console.print(f"{counted(len(live), 'fold')} would be cancelled; add -y to cancel them")
            return 0
        for study in studies:
            study_lock.ensure_held(study)
        not_cancelled = _cancel_all(live)
    ended = len(live) - len(not_cancelled)
    console.print(f"{ended} cancelled; `resume` continues them")
    for reason in dict.fromkeys(not_cancelled.values()):
        which = [name for name, text in not_cancelled.items() if text == reason]
        console.print(
            f"not cancelled: {len(which)} ({', '.join(which[:10])}): {reason}", soft_wrap=True
        )
    return 1 if not_cancelled else 0


def _shown(console: Console, folds: Sequence[FoldRef]) -> list[FoldStatus]:
    """The folds that are queued or running."""
    statuses, reports = fold_states(folds)
    show.unresponsive_commands(console, reports)
    for status in statuses:
        if status.files.newer:
            console.print(f"skipped: {status.ref.id}: {status.files.newer}", soft_wrap=True)
    live = [status for status in statuses if status.is_live]
    if live:
        is_short = len(live) <= show.MOST_ROWS
        console.print(show.fold_table(live) if is_short else show.group_table(live))
    return live


def studies_of(folds: Sequence[FoldRef]) -> set[StudyPaths]:
    """The studies whose job arrays are looked at when these folds are cancelled."""
    return {ref.paths.study for ref in folds}


def _cancel_all(live: Sequence[FoldStatus]) -> dict[str, str]:
    """Mark the submissions, then cancel their jobs; the folds that may still run, and why.

    The marks are on disk whatever the scheduler does.
    """
    known = [(s.ref.paths, s.files.submission) for s in live if s.files.submission is not None]
    failed = cancellations.cancel(known)
    jobs: dict[str, dict[str, JobRecord]] = {}
    not_cancelled: dict[str, str] = {}
    for status in live:
        if (submission := status.files.submission) is None:
            not_cancelled[str(status.ref.id)] = "its job is not known"
        elif (job := status.files.job) is not None:
            jobs.setdefault(submission.kind, {})[job.id] = job
        if error := failed.get(status.ref.paths):
            not_cancelled[str(status.ref.id)] = f"the cancellation cannot be recorded: {error}"
    needed = _jobs_of_other_folds(live)
    for kind, records in jobs.items():
        ended = [record for job_id, record in records.items() if job_id not in needed]
        not_cancelled |= schedulers.named(kind).cancel(ended)
    return not_cancelled


def _jobs_of_other_folds(live: Sequence[FoldStatus]) -> set[str]:
    """Jobs with folds that are not cancelled; the folds that are find their marks."""
    shared = {
        job.id: job.output
        for job, submission in ((status.files.job, status.files.submission) for status in live)
        if job and job.output and submission and submission.folds_in_job > 1
    }
    return {job_id for job_id, output in shared.items() if _has_other_folds(job_id, output)}


def _has_other_folds(job_id: str, output: Path) -> bool:
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
    is_replaced = latest is not None and latest.generation > submission.generation
    if submission.cancelled_at is not None or is_replaced:
        return True
    return attempt is not None and attempt.token == submission.token and attempt.end is not None
