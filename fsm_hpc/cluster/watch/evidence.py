"""Read what a fold has left on disk, quickly enough for ten thousand of them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fsm_hpc.cluster import attempts, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study import result, scan_file
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import FoldResult, UnreadableError
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system import machine

SILENT_S = 300.0  # without a sign of life from another machine, ten times as long as it takes
MEMORY_WORDS = (b"oom-kill event", b"Out Of Memory", b"Exceeded job memory limit", b"oom_kill")


@dataclass(frozen=True, slots=True)
class FoldRef:
    """A fold to look at; without a config where it is known from its files only."""

    id: FoldId
    paths: FoldPaths
    config: Config | None = None
    data_digest: str | None = None  # of the table as it is now, where somebody has read it


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the files of a fold say."""

    ref: FoldRef
    result: FoldResult | None = None
    submission: Submission | None = None
    attempt: Attempt | None = None
    scan: ScanFacts = field(default_factory=ScanFacts)
    is_tuning: bool = False  # a baseline has finished trials
    damage: str = ""  # why its result is not understood
    trouble: str = ""  # why its files could not be read

    @property
    def job_id(self) -> str | None:
        if self.submission is not None and self.submission.job_id is not None:
            return self.submission.job_id
        if self.attempt is not None:
            return self.attempt.job_id
        ids = self.result.provenance.get("job_ids") if self.result else None
        return ids[-1] if ids else None

    @property
    def needs_slurm(self) -> bool:
        """The files leave open whether somebody works on the fold."""
        submission, attempt = self.submission, self.attempt
        if submission is None or submission.is_local:
            return False
        if attempt is None or attempt.token != submission.token or attempt.end is None:
            return True
        return attempt.end in (AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED, AttemptEnd.STOPPED)

    @property
    def has_begun(self) -> bool:
        return self.scan.exists or self.is_tuning

    @property
    def resumes(self) -> str:
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


def gather(ref: FoldRef) -> Evidence:
    """Read the files of a fold; one that cannot be read is told, and does not hide the others."""
    try:
        return _gather(ref)
    except OSError as error:
        return Evidence(ref, trouble=str(error))


def _gather(ref: FoldRef) -> Evidence:
    """A result that is newer than the last submission says it all."""
    paths = ref.paths
    done, damage = _result(ref)
    if done is not None and not _is_newer(paths.submission, paths.result):
        return Evidence(ref, done)
    return Evidence(
        ref,
        done,
        submissions.load(paths),
        attempts.load(paths),
        scan_file.facts(paths.scan),
        is_tuning=paths.trials.exists(),
        damage=damage,
    )


def _result(ref: FoldRef) -> tuple[FoldResult | None, str]:
    """The result of this fold, or why what is there is not one."""
    try:
        done = result.read(ref.paths.result)
    except UnreadableError as error:
        return None, str(error)
    if done is not None and done.id != ref.id:
        return None, f"its result.json is of {done.id}"
    return done, ""


def _is_newer(path: Path, than: Path) -> bool:
    try:
        return os.stat(path).st_mtime_ns > os.stat(than).st_mtime_ns  # noqa: PTH116 - quick
    except FileNotFoundError:
        return False


def job_outputs(submission: Submission) -> list[Path]:
    """What SLURM and submitit wrote for a job."""
    if submission.is_local or submission.job_id is None:
        return []
    return sorted(Path(submission.output).glob(f"{submission.job_id}_*_log.*"))


def output_tells_of_memory(found: Evidence) -> bool:
    """Whether SLURM wrote that it killed the last attempt for its memory; works without sacct."""
    submission, attempt = found.submission, found.attempt
    if submission is None or attempt is None or attempt.token != submission.token:
        return False
    tails = [path.read_bytes()[-4000:] for path in job_outputs(submission)]
    return any(word in tail for word in MEMORY_WORDS for tail in tails)


def runs_here(submission: Submission) -> bool:
    """Whether the command that started local folds still runs: its id is local/HOST/PID."""
    _, host, pid = [*(submission.job_id or "").split("/"), "", ""][:3]
    is_here = host == platform.node() and pid.isdigit()
    return is_here and machine.is_running(int(pid), submission.submitted_at)


def is_here(attempt: Attempt) -> bool:
    return attempt.host == platform.node()


def is_alive(attempt: Attempt) -> bool:
    """Whether its process runs on this machine."""
    return is_here(attempt) and machine.is_running(attempt.pid, attempt.started_at)


def is_silent(ref: FoldRef) -> bool:
    """Whether a fold of another machine has shown no sign of life for so long that it must be over.

    Whoever works on a fold without SLURM touches its attempt every half minute.
    """
    try:
        return time.time() - ref.paths.attempt.stat().st_mtime > SILENT_S
    except FileNotFoundError:
        return False
