"""The one state of a fold, from its files and from what its scheduler says, for every verb."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fsm_hpc.cluster import arrays
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.schedulers.base import JobRecord, JobReport, JobState, JobStatus
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.cluster.watch import fold_files, pace, reasons, under_way
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef
from fsm_hpc.cluster.watch.fold_state import ENDED as ENDED
from fsm_hpc.cluster.watch.fold_state import LIVE as LIVE
from fsm_hpc.cluster.watch.fold_state import STUCK as STUCK
from fsm_hpc.cluster.watch.fold_state import FoldState as FoldState
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.study import fingerprint
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.machine import gc_paused
from fsm_hpc.system.numbers import counted

BEING_SUBMITTED_S = 300.0  # how long a scheduler may take to answer


class Status(ABC):
    """What the state of a fold, or of a rule, means for whoever waits for it."""

    __slots__ = ()
    state: FoldState

    @property
    @abstractmethod
    def is_done(self) -> bool: ...

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def is_failed(self) -> bool:
        """It will not come to an end by itself."""
        return self.state in STUCK and not self.is_done


@dataclass(frozen=True, slots=True)
class FoldStatus(Status):
    """A fold's state with its reason, and what `status` shows beside it."""

    ref: FoldRef
    state: FoldState
    reason: str = ""
    result: FoldResult | None = None
    length: int | None = None
    best_validation: float | None = None
    elapsed_s: float | None = None
    progress: float | None = None  # share of the length under way that is searched
    left_s: float | None = None  # about how long it takes on
    unchanged_since: int | None = None  # the length that first had the best formula
    job_id: str | None = None
    warnings: tuple[str, ...] = ()
    lengths: Sequence[dict[str, Any]] = ()  # of an unfinished fold those on disk so far
    outdated: int = 0  # files of other rows or settings that are kept beside
    is_newer: bool = False  # a newer version wrote it, so that it is not this one's to change
    submission: Submission | None = None  # the last one, of a fold without a result
    job: JobRecord | None = None  # that it was handed over as

    @property
    def test_accuracy(self) -> float | None:
        return self.result.accuracy.test if self.result and not self.is_live else None

    @property
    def balanced_accuracy(self) -> float | None:
        return self.result.confusion.balanced_accuracy if self.result and not self.is_live else None

    @property
    def majority(self) -> float | None:
        return self.result.confusion.majority if self.result and not self.is_live else None

    @property
    def is_done(self) -> bool:
        """There is a result, and nobody is improving it."""
        return self.result is not None and self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        fold = self.ref.id
        return {
            "dataset": fold.dataset,
            "method": fold.method,
            "variant": fold.variant,
            "fold": fold.fold,
            "state": self.state.value,
            "reason": self.reason,
            "done": self.is_done,
            "failed": self.is_failed,
            "length": self.length,
            "best_validation": self.best_validation,
            "measure": self.result.measure if self.result else None,
            "test_accuracy": self.test_accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "majority": self.majority,
            "elapsed_s": self.elapsed_s,
            "progress": self.progress,
            "left_s": self.left_s,
            "unchanged_since": self.unchanged_since,
            "job_id": self.job_id,
            "warnings": list(self.warnings),
            "folder": str(self.ref.paths.folder),
        }


def fold_states(folds: Sequence[FoldRef]) -> tuple[list[FoldStatus], list[JobReport]]:
    """The state of every fold; asks schedulers only about folds that their files leave open."""
    with gc_paused():
        found = under_way.with_open_arrays(fold_files.read_all(folds))
    reports = fold_files.ask(found)
    return [classify(e, fold_files.report_on(e, reports)) for e in found], list(reports.values())


