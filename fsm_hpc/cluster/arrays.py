"""A job array on disk: what its folds share, a line for each of them, and what became of it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import Scheduler
from fsm_hpc.cluster.submissions import FoldsInJob, JobId, Submission
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.value_types import Moment

FILE, FOLDS = "array.json", "folds.jsonl"
FORMAT = FOLDS_FORMAT = 3
CANNOT_BEGIN = "fsm_hpc: the job cannot begin"  # in its output, for `status`
OLDER = "of an older version of fsm_hpc"
LATE_S = 3600.0  # how long after a refusal jobs of it are still looked for
Member = tuple[FoldPaths, Submission]


class OlderFormatError(UnreadableError):
    """An array that version 0.2 wrote."""


class ArrayState(Enum):
    """What has become of an array."""

    OPEN = "open"  # nobody knows yet whether the scheduler has it
    SENT = "sent"  # the scheduler has it; perhaps not every fold says so yet
    SETTLED = "settled"  # and every fold says so
    WITHDRAWN = "withdrawn"  # it was refused, or never arrived: its jobs must not run


@dataclass(frozen=True, slots=True)
class JobArray:
    """Folds that are submitted in one piece, and the name by which their jobs are found again."""

    name: str  # of its jobs: has a token that no other array has
    first: Submission  # of the first fold; the line of each says how it differs
    count: Annotated[int, Meta(ge=1, le=10**7)]  # of folds
    width: Annotated[int, Meta(ge=1, le=2**20)]  # of a line, in bytes
    is_array: bool = True  # several jobs under one id
    tasks: tuple[FoldsInJob, ...] = ()  # how many folds share each job; none said: one has each
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
        return [one for one, size in zip(ids, sizes, strict=True) for _ in range(size)]

    def members(self) -> list[Member]:
        """All folds."""
        return self._read_lines(range(self.count))

    def members_of_task(self, number: int) -> list[Member]:
        """The folds that share a job; nothing else is read."""
        sizes = self.tasks or (1,) * self.count
        first = sum(sizes[:number])
        lines = range(first, first + sum(sizes[number : number + 1]))
        if not lines:
            raise UnreadableError(f"{self.output / FILE} has no fold for task {number}")
        return self._read_lines(lines)

    def members_of_job(self, job_id: str) -> list[Member]:
        """The folds that share the job of this id."""
        number = job_id.rpartition("_")[2]
        return self.members_of_task(int(number) if self.is_array and number.isdigit() else 0)

    def _read_lines(self, lines: range) -> list[Member]:
        width, path = self.width, self.output / FOLDS
        content = files.read_part(path, lines.start * width, len(lines) * width)
        if len(content) != len(lines) * width:
            raise UnreadableError(f"{path}: expected {self.count} lines of {width} bytes")
        return [self._member(content[n * width : (n + 1) * width]) for n in range(len(lines))]

    def _member(self, line: bytes) -> Member:
        row = serialization.convert(_FoldLine, serialization.parse(line, FOLDS), FOLDS)
        folder = os.path.abspath(self.output / row.folder)  # noqa: PTH100 - without ".."
        config = self.first.config | row.config
        own = replace(self.first, config=config, table=row.table, folds_in_job=row.folds_in_job)
        return FoldPaths(Path(folder)), own


@dataclass(frozen=True, slots=True)
class _FoldLine:
    folder: Annotated[str, Meta(pattern=r"^[^\0]+\Z")]  # seen from that of the array
    config: dict[str, Any]  # what differs from the first fold
    table: str | None = None
    folds_in_job: FoldsInJob = 1


def save(members: Sequence[Member], name: str, is_array: bool, tasks: Sequence[int]) -> JobArray:
    """Write an array down before it is submitted."""
    first = members[0][1]
    lines = [_line(paths, submission, first) for paths, submission in members]
    width = 1 + max(map(len, lines))
    content = b"".join(line.ljust(width - 1) + b"\n" for line in lines)
    files.write_atomically(Path(first.output, FOLDS), content)
    is_packed = any(size > 1 for size in tasks)
    array = JobArray(name, first, len(lines), width, is_array, tuple(tasks) if is_packed else ())
    return with_state(array, ArrayState.OPEN)


def _line(paths: FoldPaths, submission: Submission, first: Submission) -> bytes:
    """One fold, of which a job reads nothing but its own."""
    folder = os.path.relpath(paths.folder.absolute(), Path(first.output).absolute())
    config = {k: v for k, v in submission.config.items() if v != first.config[k]}
    row = {"folder": folder, "config": config, "table": submission.table}
    text = json.dumps(row | {"folds_in_job": submission.folds_in_job}, ensure_ascii=False)
    return text.encode(errors="backslashreplace")


def with_state(array: JobArray, state: ArrayState, job_id: str | None = None) -> JobArray:
    """Write down what has become of an array."""
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
        raise OlderFormatError(f"{FILE} is {OLDER}; `resume` submits its folds anew")
    content = serialization.without_header(saved, FILE, FORMAT)
    array = serialization.convert(JobArray, content, FILE)
    if array.tasks and sum(array.tasks) != array.count:
        raise UnreadableError(f"{path}: tasks: expected {array.count} folds in all")
    here = str(output.absolute())  # also where the study was moved
    return replace(array, first=replace(array.first, output=here))


def unsettled(study: StudyPaths) -> tuple[list[tuple[JobArray, list[Member]]], list[str]]:
    """Arrays to look after, without an end or withdrawn not long ago, and why others are not."""
    found, unreadable = [], []
    for path in sorted(study.submissions.glob(f"*/{FILE}")):
        try:
            array = read(path.parent)
            is_recent = abs(time.time() - array.at) < LATE_S  # of a host whose clock may be ahead
            if array.is_open or (array.state is ArrayState.WITHDRAWN and is_recent):
                found.append((array, array.members()))
        except OlderFormatError:
            pass  # the submission.json of its folds say all of its jobs
        except NewerFormatError as error:
            unreadable.append(f"left alone: {path.parent}/{error}")
        except (UnreadableError, OSError) as error:
            advice = "its jobs cannot begin, and the folder may be removed"
            unreadable.append(f"{path.parent}: {error}; {advice}")
    return found, unreadable


def unreadable(studies: Iterable[StudyPaths]) -> Iterator[str]:
    """What is said of arrays that this version does not look after."""
    return (text for study in studies for text in unsettled(study)[1])


def open_folds(study: StudyPaths) -> set[str]:
    """The folders of folds of which nobody knows yet whether a scheduler has them."""
    known = (members for array, members in unsettled(study)[0] if array.is_open)
    return {str(paths.folder) for members in known for paths, _ in members}


def members_here(output: Path) -> list[Member]:
    """The folds that the job of this process is for; none where the array was withdrawn.

    What cannot be read does not say so: it is an error.
    """
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
