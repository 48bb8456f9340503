"""Read what a fold has left on disk, quickly enough for ten thousand of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fsm_hpc.cluster import arrays, attempts, generations, schedulers, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.schedulers.base import SETUP_FAILED, JobRecord, JobReport
from fsm_hpc.cluster.schedulers.local import HEARTBEAT
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.errors import UserError
from fsm_hpc.study import result, scan_file
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.index import ResultIndex
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError

T = TypeVar("T")
OUTPUT_BYTES = 32_000  # of a job's output, at its end: a traceback follows the reason


@dataclass(frozen=True, slots=True)
class FoldRef:
    """A fold to look at; without a config where it is known from its files only."""

    id: FoldId
    paths: FoldPaths
    config: Config | None = None
    data_digest: str | None = None  # of the table as it is now, where somebody has read it


@dataclass(frozen=True, slots=True)
class FoldFiles:
    """All that the files of a fold say."""

    ref: FoldRef
    result: FoldResult | None = None
    submission: Submission | None = None
    attempt: Attempt | None = None
    scan: ScanFacts = field(default_factory=ScanFacts)
    is_tuning: bool = False  # a baseline has finished trials
    is_open: bool = False  # nobody knows whether its scheduler has its job
    damage: tuple[str, ...] = ()  # why some of its files are not understood
    is_newer: bool = False  # one of them is of a newer version
    trouble: str = ""  # why its files could not be read
    under_way: str = ""  # the fold of a rule that is found already
    outdated: int = 0  # files of other rows or settings that are kept beside

    @property
    def job_id(self) -> str | None:
        if self.submission is not None and self.submission.job_id is not None:
            return self.submission.job_id
        if self.attempt is not None:
            return self.attempt.job_id
        ids = self.result.provenance.get("job_ids") if self.result else None
        return ids[-1] if ids else None

    @property
    def is_unsettled(self) -> bool:
        """The files leave open whether somebody works on the fold."""
        submission, attempt = self.submission, self.attempt
        if submission is None or submission.job_id is None:
            return False
        if attempt is None or attempt.token != submission.token or attempt.end is None:
            return True
        return attempt.end in (AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED, AttemptEnd.STOPPED)

    @property
    def job(self) -> JobRecord | None:
        """The job that the fold was handed over as."""
        submission, attempt = self.submission, self.attempt
        if submission is None or submission.job_id is None:
            return None
        has_begun = attempt is not None and attempt.token == submission.token
        is_own = attempt is not None and has_begun and attempt.end is None
        has_stopped = attempt is not None and has_begun and attempt.end is AttemptEnd.STOPPED
        is_stopped = has_stopped or (submission.cancelled_at is not None and not is_own)
        output = Path(submission.output) if submission.output else None
        waiting = output / HEARTBEAT if output else None
        return JobRecord(
            submission.job_id,
            output,
            self.ref.paths.folder,
            self.ref.id,
            host=attempt.host if attempt else "",
            process=attempt.process if attempt and is_own else submission.process,
            heartbeat=self.ref.paths.attempt if is_own else waiting,
            has_begun=is_own,
            is_stopped=is_stopped,
        )

    @property
    def has_begun(self) -> bool:
        return self.scan.exists or self.is_tuning

    @property
    def resumes(self) -> str:
        if self.under_way:
            return f"resumes at {self.under_way}"
        if self.scan.in_final:
            return "resumes at the final formula"
        if self.is_tuning:
            return "resumes with its finished trials"
        return f"resumes at length {self.scan.length}" if self.scan.length else "starts anew"


def of_sweep(configs: Sequence[Config]) -> list[FoldRef]:
    """The folds of a sweep."""
    from fsm_hpc.study.fold import fold_paths  # loads numpy, which folds on disk do without

    return [FoldRef(config.id, fold_paths(config), config) for config in configs]


def on_disk(study: Path) -> Iterator[FoldRef]:
    """The folds that a study has begun."""
    for fold, paths in StudyPaths(study).folds_on_disk():
        yield FoldRef(fold, paths)


def rules_on_disk(study: Path) -> Iterator[FoldRef]:
    """The rules that a study was asked for."""
    for rule, paths in StudyPaths(study).rules_on_disk():
        yield FoldRef(rule, paths)


def read_all(refs: Sequence[FoldRef]) -> list[FoldFiles]:
    """Of many folds; what the indexes of their studies have is not read again."""
    indexes: dict[Path, ResultIndex] = {}
    found = []
    for ref in refs:
        study = ref.paths.study
        if study.root not in indexes:
            indexes[study.root] = ResultIndex(study)
        found.append(read(ref, indexes[study.root]))
    for index in indexes.values():
        index.save()
    return found


def read(ref: FoldRef, index: ResultIndex | None = None) -> FoldFiles:
    """Read the files of a fold; one that cannot be read is told, and does not hide the others."""
    try:
        return _read(ref, index)
    except OSError as error:
        return FoldFiles(ref, trouble=str(error))


def _read(ref: FoldRef, index: ResultIndex | None) -> FoldFiles:
    """A result of the last submission says it all."""
    paths = ref.paths
    known = None if index is None else index.get(paths)
    if known is not None and known[0].id == ref.id:
        return FoldFiles(ref, known[0], outdated=known[1])
    damage: list[UnreadableError] = []
    done = _understood(lambda: result.read(paths.result, ref.id), damage)
    outdated = len(files.outdated_names(paths.folder))
    if done is not None and _is_of_last_submission(done, paths):
        if index is not None:
            index.add(paths, done, outdated)
        return FoldFiles(ref, done, outdated=outdated)
    return replace(_with_other_files(ref, done, damage), outdated=outdated)


def newer_files(ref: FoldRef) -> str:
    """Which files of a fold a newer version wrote: this one must not replace them."""
    damage: list[UnreadableError] = []
    _understood(lambda: result.read(ref.paths.result, ref.id), damage)
    _with_other_files(ref, None, damage)
    return "; ".join(str(error) for error in damage if error.is_newer)


def _with_other_files(
    ref: FoldRef, done: FoldResult | None, damage: list[UnreadableError]
) -> FoldFiles:
    paths = ref.paths
    return FoldFiles(
        ref,
        done,
        _understood(lambda: submissions.read(paths), damage),
        _understood(lambda: attempts.read(paths), damage),
        scan_file.facts(_understood(lambda: scan_file.read(paths.scan), damage)),
        is_tuning=paths.trials.exists(),
        damage=tuple(map(str, damage)),
        is_newer=any(error.is_newer for error in damage),
    )


def _understood(read: Callable[[], T | None], damage: list[UnreadableError]) -> T | None:
    """What is in a file, or None and why what is there is not understood."""
    try:
        return read()
    except UnreadableError as error:
        damage.append(error)
        return None


def _is_of_last_submission(done: FoldResult, paths: FoldPaths) -> bool:
    if "generation" not in done.provenance:  # of an older version, or of no job
        return not paths.submission.exists()
    last = generations.in_file(paths.submission)
    return last is not None and last <= generations.in_values(done.provenance)


def ask(found: Iterable[FoldFiles]) -> dict[str, JobReport]:
    """What every scheduler says about the jobs that are left open."""
    jobs: dict[str, list[JobRecord]] = {}
    for one in found:
        if one.submission is not None and one.is_unsettled and one.job is not None:
            jobs.setdefault(one.submission.kind, []).append(one.job)
    return {kind: _report(kind, records) for kind, records in jobs.items()}


def _report(kind: str, jobs: Sequence[JobRecord]) -> JobReport:
    try:
        return schedulers.named(kind).report(jobs)
    except UserError:  # a scheduler that this machine does not have
        return JobReport(silent=(kind,), queue_answered=False)


def report_on(found: FoldFiles, reports: Mapping[str, JobReport]) -> JobReport:
    kind = found.submission.kind if found.submission else ""
    return reports.get(kind, JobReport())


def job_outputs(found: FoldFiles) -> list[Path]:
    """What the job of a fold printed."""
    job, submission = found.job, found.submission
    if job is None or submission is None:
        return []
    return schedulers.named(submission.kind).outputs(job)


def reason_not_to_begin(found: FoldFiles) -> str:
    """What a job wrote that ended before it claimed its fold: a setup line of the user's failed,
    or something could not be read; else nothing."""
    for path in job_outputs(found):
        for line in files.read_end(path, OUTPUT_BYTES).decode(errors="replace").splitlines():
            if line.startswith((SETUP_FAILED, arrays.CANNOT_BEGIN)):
                return line.removeprefix("fsm_hpc: ")
    return ""


def output_tells_of_memory(found: FoldFiles) -> bool:
    """Whether the output says that the last attempt was killed for its memory."""
    submission, attempt = found.submission, found.attempt
    if submission is None or attempt is None or attempt.token != submission.token:
        return False
    complaint = schedulers.named(submission.kind).memory_complaint
    return any(complaint.search(files.read_end(path, 4000)) for path in job_outputs(found))