def classify(found: FoldFiles, report: JobReport) -> FoldStatus:
    """The state of one fold."""
    if found.trouble:
        return FoldStatus(found.ref, FoldState.UNKNOWN, found.trouble)
    if found.is_open:
        return FoldStatus(
            found.ref,
            FoldState.UNKNOWN,
            under_way.by_whom(found.ref),
            result=found.result,
            submission=found.submission,
            job=found.job,
        )
    status = report.jobs.get(found.job.id) if found.job and found.is_unsettled else None
    state, reason = reasons.explained(found, *_without_result(found, status, report))
    if found.result is not None and state not in LIVE:
        return _with_result(found, found.result)
    warnings = found.attempt.warnings if found.attempt else ()
    if found.damage and state not in LIVE:
        state, reason = FoldState.FAILED, "; ".join(found.damage)
    else:
        reason = "; ".join(filter(None, (reason, *(found.damage if found.is_newer else ()))))
        warnings = _warnings(found, warnings)
    scan = found.scan
    return FoldStatus(
        found.ref,
        state,
        "; ".join(filter(None, (reason, *_on_the_way(found, state)))),
        result=found.result,
        length=scan.length,
        best_validation=scan.best_validation,
        elapsed_s=scan.seconds if scan.seconds else None,
        progress=scan.progress,
        left_s=scan.left_s,
        unchanged_since=pace.unchanged_since(scan),
        job_id=found.job_id,
        warnings=warnings,
        lengths=scan.lengths,
        outdated=found.outdated,
        is_newer=found.is_newer,
        submission=found.submission,
        job=found.job,
    )


def _on_the_way(found: FoldFiles, state: FoldState) -> Iterator[str]:
    """What a fold without a result tells of itself."""
    yield pace.told(found)
    if state in LIVE:
        yield under_way.longer_than_the_limit(found)


def _with_result(found: FoldFiles, done: FoldResult) -> FoldStatus:
    state, reason = of_result(done)
    if (config := found.ref.config) is not None:
        digest = found.ref.data_digest or done.settings.get("data", "")
        changed = fingerprint.differences(
            done.settings, fingerprint.settings_that_matter(config, digest)
        )
        if changed:
            state, reason = FoldState.CHANGED, ", ".join(changed)
    return FoldStatus(
        found.ref,
        state,
        reason,
        result=done,
        length=done.length_bound,
        best_validation=done.accuracy.validation,
        elapsed_s=done.seconds.total,
        job_id=found.job_id,
        warnings=_warnings(found, done.provenance.get("warnings", ())),
        lengths=done.lengths,
        outdated=found.outdated,
        is_newer=found.is_newer,
    )


def _warnings(found: FoldFiles, told: Iterable[str]) -> tuple[str, ...]:
    """What the attempts said, and which files beside the result are not understood."""
    return (*told, *(text for text in found.damage if text not in told))


def of_result(done: FoldResult) -> tuple[FoldState, str]:
    """What a result amounts to, and why."""
    is_unproved = done.formula is not None and not done.proved
    also = "; the final formula is not proved either" if is_unproved else ""
    if done.stop_reason == StopReason.TIMEOUT.value:
        return (
            FoldState.TIMEOUT,
            f"scan budget spent, fell back to length {done.length_bound}{also}",
        )
    if done.stop_reason == StopReason.OUT_OF_MEMORY.value:
        return FoldState.OUT_OF_MEMORY, f"fell back to length {done.length_bound}{also}"
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


def _without_result(
    found: FoldFiles, status: JobStatus | None, report: JobReport
) -> tuple[FoldState, str]:
    submission, attempt = found.submission, found.attempt
    if submission is None:
        return (FoldState.PARTIAL, found.resumes) if found.has_begun else (FoldState.MISSING, "")
    if attempt is None or attempt.token != submission.token:
        return _not_begun(found, submission, status, report)
    if attempt.end is None:
        return _open(found, status, report)
    return _ended(found, attempt, status, report)


