"""Read the files of folds, quickly enough for ten thousand folds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fsm_hpc.cluster import arrays, attempts, generations, submissions
from fsm_hpc.cluster.arrays import ArrayRecords
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.cluster.schedulers.local import HEARTBEAT
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.search.proof import Verification
from fsm_hpc.study import result, scan_file, verification
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.index import ResultIndex
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError

T = TypeVar("T")
_MAY_BE_REQUEUED = (None, AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED, AttemptEnd.STOPPED)


@dataclass(frozen=True, slots=True)
class FoldRef:
    """A fold and its paths; without a config if it is known from its files only."""

    id: FoldId
    paths: FoldPaths
    config: Config | None = None
    data_digest: str | None = None  # of the current table, if it has been read


@dataclass(frozen=True, slots=True)
class FoldFiles:
    """The content of all files of a fold."""

    ref: FoldRef
    result: FoldResult | None = None
    submission: Submission | None = None
    attempt: Attempt | None = None
    scan: ScanFacts = field(default_factory=ScanFacts)
    is_tuning: bool = False  # a baseline has finished trials
    is_open: bool = False  # it is unknown whether the scheduler accepted its job
    damage: tuple[str, ...] = ()  # errors in its files
    newer: str = ""  # files that a newer version wrote
    trouble: str = ""  # why its files could not be read
    under_way: str = ""  # the current fold of the cross-validation of a rule
    outdated: int = 0  # number of renamed files of other rows or settings
    verification: Verification | None = None  # of the result, by the independent checker

    @property
    def job_id(self) -> str | None:
        if self.submission is not None and self.submission.job_id is not None:
            return self.submission.job_id
        if self.attempt is not None:
            return self.attempt.job_id
        ids = self.result.provenance.get("job_ids") if self.result else None
        return ids[-1] if ids else None

    @property
    def generation(self) -> int:
        """The largest generation of its submission, attempt and result."""
        done = self.result.provenance if self.result else {}
        records = (self.submission, self.attempt)
        return max(generations.in_values(done), *(r.generation for r in records if r), 0)

    @property
    def current(self) -> Attempt | None:
        """The attempt of the last submission; None if its job has not begun."""
        if self.attempt is None or self.submission is None:
            return None
        return self.attempt if self.attempt.token == self.submission.token else None

    @property
    def is_unsettled(self) -> bool:
        """The files do not show whether a job works on the fold."""
        if self.submission is None or self.submission.job_id is None:
            return False
        return self.current is None or self.current.end in _MAY_BE_REQUEUED

    @property
    def job(self) -> JobRecord | None:
        """The job of the last submission."""
        submission, attempt = self.submission, self.current
        if submission is None or submission.job_id is None:
            return None
        is_running = attempt is not None and attempt.end is None
        has_stopped = attempt is not None and attempt.end is AttemptEnd.STOPPED
        output = Path(submission.output) if submission.output else None
        return JobRecord(
            submission.job_id,
            output,
            self.ref.id,
            host=attempt.host if attempt else "",
            process=attempt.process if attempt and is_running else submission.process,
            heartbeat=self.ref.paths.attempt if is_running else output and output / HEARTBEAT,
            has_begun=is_running,
            is_stopped=has_stopped or (submission.cancelled_at is not None and not is_running),
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
        return f"resumes at length {self.scan.length}" if self.scan.length else "starts again"


def of_sweep(configs: Sequence[Config]) -> list[FoldRef]:
    """The folds of a sweep."""
    from fsm_hpc.study.fold import fold_paths  # loads numpy, which folds on disk do without

    return [FoldRef(config.id, fold_paths(config), config) for config in configs]


def on_disk(study: Path) -> Iterator[FoldRef]:
    """The folds that a study has begun."""
    for fold, paths in StudyPaths(study).folds_on_disk():
        yield FoldRef(fold, paths)


def read_all(refs: Sequence[FoldRef]) -> list[FoldFiles]:
    """The files of many folds; finished folds come from the index of their study."""
    roots = [ref.paths.study.root for ref in refs]
    studies = {root: _Study(StudyPaths(root)) for root in dict.fromkeys(roots)}
    folds = [_read(ref, studies[root]) for ref, root in zip(refs, roots, strict=True)]
    for study in studies.values():
        study.index.save()
    return folds


class _Study:
    """Files that are read once for all folds of a study."""

    def __init__(self, study: StudyPaths) -> None:
        self.index, self.records = ResultIndex(study), arrays.records(study)


def _read(ref: FoldRef, study: _Study) -> FoldFiles:
    """The files of one fold; an error is its `trouble`, so that other folds are still read."""
    try:
        content = _files(ref, study)
    except OSError as error:
        content = FoldFiles(ref, trouble=str(error))
    if study.records.open_folders:
        folder = os.path.abspath(ref.paths.folder)  # noqa: PTH100 - a Path is slower
        return replace(content, is_open=folder in study.records.open_folders)
    return content


def _files(ref: FoldRef, study: _Study) -> FoldFiles:
    """Only the result if it belongs to the last submission; else all files."""
    paths, known = ref.paths, study.index.get(ref.paths)
    if (
        known is not None
        and known.result.id == ref.id
        and _answers_arrays(known.result, paths, study.records)
    ):
        return FoldFiles(
            ref, known.result, outdated=known.outdated, verification=known.verification
        )
    names = _names_in(paths.folder)
    if names is None:  # a removed folder has no record, although its job may still be queued
        return FoldFiles(ref)
    damage: list[UnreadableError] = []
    done = None
    if FoldPaths.result.name in names:
        done = _understood(lambda: result.read(paths.result, ref.id), damage)
    if done is None or not _is_of_last_submission(done, paths, names, study.records):
        return _with_other_files(ref, done, names, damage, study.records)
    is_checked = FoldPaths.verification.name in names
    outdated, checked = _outdated(names), verification.read(paths, done) if is_checked else None
    study.index.add(paths, done, outdated, checked)
    return FoldFiles(ref, done, outdated=outdated, verification=checked)


def _names_in(folder: Path) -> Set[str] | None:
    """The names of all files in a folder; None if the folder does not exist."""
    try:
        return set(os.listdir(folder))  # noqa: PTH208 - a Path for each is slower
    except (FileNotFoundError, NotADirectoryError):
        return None


def _outdated(names: Iterable[str]) -> int:
    return sum(f".{files.OUTDATED}-" in name for name in names)


def _with_other_files(
    ref: FoldRef,
    done: FoldResult | None,
    names: Set[str],
    damage: list[UnreadableError],
    records: ArrayRecords,
) -> FoldFiles:
    paths = ref.paths

    def content(name: str, read: Callable[[], T | None]) -> T | None:
        return _understood(read, damage) if name in names else None

    submission = content(FoldPaths.submission.name, lambda: submissions.read(paths))
    if not any(error.is_newer for error in damage):
        submission = records.newest(paths, submission)
    attempt = content(FoldPaths.attempt.name, lambda: attempts.read(paths))
    scan = scan_file.facts(content(FoldPaths.scan.name, lambda: scan_file.read(paths.scan)))
    # a fold without a record may be listed in an array that cannot be read
    is_unknown = submission is None and done is None and not damage
    errors = [*damage, *(records.errors if is_unknown else ())]
    return FoldFiles(
        ref,
        done,
        submission,
        attempt,
        scan,
        is_tuning=FoldPaths.trials.name in names,
        damage=tuple(map(str, damage)),
        newer="; ".join(str(error) for error in errors if error.is_newer),
        trouble="; ".join(str(e) for e in errors if is_unknown and not e.is_newer),
        outdated=_outdated(names),
        verification=None if done is None else verification.read(paths, done),
        under_way=_cross_validation(paths, submission) if scan.in_final else "",
    )


def _cross_validation(paths: FoldPaths, submission: Submission | None) -> str:
    """`cross-validation fold 3 of 10`, once the fold `all` has its formula; else empty."""
    folds = list(paths.cross_validation.folds_on_disk()) if submission else []
    if submission is None or not folds:
        return ""
    wanted = submission.config.get("fit", {}).get("folds", len(folds))
    done = sum(own.result.exists() for _, own in folds)
    return f"cross-validation fold {min(done + 1, wanted)} of {wanted}"


def newer_files(ref: FoldRef) -> str:
    """Files of a fold that a newer version wrote; this version must not replace them."""
    damage: list[UnreadableError] = []
    done = _understood(lambda: result.read(ref.paths.result, ref.id), damage)
    names = _names_in(ref.paths.folder) or set()
    return _with_other_files(ref, done, names, damage, ArrayRecords()).newer


def _understood(read: Callable[[], T | None], damage: list[UnreadableError]) -> T | None:
    """The content of a file; None if it cannot be read, with the error in `damage`."""
    try:
        return read()
    except UnreadableError as error:
        damage.append(error)
        return None


def _is_of_last_submission(
    done: FoldResult, paths: FoldPaths, names: Set[str], records: ArrayRecords
) -> bool:
    is_stored = FoldPaths.submission.name in names
    if "generation" not in done.provenance:  # of an older version, or of no job
        return _answers_arrays(done, paths, records) and not is_stored
    last = generations.in_file(paths.submission) if is_stored else 0
    is_last = last is not None and last <= generations.in_values(done.provenance)
    return is_last and _answers_arrays(done, paths, records)


def _answers_arrays(done: FoldResult, paths: FoldPaths, records: ArrayRecords) -> bool:
    """Whether no array has submitted the fold again since this result."""
    listed = records.newest(paths, None)
    if listed is None or "generation" not in done.provenance:
        return listed is None
    return listed.generation <= generations.in_values(done.provenance)
