"""Determine the state of a fold from its files and from the report of its scheduler."""

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

BEING_SUBMITTED_S = 300.0  # how long a submission may take


class FoldState(Enum):
    """The state of a fold, its colour in the terminal, and its rank among problems (1: first).

    docs/reference/states.md explains each state.
    """

    _value_: str
    colour: str
    rank: int

    def __new__(cls, name: str, colour: str = "", rank: int = 0) -> FoldState:
        state = object.__new__(cls)
        state._value_, state.colour, state.rank = name, colour, rank
        return state

    DONE = "done", "green", 14
    UNPROVED = "unproved", "yellow", 13  # done, but the final formula is not proved optimal
    TIMEOUT = "timeout", "yellow", 11  # done within the scan budget; a larger one resumes it
    OUT_OF_MEMORY = "out of memory", "red", 12  # done within the memory, or killed without a result
    RUNNING = "running", "cyan", 9
    QUEUED = "queued", "blue", 8
    UNKNOWN = "unknown", "magenta", 7  # the scheduler gave no usable answer
    PARTIAL = "partial", "yellow", 6  # begun, and no job works on it
    LOST = "lost", "red", 2  # its job has disappeared without recording an end
    CANCELLED = "cancelled", "yellow", 4
    NEEDS_RESUME = "needs resume", "yellow", 3  # its job of another version computed nothing
    FAILED = "failed", "red", 1
    CHANGED = "changed", "yellow", 10  # the result belongs to other settings or another table
    MISSING = "missing", "dim", 5  # never begun


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
    """The state of a fold with its reason and its files."""

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
        """The result, unless a job is improving it."""
        return None if self.is_live else self.files.result

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def is_failed(self) -> bool:
        """It needs action by the user."""
        return self.state in STUCK and not self.is_done

    @property
    def is_done(self) -> bool:
        """It has a result, and no job is improving it."""
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
        """The finished lengths; of an unfinished fold, those on disk so far."""
        return self.final.lengths if self.final else self.files.scan.lengths

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the attempts, and errors in files other than the result."""
        files = self.files
        recorded = self.final.provenance.get("warnings", ()) if self.final else ()
        if self.final is None and files.attempt is not None:
            recorded = files.attempt.warnings
        known = (*recorded, self.reason)
        return (*recorded, *(text for text in files.damage if text not in known))


@gc_paused()
def fold_states(folds: Sequence[FoldRef]) -> tuple[list[FoldStatus], list[JobReport]]:
    """The state of every fold; queries schedulers only if the files of a fold do not decide."""
    content = fold_files.read_all(folds)
    reports = job_reports(content)
    statuses = [classify(fold, report_on(fold, reports)) for fold in content]
    return statuses, list(reports.values())


def job_reports(folds: Iterable[FoldFiles]) -> dict[str, JobReport]:
    """The report of each scheduler, by name, on jobs whose files do not decide their state."""
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
        return JobReport(unanswered=(kind,), queue_answered=False)


def report_on(fold: FoldFiles, reports: Mapping[str, JobReport]) -> JobReport:
    return reports.get(fold.submission.kind if fold.submission else "", JobReport())


def classify(fold: FoldFiles, report: JobReport) -> FoldStatus:
    """The state of one fold, from its files and the report of its scheduler."""
    cases = _cases(fold, report)
    state, reason = next((state, reason) for applies, state, reason in cases if applies)
    if fold.result is not None and state not in LIVE:
        return FoldStatus(fold, *_with_result(fold.ref, fold.result))
    if fold.damage and state not in LIVE:
        state, reason = FoldState.FAILED, "; ".join(fold.damage)
    else:
        reason = _joined(reason, fold.newer)
    return FoldStatus(fold, state, _joined(reason, _pace(fold), _at_limit(fold, state)))


_NOT_LISTED = JobStatus(JobState.LOST, "no longer in the queue")
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
    # recorded by the last attempt, or by the submitting command
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
    # reported by the scheduler
    known = report.jobs.get(submission.job_id or "") if fold.is_unsettled else None
    job, is_shared = known or _NOT_LISTED, submission.folds_in_job > 1
    is_cancelled = submission.cancelled_at is not None
    turn = f"waits in job {submission.job_id}"
    requeued = f"requeued{f' after {end.value}' if end else ''}, {resumes}"
    yield is_new and is_shared and is_cancelled, FoldState.CANCELLED, resumes
    yield is_new and job.is_waiting, FoldState.QUEUED, _joined(job.reason, job.advice)
    yield is_new and is_shared and job.is_live, FoldState.QUEUED, turn
    yield is_new and job.is_live, FoldState.RUNNING, "starts"
    yield job.state is JobState.RUNNING and end is None, FoldState.RUNNING, job.reason
    yield job.is_live, FoldState.QUEUED, _joined(requeued, job.advice)
    # the job is not in the queue, or its state is unknown
    is_withdrawn = job.state is JobState.WITHDRAWN
    yield is_withdrawn and end is not None, FoldState.PARTIAL, f"stopped, {resumes}"
    startup_error = job_output.startup_error(fold) if is_new else ""
    yield arrays.OLDER in startup_error, FoldState.NEEDS_RESUME, startup_error
    yield startup_error, FoldState.FAILED, startup_error
    commands = " and ".join((*report.unanswered, *report.garbled))
    yield known is None and not report.queue_answered, FoldState.UNKNOWN, f"{commands}: no answer"
    yield known is None and report.garbled, FoldState.UNKNOWN, f"{commands}: no usable answer"
    yield job.state is JobState.UNKNOWN, FoldState.UNKNOWN, job.text
    yield is_cancelled and not is_withdrawn, FoldState.CANCELLED, resumes
    yield job.state is JobState.CANCELLED, FoldState.CANCELLED, resumes
    # the job has recorded no end; its output may contain the reason
    is_killed = job.state is JobState.OUT_OF_MEMORY or job_output.shows_memory_error(fold)
    yield is_killed, FoldState.OUT_OF_MEMORY, f"killed by the memory limit, {resumes}"
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
    """The state of a fold without a job."""
    if not fold.has_begun:
        return FoldState.MISSING, text
    return FoldState.PARTIAL, ", ".join(filter(None, (text, fold.resumes)))


def _is_recent(submission: Submission) -> bool:
    return abs(time.time() - submission.submitted_at) < BEING_SUBMITTED_S


def _submitted_by(ref: FoldRef) -> str:
    """The process that submits a fold now, or that its submission was interrupted."""
    owner = study_lock.owner_of(ref.paths.study.lock)
    if owner is not None:
        return f"being submitted by process {owner.pid} on {owner.host}"
    return "submission not confirmed; the next -m, resume or cancel checks it"


def _with_result(ref: FoldRef, done: FoldResult) -> StateAndReason:
    if (config := ref.config) is not None:
        digest = ref.data_digest or done.settings.get("data", "")
        wanted = fingerprint.settings_that_matter(config, digest)
        if changed := fingerprint.differences(done.settings, wanted):
            return FoldState.CHANGED, ", ".join(changed)
    return of_result(done)


def of_result(done: FoldResult) -> StateAndReason:
    """The state of a fold with this result, and the reason."""
    is_unproved = done.formula is not None and not done.proved
    also = "; the final formula is not proved either" if is_unproved else ""
    fell_back = f"fell back to length {done.length_bound}{also}"
    if done.stop_reason == StopReason.TIMEOUT.value:
        return FoldState.TIMEOUT, f"scan budget spent, {fell_back}"
    if done.stop_reason == StopReason.OUT_OF_MEMORY.value:
        return FoldState.OUT_OF_MEMORY, fell_back
    errors = counted(done.errors or 0, "error")
    if is_unproved and done.final_end == StopReason.OUT_OF_MEMORY.value:
        return FoldState.OUT_OF_MEMORY, f"the final solve ran out of memory at {errors}"
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
    """The shortest length with the formula of the last length; None if no other has it."""
    same = [e["length"] for e in scan.lengths if e["formula"] == scan.lengths[-1]["formula"]]
    return int(same[0]) if len(same) > 1 else None


def _at_limit(fold: FoldFiles, state: FoldState) -> str:
    """A note on a length that takes longer than the time limit of a job."""
    attempt, submission = fold.current, fold.submission
    if attempt is None or submission is None or state not in LIVE or not fold.scan.exists:
        return ""
    times = attempts.stuck(attempt)
    hours = submission.config.get("cluster", {}).get("timeout_h")
    if not times or hours is None:
        return ""
    step = "the final formula" if fold.scan.in_final else f"length {fold.scan.length}"
    return (
        f"{step} takes longer than the time limit of {hours:g} h: "
        f"{times} attempts made no progress, and the budget will end it"
    )


def check_code(statuses: Sequence[FoldStatus]) -> int:
    """0 if all folds are done, 2 if some failed, 1 if some are not done."""
    if all(status.is_done for status in statuses):
        return 0
    return 2 if any(status.is_failed for status in statuses) else 1