def _not_begun(
    found: FoldFiles, submission: Submission, status: JobStatus | None, report: JobReport
) -> tuple[FoldState, str]:
    if submission.job_id is None:
        if abs(time.time() - submission.submitted_at) < BEING_SUBMITTED_S:
            return FoldState.QUEUED, "being submitted"
        return _or_partial(found, FoldState.MISSING, "the submission was never confirmed")
    shares_job = submission.folds_in_job > 1
    if shares_job and submission.cancelled_at is not None:
        return FoldState.CANCELLED, found.resumes
    if status is not None and status.is_live:
        if not status.is_waiting and shares_job:
            return FoldState.QUEUED, f"waits for its turn in job {submission.job_id}"
        if not status.is_waiting:
            return FoldState.RUNNING, "starts"
        return FoldState.QUEUED, "; ".join(filter(None, (status.reason, status.advice)))
    if status is not None and status.state is JobState.WITHDRAWN:
        return _or_partial(found, FoldState.MISSING, status.text)
    line = fold_files.reason_not_to_begin(found)
    if line:
        is_older = arrays.OLDER in line
        return FoldState.NEEDS_RESUME if is_older else FoldState.FAILED, line
    if status is not None and status.state in (JobState.FAILED, JobState.OUT_OF_MEMORY):
        return FoldState.FAILED, f"{status.text} before it began; see `logs`"
    return _gone(found, status, report)


def _open(found: FoldFiles, status: JobStatus | None, report: JobReport) -> tuple[FoldState, str]:
    if status is None or not status.is_live:
        return _gone(found, status, report)
    if status.is_waiting:
        return FoldState.QUEUED, _waits(f"requeued, {found.resumes}", status)
    return FoldState.RUNNING, status.reason


_FAILURES = {
    AttemptEnd.GAVE_UP: "gave up",
    AttemptEnd.BAD_INPUT: "bad input:",
    AttemptEnd.ERROR: "",
}


def _ended(
    found: FoldFiles, attempt: Attempt, status: JobStatus | None, report: JobReport
) -> tuple[FoldState, str]:
    if attempt.end in _FAILURES:
        return FoldState.FAILED, f"{_FAILURES[attempt.end]} {attempt.message}".strip()
    if attempt.end is AttemptEnd.NEEDS_RESUME:
        return FoldState.NEEDS_RESUME, attempt.message
    if attempt.end is AttemptEnd.OUT_OF_MEMORY:
        return FoldState.OUT_OF_MEMORY, attempt.message
    if attempt.end is AttemptEnd.FINISHED:
        return _or_partial(found, FoldState.MISSING, "its result has been removed")
    if status is not None and status.state is JobState.WITHDRAWN:
        return FoldState.PARTIAL, f"stopped, {found.resumes}"
    if status is not None and status.is_live:
        cause = attempt.end.value if attempt.end else ""
        return FoldState.QUEUED, _waits(f"requeued after {cause}, {found.resumes}", status)
    return _gone(found, status, report)


def _waits(text: str, status: JobStatus) -> str:
    """A held job does not start by itself."""
    return "; ".join(filter(None, (text, status.advice)))


def _gone(found: FoldFiles, status: JobStatus | None, report: JobReport) -> tuple[FoldState, str]:
    """The job is not in the queue, or nobody knows."""
    if status is None and not report.queue_answered:
        return FoldState.UNKNOWN, f"{' and '.join((*report.silent, *report.garbled))}: no answer"
    if status is None and report.garbled:
        return FoldState.UNKNOWN, f"{' and '.join(report.garbled)}: not understood"
    state = JobState.LOST if status is None else status.state
    if state is JobState.UNKNOWN and status is not None:
        return FoldState.UNKNOWN, status.text
    if found.submission is not None and found.submission.cancelled_at is not None:
        return FoldState.CANCELLED, found.resumes
    is_cancelled = state is JobState.CANCELLED
    if state is JobState.OUT_OF_MEMORY or (
        not is_cancelled and fold_files.output_tells_of_memory(found)
    ):
        return FoldState.OUT_OF_MEMORY, f"killed for its memory, {found.resumes}"
    if is_cancelled:
        return FoldState.CANCELLED, found.resumes
    text = "no longer in the queue" if status is None else status.text
    return FoldState.LOST, f"{text}, {found.resumes}"


def _or_partial(found: FoldFiles, state: FoldState, reason: str) -> tuple[FoldState, str]:
    return (FoldState.PARTIAL, f"{reason}, {found.resumes}") if found.has_begun else (state, reason)


def check_code(statuses: Sequence[Status]) -> int:
    """0 when all are done, 2 when some failed, 1 while some are not done."""
    if all(one.is_done for one in statuses):
        return 0
    return 2 if any(one.is_failed for one in statuses) else 1
