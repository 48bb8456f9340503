"""Read what a fold has left on disk, quickly enough for ten thousand of them."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import records
from fsm_hpc.cluster.records import Attempt, Submission
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, machine

SILENT_S = 300.0  # without a sign of life from another machine, ten times as long as it takes
MEMORY_WORDS = (b"oom-kill event", b"Out Of Memory", b"Exceeded job memory limit", b"oom_kill")


@dataclass(frozen=True, slots=True)
class Target:
    """A fold to look at; without a config where it is known from its files only."""

    dataset: str
    method: str
    fold: int
    paths: FoldPaths
    config: Config | None = None
    data_digest: str | None = None  # of the table as it is now, where somebody has read it

    @property
    def name(self) -> str:
        return f"{self.dataset}/{self.method}/fold-{self.fold}"


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """How far the scan on disk has come."""

    exists: bool = False
    length: int | None = None  # under way
    best_validation: float | None = None
    seconds: float = 0.0
    in_final: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the files of a fold say."""

    target: Target
    result: dict[str, Any] | None = None
    submission: Submission | None = None
    attempt: Attempt | None = None
    scan: ScanFacts = field(default_factory=ScanFacts)
    trouble: str = ""  # why the files could not be read

    @property
    def job_id(self) -> str | None:
        if self.submission is not None and self.submission.job_id is not None:
            return self.submission.job_id
        if self.attempt is not None:
            return self.attempt.job_id
        ids = self.result.get("provenance", {}).get("job_ids") if self.result else None
        return ids[-1] if ids else None

    @property
    def needs_slurm(self) -> bool:
        """The files leave open whether somebody works on the fold."""
        submission, attempt = self.submission, self.attempt
        if submission is None or submission.kind == "local":
            return False
        if attempt is None or attempt.token != submission.token or attempt.end is None:
            return True
        return attempt.end in (records.End.TIMEOUT, records.End.PREEMPTED, records.End.STOPPED)

    @property
    def resumes(self) -> str:
        if self.scan.in_final:
            return "resumes at the final formula"
        return f"resumes at length {self.scan.length}" if self.scan.length else "starts anew"


def of_jobs(jobs: Sequence[Config]) -> list[Target]:
    """The folds of a sweep."""
    from fsm_hpc.study.job import fold_paths

    return [
        Target(job.dataset.name, job.method.name.value, job.fold, fold_paths(job), job)
        for job in jobs
    ]


def on_disk(study: Path) -> Iterator[Target]:
    """The folds that a study has begun."""
    for dataset, method, fold, paths in StudyPaths(study).folds_on_disk():
        yield Target(dataset, method, fold, paths)


def gather(target: Target) -> Evidence:
    """Read the files of a fold; one that cannot be read is told, and does not hide the others."""
    try:
        return _gather(target)
    except OSError as error:
        return Evidence(target, trouble=str(error))


def _gather(target: Target) -> Evidence:
    """A result that is newer than the last submission says it all."""
    paths = target.paths
    done = _complete(files.read_json(paths.result))
    if done is not None and not _is_newer(paths.submission, paths.result):
        return Evidence(target, done)
    submission, attempt = records.load_submission(paths), records.load_attempt(paths)
    return Evidence(target, done, submission, attempt, read_scan(paths))


def _is_newer(path: Path, than: Path) -> bool:
    try:
        return os.stat(path).st_mtime_ns > os.stat(than).st_mtime_ns  # noqa: PTH116 - quick
    except FileNotFoundError:
        return False


def read_scan(paths: FoldPaths) -> ScanFacts:
    """The length under way, the best validation accuracy so far, and the seconds spent."""
    saved = files.read_json(paths.scan)
    if saved is None:
        return ScanFacts()
    try:
        lengths = saved["lengths"]
        final, under_way = saved["final"], saved["under_way"]
        return ScanFacts(
            exists=True,
            length=_length(lengths, final, under_way),
            best_validation=max((e["validation_accuracy"] for e in lengths), default=None),
            seconds=saved["scan_s"] + (final["seconds"] if final else 0.0),
            in_final=final is not None or saved["stop_reason"] is not None,
        )
    except (KeyError, TypeError):  # written by another version: it starts anew
        return ScanFacts()


def _length(lengths: list[Any], final: Any, under_way: Any) -> int:
    current = final or under_way
    if current:
        return int(current["length"])
    return int(lengths[-1]["length"]) + 1 if lengths else 1


def _complete(done: dict[str, Any] | None) -> dict[str, Any] | None:
    known = done is not None and {"settings", "accuracy", "seconds"} <= done.keys()
    return done if known else None


def job_outputs(submission: Submission) -> list[Path]:
    """What SLURM and submitit wrote for a job."""
    if submission.kind != "slurm" or submission.job_id is None:
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


def is_silent(target: Target) -> bool:
    """Whether a fold of another machine has shown no sign of life for so long that it must be over.

    Whoever works on a fold without SLURM touches its attempt every half minute.
    """
    try:
        return time.time() - target.paths.attempt.stat().st_mtime > SILENT_S
    except FileNotFoundError:
        return False
