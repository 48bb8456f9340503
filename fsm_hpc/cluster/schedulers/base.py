"""What a scheduler does for this program: one contract, one module for each scheduler."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from fsm_hpc.study.config import Config
from fsm_hpc.study.fold_id import FoldId

SETUP_FAILED = "fsm_hpc: a setup line failed"  # in a job's output, written by its script
UNLIMITED = 10**9  # of a site that sets no limit


class UnclearError(Exception):
    """A scheduler gave no answer that says whether it has the jobs."""


class JobState(Enum):
    """What a scheduler knows of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    OUT_OF_MEMORY = "out of memory"
    LOST = "lost"  # with its node, or preempted
    FAILED = "failed"
    WITHDRAWN = "withdrawn"  # nobody will start it (again)
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JobStatus:
    """What a scheduler says about a job; a hint, as files decide."""

    state: JobState
    text: str = ""  # the same in the scheduler's own words
    reason: str = ""  # why it waits
    node: str = ""
    advice: str = ""  # what makes a held job start

    @property
    def is_waiting(self) -> bool:
        return self.state is JobState.WAITING

    @property
    def is_live(self) -> bool:
        return self.state in (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class JobReport:
    """A scheduler's answers by job id, and its commands that gave none."""

    jobs: dict[str, JobStatus] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    garbled: tuple[str, ...] = ()  # those whose answer is not understood
    queue_answered: bool = True  # only then a job that is not listed has left the queue


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the files of its fold describe it."""

    id: str
    output: Path | None = None  # the folder of its script and output
    fold: FoldId | None = None
    host: str = ""
    process: str = ""  # identity of the process that runs it, or that is to start it
    heartbeat: Path | None = None  # a file that this process touches
    has_begun: bool = False
    is_stopped: bool = False  # at the wish of its user: it does not start again


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs of one size that run the same function, one for each task of an array."""

    config: Config
    output: Path  # the folder of script and output
    name: str  # by which the jobs are found again
    task: Callable[..., Any]
    arguments: tuple[Any, ...]
    count: int | None = None  # of an array; None: a single job
    at_a_time: int = 1
    after: tuple[str, ...] = ()  # jobs that have to end before


@dataclass(frozen=True, slots=True)
class JobEnvironment:
    """The job that this process is in."""

    job_id: str
    restart: int = 0  # how often the job was started before
    task: int = 0  # its number in the array
    cores: int | None = None  # that the scheduler gives to this process; None: it does not say
    rank: int = 0  # of this process among those that the job starts on its nodes
    tasks: int = 1  # how many these are
    step: str = "0"  # which start of processes in the job this is
    address: str = ""  # of the node that started it


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """What a site allows."""

    max_array_size: int = UNLIMITED
    max_parallel: int = UNLIMITED
    starts_quickly: bool = False  # a job costs little more than what it runs


class Grade(Enum):
    """How a check went."""

    OK = "ok"
    WARNING = "warning"  # jobs run, but something is missing
    FAILED = "failed"  # jobs would be lost


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`."""

    name: str
    grade: Grade
    text: str


class Scheduler(Protocol):
    """Runs jobs; tests/cluster/schedulers has the contract."""

    name: str  # of its module, and of its file in conf/cluster
    title: str  # in messages
    ends_with_command: bool = False  # its jobs run only while the command that submitted them does
    has_time_limit: bool = True
    settle_s: float = 0.0  # how long a job may look ended before it is queued again
    complaint: re.Pattern[str] = re.compile(r"(?!)")  # a line that says why it ended a job: group 1
    memory_complaint: re.Pattern[bytes] = re.compile(rb"(?!)")  # output that tells of memory

    def is_available(self) -> bool:
        """Whether jobs can be submitted from this machine."""
        ...

    def adapted(self, config: Config) -> Config:
        """The config with what a job is given here."""
        return config

    def submit(self, batch: Batch, before: Callable[[], None] = lambda: None) -> str:
        """Hand jobs over; the id of the array, or of the one job. `before` is called at the last
        moment, and raises where they must not be handed over any more."""
        ...

    def report(self, jobs: Collection[JobRecord]) -> JobReport:
        """What has become of these jobs."""
        ...

    def find(self, names: Collection[str]) -> dict[str, str] | None:
        """The ids of jobs with these names, of an array that of the array; None: nobody knows."""
        ...

    def cancel(self, jobs: Sequence[JobRecord]) -> dict[str, str]:
        """End jobs; the ids of those that may not have ended, and why."""
        ...

    def requeue(self, job_id: str) -> bool:
        """Put the job of this process back into the queue."""
        ...

    def warn(self, job_id: str) -> bool:
        """Send a job the signal that comes before its time limit."""
        ...

    def environment(self) -> JobEnvironment | None:
        """The job of this scheduler that this process is in; None outside of any."""
        ...

    def limits(self, config: Config) -> SiteLimits:
        """What the site allows for jobs of this config."""
        ...

    def checks(self, config: Config) -> Iterator[Check]:
        """What `doctor` tells of the site."""
        ...

    def outputs(self, job: JobRecord) -> list[Path]:
        """The files with what a job printed."""
        ...

    def usage(self, job_ids: Collection[str]) -> dict[str, tuple[float, float]] | None:
        """Core-seconds set aside for each job and used by it; None where that is not counted."""
        return None

    def is_working(self) -> bool:
        """Whether jobs of this command are left that end with it."""
        return False

    def close(self) -> None:
        """The command ends: jobs that run only with it save their state and stop."""
