"""A job array on disk: what its folds share, a line for each of them, and its state."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from fsm_hpc.cluster import cancellations, schedulers, submissions
from fsm_hpc.cluster.schedulers.base import Scheduler
from fsm_hpc.cluster.submissions import FoldsInJob, JobId, Submission
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.value_types import Moment

FILE, FOLDS = "array.json", "folds.jsonl"
FORMAT = 3
CANNOT_BEGIN = "fsm_hpc: the job cannot begin"  # in its output, for `status`
OLDER = "of an older version of fsm_hpc"
LATE_S = 3600.0  # how long after a refusal jobs of it are still looked for
T = TypeVar("T")
Member = tuple[FoldPaths, Submission]


class OlderFormatError(UnreadableError):
    """An array that version 0.2 wrote."""


class ArrayState(Enum):
    """Whether a scheduler has an array."""

    OPEN = "open"  # not known yet
    SENT = "sent"  # it has; earlier records of its folds may not be replaced yet
    SETTLED = "settled"  # it has, and no fold has an earlier record
    WITHDRAWN = "withdrawn"  # it was refused, or never arrived: its jobs must not run


@dataclass(frozen=True, slots=True)
class JobArray:
    """Folds that are submitted together, and the name by which their jobs are found again."""

    name: str  # of its jobs: has a token that no other array has
    first: Submission  # of the first fold; the line of each fold has the differences
    count: Annotated[int, Meta(ge=1, le=10**7)]  # of folds
    width: Annotated[int, Meta(ge=1, le=2**20)]  # of a line, in bytes
    is_array: bool = True  # several jobs under one id
    tasks: tuple[FoldsInJob, ...] = ()  # the number of folds of each job; empty: one fold each
    state: ArrayState = ArrayState.OPEN
    job_id: JobId | None = None
    at: Moment = 0.0  # when the state was written

    @property
    def output(self) -> Path:
        """The folder of its script, pickle and output."""
        return Path(self.first.output)

    @property
    def study(self) -> StudyPaths:
        """The study that it was submitted from, which the command holds."""
        return StudyPaths(self.output.parent.parent)

    @property
    def scheduler(self) -> Scheduler:
        return schedulers.named(self.first.kind)

    @property
    def is_open(self) -> bool:
        return self.state in (ArrayState.OPEN, ArrayState.SENT)

    def job_ids(self, job_id: str) -> list[str]:
        """The id of the job of every fold."""
        sizes = self.tasks or (1,) * self.count
        ids = [f"{job_id}_{number}" if self.is_array else job_id for number in range(len(sizes))]
        return [task_id for task_id, size in zip(ids, sizes, strict=True) for _ in range(size)]

    def members(self) -> list[Member]:
        """All folds."""
        return self._members(range(self.count))

    def by_folder(self) -> dict[str, Submission]:
        """The submission of every fold by its absolute folder."""
        return dict(self._read_lines(range(self.count)))

    def members_of_task(self, number: int) -> list[Member]:
        """The folds that share a job; nothing else is read."""
        sizes = self.tasks or (1,) * self.count
        first = sum(sizes[:number])
        lines = range(first, first + sum(sizes[number : number + 1]))
        if not lines:
            raise UnreadableError(f"{self.output / FILE} has no fold for task {number}")
        return self._members(lines)

    def members_of_job(self, job_id: str) -> list[Member]:
        """The folds that share the job of this id."""
        number = job_id.rpartition("_")[2]
        return self.members_of_task(int(number) if self.is_array and number.isdigit() else 0)

    def _members(self, lines: range) -> list[Member]:
        return [(FoldPaths(Path(folder)), own) for folder, own in self._read_lines(lines)]

    def _read_lines(self, lines: range) -> Iterator[tuple[str, Submission]]:
        width, path = self.width, self.output / FOLDS
        content = files.read_part(path, lines.start * width, len(lines) * width)
        if len(content) != len(lines) * width:
            raise UnreadableError(f"{path}: expected {self.count} lines of {width} bytes")
        job_ids = self.job_ids(self.job_id) if self.job_id else [None] * self.count
        cancelled = cancellations.load(self.output)
        for n, number in enumerate(lines):
            yield self._fold(content[n * width : (n + 1) * width], job_ids[number], cancelled)

    def _fold(
        self, line: bytes, job_id: str | None, cancelled: Mapping[str, Moment]
    ) -> tuple[str, Submission]:
        row = serialization.convert(_FoldLine, serialization.parse(line, FOLDS), FOLDS)
        folder = os.path.abspath(f"{self.first.output}/{row.folder}")  # noqa: PTH100 - without ".."
        submission = replace(
            self.first,
            config=self.first.config | row.config,
            table=row.table,
            folds_in_job=row.folds_in_job,
            job_id=job_id,
            cancelled_at=cancelled.get(row.folder),
        )
        return folder, submission


@dataclass(frozen=True, slots=True)
class _FoldLine:
    folder: Annotated[str, Meta(pattern=r"^[^\0]+\Z")]  # relative to that of the array
    config: dict[str, Any]  # the differences from the first fold
    table: str | None = None
    folds_in_job: FoldsInJob = 1


def save(members: Sequence[Member], name: str, is_array: bool, tasks: Sequence[int]) -> JobArray:
    """Write an array before it is submitted."""
    first = members[0][1]
    lines = [_line(paths, submission, first) for paths, submission in members]
    width = 1 + max(map(len, lines))
    content = b"".join(line.ljust(width - 1) + b"\n" for line in lines)
    files.write_atomically(Path(first.output, FOLDS), content)
    is_packed = any(size > 1 for size in tasks)
    array = JobArray(name, first, len(lines), width, is_array, tuple(tasks) if is_packed else ())
    return with_state(array, ArrayState.OPEN)


def _line(paths: FoldPaths, submission: Submission, first: Submission) -> bytes:
    """One fold; a job reads the lines of its own folds only."""
    folder = cancellations.folder_in_array(paths.folder, Path(first.output))
    config = {k: v for k, v in submission.config.items() if v != first.config[k]}
    row = {"folder": folder, "config": config, "table": submission.table}
    text = json.dumps(row | {"folds_in_job": submission.folds_in_job}, ensure_ascii=False)
    return text.encode(errors="backslashreplace")


def with_state(array: JobArray, state: ArrayState, job_id: str | None = None) -> JobArray:
    """Write the state of an array."""
    array = replace(array, state=state, job_id=job_id, at=time.time())
    serialization.write(array.output / FILE, FORMAT, array)
    return array


def read(output: Path) -> JobArray:
    """The array of a folder."""
    path = output / FILE
    saved = serialization.read(path)
    if saved is None:
        raise UnreadableError(f"{path} is not there")
    number = saved.get("format", serialization.FIRST_FORMAT)
    if type(number) is int and serialization.FIRST_FORMAT <= number < FORMAT:
        raise OlderFormatError(f"{FILE} is {OLDER}; `resume` submits its folds again")
    content = serialization.without_header(saved, FILE, FORMAT)
    array = serialization.convert(JobArray, content, FILE)
    if array.tasks and sum(array.tasks) != array.count:
        raise UnreadableError(f"{path}: tasks: expected {array.count} folds in all")
    here = str(output.absolute())  # also where the study was moved
    return replace(array, first=replace(array.first, output=here))


def unsettled(study: StudyPaths) -> tuple[list[tuple[JobArray, list[Member]]], list[str]]:
    """The arrays that `recover` has to settle, and messages about unreadable ones."""
    content, errors = _read_all(study, _is_unsettled, JobArray.members)
    return content, list(map(str, errors))


def _is_unsettled(array: JobArray) -> bool:
    """Open, or withdrawn so recently that its jobs may still arrive."""
    is_recent = abs(time.time() - array.at) < LATE_S  # of a host whose clock may be ahead
    return array.is_open or (array.state is ArrayState.WITHDRAWN and is_recent)


def _read_all(
    study: StudyPaths, is_needed: Callable[[JobArray], bool], folds: Callable[[JobArray], T]
) -> tuple[list[tuple[JobArray, T]], list[UnreadableError]]:
    """Some arrays of a study with their folds, and the errors of unreadable ones."""
    readable: list[tuple[JobArray, T]] = []
    errors: list[UnreadableError] = []
    for output in _outputs(study):
        try:
            array = read(output)
            if is_needed(array):
                readable.append((array, folds(array)))
        except OlderFormatError:
            pass  # its folds have a submission.json
        except NewerFormatError as error:
            errors.append(NewerFormatError(f"skipped: {output}/{error}"))
        except (UnreadableError, OSError) as error:
            advice = "its jobs cannot start; the folder can be removed"
            errors.append(UnreadableError(f"{output}: {error}; {advice}"))
    return readable, errors


def _outputs(study: StudyPaths) -> Iterator[Path]:
    """The folders of arrays, and of those that have lost their file.

    A folder with nothing but lines of folds was left before anything was submitted.
    """
    for output in sorted(study.submissions.glob("*")):
        if (output / FILE).exists() or (
            (output / FOLDS).exists() and len(list(output.glob("[!.]*"))) > 1
        ):
            yield output


@dataclass(slots=True)
class ArrayRecords:
    """What the arrays of a study state about its folds, by the absolute folder of each fold."""

    submissions: dict[str, Submission] = field(default_factory=dict)  # the newest of each fold
    open_folders: set[str] = field(default_factory=set)  # whether a scheduler has it is not known
    errors: list[UnreadableError] = field(default_factory=list)  # of arrays that are not read

    def newest(self, paths: FoldPaths, stored: Submission | None) -> Submission | None:
        """The last submission of a fold; `stored`: that of its submission.json."""
        folder = os.path.abspath(paths.folder)  # noqa: PTH100 - a Path is slower
        listed = self.submissions.get(folder)
        if listed is None or (stored is not None and stored.generation >= listed.generation):
            return stored
        return listed


def records(study: StudyPaths, before: float = math.inf) -> ArrayRecords:
    """What all arrays of a study state; a few files, however many folds there are.

    `before`: only arrays of smaller generations.
    """

    def is_needed(array: JobArray) -> bool:
        return array.state is not ArrayState.WITHDRAWN and array.first.generation < before

    readable, errors = _read_all(study, is_needed, JobArray.by_folder)
    content = ArrayRecords(errors=errors)
    for array, folds in sorted(readable, key=lambda item: item[0].first.generation):
        if array.is_open:
            content.open_folders |= folds.keys()
        if array.state is not ArrayState.OPEN:
            content.submissions |= folds
    return content


def unreadable(studies: Iterable[StudyPaths]) -> Iterator[str]:
    """Messages about arrays that this version cannot read."""
    return (text for study in studies for text in unsettled(study)[1])


def last_submission(paths: FoldPaths) -> Submission | None:
    """The last submission of one fold; None where there is none, or it is damaged."""
    return records(paths.study).newest(paths, submissions.load(paths))


def folds_of_this_job(output: Path) -> list[Member]:
    """The folds that the job of this process is for; none where the array was withdrawn."""
    array = read(output)
    if array.state is ArrayState.WITHDRAWN:
        return []
    job = array.scheduler.environment()
    return array.members_of_task(job.task if job is not None and array.is_array else 0)


@contextmanager
def reason_in_output() -> Iterator[None]:
    """Write why a job ends before it has claimed a fold where `status` looks for it."""
    try:
        yield
    except Exception as error:
        reason = f"{CANNOT_BEGIN}: {str(error) or type(error).__name__}".splitlines()[0]
        print(reason, file=sys.stderr, flush=True)
        raise
