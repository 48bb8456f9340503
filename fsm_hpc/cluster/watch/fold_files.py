"""Read what a fold has left on disk, quickly enough for ten thousand of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fsm_hpc.cluster import arrays, attempts, generations, submissions
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
    newer: str = ""  # which of them a newer version wrote
    trouble: str = ""  # why its files could not be read
    under_way: str = ""  # the fold that judges a rule which is found already
    outdated: int = 0  # files of other rows or settings that are kept beside
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
    def current(self) -> Attempt | None:
        """The attempt of the last submission; None where no job of it has begun."""
        if self.attempt is None or self.submission is None:
            return None
        return self.attempt if self.attempt.token == self.submission.token else None

    @property
    def is_unsettled(self) -> bool:
        """The files leave open whether somebody works on the fold."""
        if self.submission is None or self.submission.job_id is None:
            return False
        return self.current is None or self.current.end in _MAY_BE_REQUEUED

    @property
    def job(self) -> JobRecord | None:
        """The job that the fold was handed over as."""
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
        return f"resumes at length {self.scan.length}" if self.scan.length else "starts anew"


def of_sweep(configs: Sequence[Config]) -> list[FoldRef]:
    """The folds of a sweep."""
    from fsm_hpc.study.fold import fold_paths  # loads numpy, which folds on disk do without

    return [FoldRef(config.id, fold_paths(config), config) for config in configs]


def on_disk(study: Path) -> Iterator[FoldRef]:
    """The folds that a study has begun."""
    for fold, paths in StudyPaths(study).folds_on_disk():
        yield FoldRef(fold, paths)


def read_all(refs: Sequence[FoldRef]) -> list[FoldFiles]:
    """Of many folds; what the indexes of their studies have is not read again."""
    studies = {ref.paths.study.root: ref.paths.study for ref in refs}
    indexes = {root: ResultIndex(study) for root, study in studies.items()}
    open_folders = set().union(*map(arrays.open_folds, studies.values()))
    found = [_read(ref, indexes[ref.paths.study.root]) for ref in refs]
    for index in indexes.values():
        index.save()
    return [_with_open(one, open_folders) for one in found] if open_folders else found


def _with_open(found: FoldFiles, open_folders: Set[str]) -> FoldFiles:
    """Mark a fold of an array that is being submitted, or was when its command was ended."""
    folder = os.path.abspath(found.ref.paths.folder)  # noqa: PTH100
    return replace(found, is_open=folder in open_folders)


def _read(ref: FoldRef, index: ResultIndex) -> FoldFiles:
    """What cannot be read is told, and does not hide the other folds."""
    try:
        return _files(ref, index)
    except OSError as error:
        return FoldFiles(ref, trouble=str(error))


def _files(ref: FoldRef, index: ResultIndex) -> FoldFiles:
    """A result of the last submission says it all."""
    paths, known = ref.paths, index.get(ref.paths)
    if known is not None and known.result.id == ref.id:
        return FoldFiles(
            ref, known.result, outdated=known.outdated, verification=known.verification
        )
    damage: list[UnreadableError] = []
    done = _understood(lambda: result.read(paths.result, ref.id), damage)
    if done is None or not _is_of_last_submission(done, paths):
        return _with_other_files(ref, done, damage)
    outdated, checked = len(files.outdated_names(paths.folder)), verification.read(paths, done)
    index.add(paths, done, outdated, checked)
    return FoldFiles(ref, done, outdated=outdated, verification=checked)


def _with_other_files(
    ref: FoldRef, done: FoldResult | None, damage: list[UnreadableError]
) -> FoldFiles:
    paths = ref.paths
    submission = _understood(lambda: submissions.read(paths), damage)
    attempt = _understood(lambda: attempts.read(paths), damage)
    scan = scan_file.facts(_understood(lambda: scan_file.read(paths.scan), damage))
    return FoldFiles(
        ref,
        done,
        submission,
        attempt,
        scan,
        is_tuning=paths.trials.exists(),
        damage=tuple(map(str, damage)),
        newer="; ".join(str(error) for error in damage if error.is_newer),
        outdated=len(files.outdated_names(paths.folder)),
        verification=None if done is None else verification.read(paths, done),
        under_way=_cross_validation(paths, submission) if scan.in_final else "",
    )


def _cross_validation(paths: FoldPaths, submission: Submission | None) -> str:
    """`fold 3 of 10`, once the fold `all` has its formula and its folds have begun."""
    folds = list(paths.cross_validation.folds_on_disk()) if submission else []
    if submission is None or not folds:
        return ""
    wanted = submission.config.get("fit", {}).get("folds", len(folds))
    done = sum(own.result.exists() for _, own in folds)
    return f"cross-validation fold {min(done + 1, wanted)} of {wanted}"


def newer_files(ref: FoldRef) -> str:
    """Which files of a fold a newer version wrote: this one must not replace them."""
    damage: list[UnreadableError] = []
    done = _understood(lambda: result.read(ref.paths.result, ref.id), damage)
    return _with_other_files(ref, done, damage).newer


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
