"""A job array on disk: its folds from before a scheduler has it, and what became of it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import Scheduler
from fsm_hpc.cluster.submissions import JobId, Submission
from fsm_hpc.errors import UserError
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.value_types import Moment

FILE, STATE = "array.json", "state.json"
FORMAT = 3
STATE_FORMAT = 3
SENT, SENT_FORMAT = "sent.json", 2  # the state as version 0.2 kept it
CANNOT_BEGIN = "fsm_hpc: the job cannot begin"  # in its output, for `status`
OTHER_BYTES = 2048  # of a member, besides its config and its paths


class ArrayState(Enum):
    """What has become of an array."""

    OPEN = "open"  # nobody knows yet whether the scheduler has it
    SENT = "sent"  # the scheduler has it; perhaps not every fold says so yet
    SETTLED = "settled"  # and every fold says so
    WITHDRAWN = "withdrawn"  # it was refused, or never arrived: its jobs must not run


@dataclass(frozen=True, slots=True)
class JobArray:
    """Folds that are submitted in one piece, and the name by which their jobs are found again."""

    output: Path  # the folder of its script, pickle and output
    name: str  # of its jobs: has a token that no other array has
    members: tuple[tuple[FoldPaths, Submission], ...]
    is_array: bool = True  # several jobs under one id
    tasks: tuple[int, ...] = ()  # how many members share each job; none said: one has each

    @property
    def study(self) -> StudyPaths:
        """The study that it was submitted from, which the command holds."""
        return StudyPaths(self.output.parent.parent)

    @property
    def scheduler(self) -> Scheduler:
        return schedulers.named(self.members[0][1].kind)

    def job_ids(self, job_id: str) -> list[str]:
        """The id of the job of every member."""
        sizes = self.tasks or (1,) * len(self.members)
        ids = [f"{job_id}_{number}" if self.is_array else job_id for number in range(len(sizes))]
        return [one for one, size in zip(ids, sizes, strict=True) for _ in range(size)]

    def task_of(self, job_id: str) -> tuple[tuple[FoldPaths, Submission], ...]:
        """The members that share the job of this id."""
        number = job_id.rpartition("_")[2]
        return self.task(int(number) if self.is_array and number.isdigit() else 0)

    def task(self, number: int) -> tuple[tuple[FoldPaths, Submission], ...]:
        """The members that share a job."""
        sizes = self.tasks or (1,) * len(self.members)
        first = sum(sizes[:number])
        return self.members[first : first + sizes[number]] if number < len(sizes) else ()


def save(array: JobArray) -> None:
    """Write the array down before it is submitted; one that its jobs could not read is refused."""
    members = (
        _MemberRow(_relative(paths.folder, array.output), submission)
        for paths, submission in array.members
    )
    saved = _SavedArray(array.name, array.is_array, tuple(members), array.tasks)
    content = serialization.header(FORMAT) | serialization.plain(saved)
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    if len(text.encode(errors="backslashreplace")) > serialization.MAX_BYTES:
        raise UserError(
            f"{array.output / FILE} would be larger than {serialization.MAX_BYTES:,} bytes, which "
            f"no job reads: submit fewer than {len(array.members)} folds at a time"
        )
    files.write_atomically(array.output / FILE, text)


def most_members(folds: Iterable[tuple[FoldPaths, Config]]) -> int:
    """How many of these folds one file holds so that their jobs can read it."""
    of_each_place = {str(paths.folder.parent): (paths, config) for paths, config in folds}
    return max(1, serialization.MAX_BYTES // max(_bytes(*one) for one in of_each_place.values()))


def _bytes(paths: FoldPaths, config: Config) -> int:
    """More than a member takes in the file, where it is indented less."""
    path_bytes = 12 * len(os.fsencode(paths.folder.absolute()))  # two paths, escaped
    return len(json.dumps(config.to_dict(), indent=8)) + path_bytes + OTHER_BYTES


def _relative(folder: Path, output: Path) -> str:
    return os.path.relpath(folder.absolute(), output.absolute())


@dataclass(frozen=True, slots=True)
class _MemberRow:
    folder: Annotated[str, Meta(pattern=r"^[^\0]+\Z")]  # seen from that of the array
    submission: Submission


@dataclass(frozen=True, slots=True)
class _SavedArray:
    name: str
    is_array: bool
    members: tuple[_MemberRow, ...]
    tasks: tuple[Annotated[int, Meta(ge=1, le=10**6)], ...] = ()


@dataclass(frozen=True, slots=True)
class _StateRow:
    state: ArrayState
    job_id: JobId | None
    at: Moment


@dataclass(frozen=True, slots=True)
class _SentRow:
    fate: ArrayState
    job_id: JobId | None
    at: Moment


def _read_state(output: Path) -> _StateRow | None:
    found = serialization.load(_StateRow, output / STATE, STATE_FORMAT)
    sent = None if found else serialization.load(_SentRow, output / SENT, SENT_FORMAT)
    return _StateRow(sent.fate, sent.job_id, sent.at) if sent else found


def load(output: Path) -> JobArray | None:
    """The array of a folder; None where there is none that can be read."""
    try:
        return read(output)
    except (UnreadableError, OSError) as error:
        if isinstance(error, NewerFormatError):
            raise
        return None


def read(output: Path) -> JobArray:
    """The array of a folder."""
    saved = serialization.load(_SavedArray, output / FILE, FORMAT)
    if saved is None:
        raise UnreadableError(f"{output / FILE} is not there")
    members = tuple((_paths(output, one.folder), one.submission) for one in saved.members)
    if saved.tasks and sum(saved.tasks) != len(members):
        raise UnreadableError(f"{output / FILE}: tasks: expected {len(members)} folds in all")
    return JobArray(output, saved.name, members, saved.is_array, saved.tasks)


def _paths(output: Path, folder: str) -> FoldPaths:
    return FoldPaths(Path(os.path.abspath(output / folder)))  # noqa: PTH100 - without ".."


def end(output: Path, state: ArrayState, job_id: str | None = None) -> None:
    """Say what has become of an array."""
    serialization.write(output / STATE, STATE_FORMAT, _StateRow(state, job_id, time.time()))


def state_of(output: Path) -> tuple[ArrayState, str | None, float]:
    """What has become of an array, the id that its scheduler gave it, and when that was written."""
    try:
        end_ = _read_state(output)
    except (UnreadableError, OSError) as error:
        if isinstance(error, NewerFormatError):
            raise
        end_ = None
    return (ArrayState.OPEN, None, 0.0) if end_ is None else (end_.state, end_.job_id, end_.at)


def unsettled(study: StudyPaths, withdrawn_s: float) -> Iterator[Path]:
    """Arrays to look after: those without an end, and those withdrawn not long ago."""
    for path in sorted(study.submissions.glob(f"*/{FILE}")):
        try:
            state, _, at = state_of(path.parent)
        except NewerFormatError:  # a newer version submits there, and looks after it
            continue
        is_recent = abs(time.time() - at) < withdrawn_s  # of a host whose clock may be ahead
        is_open = state in (ArrayState.OPEN, ArrayState.SENT)
        if is_open or (state is ArrayState.WITHDRAWN and is_recent):
            yield path.parent


def open_folds(study: StudyPaths) -> set[str]:
    """The folders of folds of which nobody knows yet whether a scheduler has them."""
    known = (array for output in unsettled(study, 0) if (array := understood(output)))
    return {str(paths.folder) for array in known for paths, _ in array.members}


def newer(studies: Iterable[StudyPaths]) -> Iterator[str]:
    """What is said of arrays that a newer version wrote, and looks after."""
    for study in studies:
        outputs = sorted(path.parent for path in study.submissions.glob(f"*/{FILE}"))
        reasons = [reason for output in outputs if (reason := _newer(output))]
        if reasons:
            more = f" ({len(reasons)} such job arrays)" if len(reasons) > 1 else ""
            yield f"left alone in {study.submissions}: {reasons[0]}{more}"


def _newer(output: Path) -> str:
    """Why this version does not know what has become of the folds of an array."""
    try:
        if state_of(output)[0] in (ArrayState.OPEN, ArrayState.SENT):
            load(output)
    except NewerFormatError as error:
        return f"{output.name}/{error}"
    return ""


def understood(output: Path) -> JobArray | None:
    """The array of a folder; None also where a newer version wrote it, and looks after it."""
    try:
        return load(output)
    except NewerFormatError:
        return None


def members_here(output: Path) -> tuple[tuple[FoldPaths, Submission], ...]:
    """The folds that the job of this process is for; none where the array was withdrawn.

    What cannot be read does not say so: it is an error.
    """
    end_ = _read_state(output)
    if end_ is not None and end_.state is ArrayState.WITHDRAWN:
        return ()
    array = read(output)
    job = array.scheduler.environment() if array.members else None
    number = job.task if job is not None and array.is_array else 0
    members = array.task(number) if array.members else ()
    if not members:
        raise UnreadableError(f"{output / FILE} has no fold for task {number}")
    return members


@contextmanager
def reason_in_output() -> Iterator[None]:
    """Write why a job ends before it has claimed a fold where `status` looks for it."""
    try:
        yield
    except Exception as error:
        reason = f"{CANNOT_BEGIN}: {str(error) or type(error).__name__}".splitlines()[0]
        print(reason, file=sys.stderr, flush=True)
        raise
