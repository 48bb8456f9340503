"""Read what a fold has left on disk, quickly enough for ten thousand of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fsm_hpc.cluster import arrays, attempts, generations, submissions
from fsm_hpc.cluster.attempts import Attempt, AttemptEnd
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study import result, scan_file
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import FoldResult
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system import files, heartbeat, process_identity
from fsm_hpc.system.files import UnreadableError

T = TypeVar("T")
SILENT_S = 300.0  # without a sign of life from another PID namespace: whoever it was is gone
CONFIRM_S = 6.0  # of watching, before a sign that is that old is believed to be the last
OUTPUT_BYTES = 32_000  # of a job's output, at its end: a traceback follows the reason
SETUP_FAILED = "fsm_hpc: a setup line failed"  # written by the job's script
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
    is_open: bool = False  # nobody knows whether SLURM has its job
    damage: tuple[str, ...] = ()  # why some of its files are not understood
    is_newer: bool = False  # one of them is of a newer version
    trouble: str = ""  # why its files could not be read
    under_way: str = ""  # the fold of a rule that is found already
    is_silent: bool | None = None  # no sign of life for long; None: it cannot be told

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


def gather(ref: FoldRef) -> Evidence:
    """Read the files of a fold; one that cannot be read is told, and does not hide the others."""
    try:
        return _gather(ref)
    except OSError as error:
        return Evidence(ref, trouble=str(error))


def _gather(ref: FoldRef) -> Evidence:
    """A result of the last submission says it all."""
    paths = ref.paths
    damage: list[UnreadableError] = []
    done = _understood(lambda: result.read(paths.result, ref.id), damage)
    if done is not None and _is_of_last_submission(done, paths):
        return Evidence(ref, done)
    return _with_other_files(ref, done, damage)


def newer_files(ref: FoldRef) -> str:
    """Which files of a fold a newer version wrote: this one must not replace them."""
    damage: list[UnreadableError] = []
    _understood(lambda: result.read(ref.paths.result, ref.id), damage)
    _with_other_files(ref, None, damage)
    return "; ".join(str(error) for error in damage if error.is_newer)


def _with_other_files(
    ref: FoldRef, done: FoldResult | None, damage: list[UnreadableError]
) -> Evidence:
    paths = ref.paths
    return Evidence(
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


def job_outputs(submission: Submission) -> list[Path]:
    """What SLURM and submitit wrote for a job."""
    if submission.is_local or submission.job_id is None:
        return []
    return sorted(Path(submission.output).glob(f"{submission.job_id}_*_log.*"))


def reason_not_to_begin(submission: Submission) -> str:
    """What a job wrote that ended before it claimed its fold: a setup line of the user's failed,
    or something could not be read; else nothing."""
    for path in job_outputs(submission):
        for line in files.read_end(path, OUTPUT_BYTES).decode(errors="replace").splitlines():
            if line.startswith((SETUP_FAILED, arrays.CANNOT_BEGIN)):
                return line.removeprefix("fsm_hpc: ")
    return ""


def output_tells_of_memory(found: Evidence) -> bool:
    """Whether SLURM wrote that it killed the last attempt for its memory; works without sacct."""
    submission, attempt = found.submission, found.attempt
    if submission is None or attempt is None or attempt.token != submission.token:
        return False
    tails = [files.read_end(path, 4000) for path in job_outputs(submission)]
    return any(word in tail for word in MEMORY_WORDS for tail in tails)


def is_waiting(found: Evidence, submission: Submission) -> bool:
    """Whether the command that is to start a local fold runs."""
    running = process_identity.is_running(submission.process)
    return found.is_silent is False if running is None else running


def is_alive(attempt: Attempt) -> bool | None:
    """Whether its process runs; None where it cannot be seen from here."""
    return process_identity.is_running(attempt.process)


def local_process(found: Evidence, attempt: Attempt) -> tuple[bool | None, str]:
    """Whether the process of a local attempt runs, None where nobody can say, and a reason."""
    running = is_alive(attempt)
    if running is not None:
        return running, "" if running else f"process {attempt.pid} is gone"
    if found.is_silent:
        return False, f"no sign of life from {attempt.host}, {found.resumes}"
    if found.is_silent is False and attempt.process:
        return True, f"on {attempt.host}"
    return None, f"runs on {attempt.host}, if it still does"


def with_heartbeats(found: Sequence[Evidence]) -> list[Evidence]:
    """Of local folds whose processes cannot be seen from here: whether their heartbeats stopped."""
    files_ = [_heartbeat(one) for one in found]
    silent = heartbeat.silent({path for path in files_ if path}, SILENT_S, CONFIRM_S)
    return [
        one if path is None else replace(one, is_silent=silent[path])
        for one, path in zip(found, files_, strict=True)
    ]


def _heartbeat(found: Evidence) -> Path | None:
    submission, attempt, paths = found.submission, found.attempt, found.ref.paths
    if submission is None or not submission.is_local:
        return None
    if attempt is not None and attempt.token == submission.token:
        return paths.attempt if attempt.end is None and is_alive(attempt) is None else None
    is_hidden = process_identity.is_running(submission.process) is None
    return paths.study.root / submission.heartbeat if is_hidden and submission.heartbeat else None
