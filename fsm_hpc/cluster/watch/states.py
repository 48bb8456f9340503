"""The one state of a fold, from its files and from what its scheduler says, for every command."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fsm_hpc.cluster import arrays, attempts, schedulers, study_lock
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.schedulers.base import JobRecord, JobReport, JobState, JobStatus
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.watch import fold_files, job_output
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.errors import UserError
from fsm_hpc.search.proof import ProofLevel, level
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import fingerprint
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system.machine import gc_paused
from fsm_hpc.system.numbers import counted, duration, how_far

BEING_SUBMITTED_S = 300.0  # how long a scheduler may take to answer


class FoldState(Enum):
    """What a fold has come to; docs/reference/states.md explains each word."""

    DONE = "done"
    UNPROVED = "unproved"  # done: the final formula is the best found, not the best there is
    TIMEOUT = "timeout"  # done with what the scan's budget allowed; a larger one goes on
    OUT_OF_MEMORY = "out of memory"  # likewise, or killed without a result
    RUNNING = "running"
    QUEUED = "queued"
    UNKNOWN = "unknown"  # the scheduler does not say
    PARTIAL = "partial"  # begun, and nobody works on it
    LOST = "lost"  # its job is gone without a word
    CANCELLED = "cancelled"
    NEEDS_RESUME = "needs resume"  # its job was queued by another version, and computed nothing
    FAILED = "failed"
    CHANGED = "changed"  # the result is of other settings
    MISSING = "missing"  # never begun


LIVE = frozenset([FoldState.RUNNING, FoldState.QUEUED, FoldState.UNKNOWN])
ENDED = frozenset([FoldState.DONE, FoldState.UNPROVED, FoldState.TIMEOUT, FoldState.OUT_OF_MEMORY])
STUCK = frozenset(
    [
        FoldState.FAILED,
        FoldState.LOST,
        FoldState.CANCELLED,
        FoldState.NEEDS_RESUME,
        FoldState.OUT_OF_MEMORY,
    ]
)
StateAndReason = tuple[FoldState, str]


@dataclass(frozen=True, slots=True)
class FoldStatus:
    """A fold's state with its reason, and the files that it follows from."""

    files: FoldFiles
    state: FoldState
    reason: str = ""

    @property
    def ref(self) -> FoldRef:
        return self.files.ref

    @property
    def result(self) -> FoldResult | None:
        return self.files.result

    @property
    def final(self) -> FoldResult | None:
        """The result, unless somebody is improving it."""
        return None if self.is_live else self.files.result

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def is_failed(self) -> bool:
        """It will not come to an end by itself."""
        return self.state in STUCK and not self.is_done

    @property
    def is_done(self) -> bool:
        """There is a result, and nobody is improving it."""
        return self.result is not None and self.state in ENDED

    @property
    def elapsed_s(self) -> float | None:
        return self.final.seconds.total if self.final else self.files.scan.seconds or None

    @property
    def proof(self) -> ProofLevel | None:
        """The proof level of its formula; None without one."""
        if self.final is None or self.final.formula is None:
            return None
        return level(self.final.proved, self.files.verification)

    @property
    def lengths(self) -> Sequence[dict[str, Any]]:
        """Of an unfinished fold those on disk so far."""
        return self.final.lengths if self.final else self.files.scan.lengths

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the attempts said, and which files beside the result are not understood."""
        files = self.files
        said = self.final.provenance.get("warnings", ()) if self.final else ()
        if self.final is None and files.attempt is not None:
            said = files.attempt.warnings
        return (*said, *(text for text in files.damage if text not in (*said, self.reason)))


@gc_paused()
def fold_states(folds: Sequence[FoldRef]) -> tuple[list[FoldStatus], list[JobReport]]:
    """The state of every fold; asks schedulers only about folds that their files leave open."""
    content = fold_files.read_all(folds)
    reports = job_reports(content)
    statuses = [classify(fold, report_on(fold, reports)) for fold in content]
    return statuses, list(reports.values())


def job_reports(folds: Iterable[FoldFiles]) -> dict[str, JobReport]:
    """What every scheduler, by its name, says about the jobs that are left open."""
    jobs: dict[str, list[JobRecord]] = {}
    for fold in folds:
        job = fold.job if fold.is_unsettled else None
        if fold.submission is not None and job is not None:
            jobs.setdefault(fold.submission.kind, []).append(job)
    return {kind: _report(kind, records) for kind, records in jobs.items()}


def _report(kind: str, jobs: Sequence[JobRecord]) -> JobReport:
    try:
        return schedulers.named(kind).report(jobs)
    except UserError:  # a scheduler that this machine does not have
        return JobReport(silent=(kind,), queue_answered=False)


def report_on(fold: FoldFiles, reports: Mapping[str, JobReport]) -> JobReport:
    return reports.get(fold.submission.kind if fold.submission else "", JobReport())


def classify(fold: FoldFiles, report: JobReport) -> FoldStatus:
    """The state of one fold, from its files and from what its scheduler reports."""
    cases = _cases(fold, report)
    state, reason = next((state, reason) for applies, state, reason in cases if applies)
    if fold.result is not None and state not in LIVE:
        return FoldStatus(fold, *_with_result(fold.ref, fold.result))
    if fold.damage and state not in LIVE:
        state, reason = FoldState.FAILED, "; ".join(fold.damage)
    else:
        reason = _joined(reason, fold.newer)
    return FoldStatus(fold, state, _joined(reason, _pace(fold), _at_limit(fold, state)))


_GONE = JobStatus(JobState.LOST, "no longer in the queue")
_FAILURES: dict[AttemptEnd | None, str] = {
    AttemptEnd.GAVE_UP: "gave up ",
    AttemptEnd.BAD_INPUT: "bad input: ",
    AttemptEnd.ERROR: "",
}


def _cases(fold: FoldFiles, report: JobReport) -> Iterator[tuple[object, FoldState, str]]:
    """Whether each case applies, its state and its reason; the first that applies decides."""
    submission, attempt, resumes = fold.submission, fold.current, fold.resumes
    yield fold.trouble, FoldState.UNKNOWN, fold.trouble
    if fold.is_open:
        yield True, FoldState.UNKNOWN, _submitted_by(fold.ref)
    if submission is None:
        yield True, *_idle(fold)
        return
    # what the last attempt wrote, or the command that submitted it
    is_new, end = attempt is None, attempt.end if attempt else None
    message = attempt.message if attempt else ""
    yield end in _FAILURES, FoldState.FAILED, f"{_FAILURES.get(end, '')}{message}"
    yield end is AttemptEnd.OUT_OF_MEMORY, FoldState.OUT_OF_MEMORY, message
    yield end is AttemptEnd.NEEDS_RESUME, FoldState.NEEDS_RESUME, message
    yield end is AttemptEnd.FINISHED, *_idle(fold, "its result has been removed")
    if submission.job_id is None and is_new:
        yield _is_recent(submission), FoldState.QUEUED, "being submitted"
        full = job_output.full_disk(fold)
        yield True, *_idle(fold, _joined("the submission was never confirmed", full))
    # what the scheduler says
    known = report.jobs.get(submission.job_id or "") if fold.is_unsettled else None
    job, is_shared = known or _GONE, submission.folds_in_job > 1
    is_cancelled = submission.cancelled_at is not None
    turn = f"waits for its turn in job {submission.job_id}"
    requeued = f"requeued{f' after {end.value}' if end else ''}, {resumes}"
    yield is_new and is_shared and is_cancelled, FoldState.CANCELLED, resumes
    yield is_new and job.is_waiting, FoldState.QUEUED, _joined(job.reason, job.advice)
    yield is_new and is_shared and job.is_live, FoldState.QUEUED, turn
    yield is_new and job.is_live, FoldState.RUNNING, "starts"
    yield job.state is JobState.RUNNING and end is None, FoldState.RUNNING, job.reason
    yield job.is_live, FoldState.QUEUED, _joined(requeued, job.advice)
    # the job is not in the queue, or nobody knows
    is_withdrawn = job.state is JobState.WITHDRAWN
    yield is_withdrawn and end is not None, FoldState.PARTIAL, f"stopped, {resumes}"
    startup_error = job_output.startup_error(fold) if is_new else ""
    yield arrays.OLDER in startup_error, FoldState.NEEDS_RESUME, startup_error
    yield startup_error, FoldState.FAILED, startup_error
    asked = " and ".join((*report.silent, *report.garbled))
    yield known is None and not report.queue_answered, FoldState.UNKNOWN, f"{asked}: no answer"
    yield known is None and report.garbled, FoldState.UNKNOWN, f"{asked}: not understood"
    yield job.state is JobState.UNKNOWN, FoldState.UNKNOWN, job.text
    yield is_cancelled and not is_withdrawn, FoldState.CANCELLED, resumes
    yield job.state is JobState.CANCELLED, FoldState.CANCELLED, resumes
    # the job has recorded no end; what it printed may say why
    is_killed = job.state is JobState.OUT_OF_MEMORY or job_output.tells_of_memory(fold)
    yield is_killed, FoldState.OUT_OF_MEMORY, f"killed for its memory, {resumes}"
    error = job_output.error(fold) if end is None else ""
    is_memory_error = job_output.is_memory_error(error)
    yield is_memory_error, FoldState.OUT_OF_MEMORY, f"{error}, {resumes}"
    yield error, FoldState.FAILED, error
    before = job_output.scheduler_reason(fold) if end is None else ""
    after = job_output.full_disk(fold) if end is None else ""
    yield is_withdrawn, *_idle(fold, _joined(before, job.text, after))
    early = f"{job.text} before it began; see `logs`"
    has_failed = is_new and job.state is JobState.FAILED
    yield has_failed, FoldState.FAILED, _joined(before, early, after)
    yield True, FoldState.LOST, _joined(before, f"{job.text}, {resumes}", after)


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _idle(fold: FoldFiles, text: str = "") -> StateAndReason:
    """Nobody works on the fold."""
    if not fold.has_begun:
        return FoldState.MISSING, text
    return FoldState.PARTIAL, ", ".join(filter(None, (text, fold.resumes)))


def _is_recent(submission: Submission) -> bool:
    return abs(time.time() - submission.submitted_at) < BEING_SUBMITTED_S


def _submitted_by(ref: FoldRef) -> str:
    """Who submits a fold now, or that nobody does any more."""
    owner = study_lock.owner_of(ref.paths.study.lock)
    if owner is not None:
        return f"being submitted by process {owner.pid} on {owner.host}"
    return "sent without an answer; the next -m, resume or cancel finds out"


def _with_result(ref: FoldRef, done: FoldResult) -> StateAndReason:
    if (config := ref.config) is not None:
        digest = ref.data_digest or done.settings.get("data", "")
        wanted = fingerprint.settings_that_matter(config, digest)
        if changed := fingerprint.differences(done.settings, wanted):
            return FoldState.CHANGED, ", ".join(changed)
    return of_result(done)


def of_result(done: FoldResult) -> StateAndReason:
    """What a result amounts to, and why."""
    is_unproved = done.formula is not None and not done.proved
    also = "; the final formula is not proved either" if is_unproved else ""
    fell_back = f"fell back to length {done.length_bound}{also}"
    if done.stop_reason == StopReason.TIMEOUT.value:
        return FoldState.TIMEOUT, f"scan budget spent, {fell_back}"
    if done.stop_reason == StopReason.OUT_OF_MEMORY.value:
        return FoldState.OUT_OF_MEMORY, fell_back
    errors = counted(done.errors or 0, "error")
    if is_unproved and done.final_end == StopReason.OUT_OF_MEMORY.value:
        return FoldState.OUT_OF_MEMORY, f"the final solve ran out of it at {errors}"
    if is_unproved and done.weight_error:
        return FoldState.UNPROVED, f"weights were rounded, so nothing is proved; {errors}"
    if is_unproved:
        are = "is" if done.lower_bound == 1 else "are"
        bound = "" if done.lower_bound is None else f", of which {done.lower_bound} {are} proved"
        return FoldState.UNPROVED, f"final budget spent at {errors}{bound}"
    return FoldState.DONE, done.stop_reason.replace("_", " ")


def _pace(fold: FoldFiles) -> str:
    """`43 % searched, 1 min to 9 min left, unchanged since length 6, 2.1 h of its budget left`."""
    scan, parts = fold.scan, []
    if scan.progress is not None:
        parts.append(how_far(scan.progress, scan.left_s))
    if (since := unchanged_since(scan)) is not None:
        parts.append(f"unchanged since length {since}")
    settings = fold.submission.config if fold.submission else {}
    budget_h = settings.get("scan", {}).get("budget_h")
    if fold.under_way:
        parts.append(fold.under_way)
    is_fit = fold.ref.id.fold == ALL  # whose time is a share of fit.budget_h
    if budget_h is not None and scan.exists and not scan.in_final and not is_fit:
        left_s = max(0.0, float(budget_h) * 3600 - scan.scan_s)
        parts.append(f"{duration(left_s)} of its budget left")
    return ", ".join(parts)


def unchanged_since(scan: ScanFacts) -> int | None:
    """The length that first had the formula of the last one; None where it is that one's own."""
    same = [e["length"] for e in scan.lengths if e["formula"] == scan.lengths[-1]["formula"]]
    return int(same[0]) if len(same) > 1 else None


def _at_limit(fold: FoldFiles, state: FoldState) -> str:
    """Said of a length that no attempt has had time for."""
    attempt, submission = fold.current, fold.submission
    if attempt is None or submission is None or state not in LIVE or not fold.scan.exists:
        return ""
    times = attempts.stuck(attempt)
    hours = submission.config.get("cluster", {}).get("timeout_h")
    if not times or hours is None:
        return ""
    what = "the final formula" if fold.scan.in_final else f"length {fold.scan.length}"
    return (
        f"{what} takes longer than the time limit of {hours:g} h: "
        f"{times} attempts came no further, and its budget ends it"
    )


def check_code(statuses: Sequence[FoldStatus]) -> int:
    """0 when all are done, 2 when some failed, 1 while some are not done."""
    if all(one.is_done for one in statuses):
        return 0
    return 2 if any(one.is_failed for one in statuses) else 1
