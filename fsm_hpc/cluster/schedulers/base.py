"""The interface of a scheduler, which one module implements for each scheduler."""

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
UNLIMITED = 10**9  # the value of a limit that the site does not set


class UnclearError(Exception):
    """It is unknown whether the scheduler accepted the jobs."""


class JobState(Enum):
    """The state of a job in the scheduler."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    OUT_OF_MEMORY = "out of memory"
    LOST = "lost"  # its node failed, or it was preempted
    FAILED = "failed"
    WITHDRAWN = "withdrawn"  # no process will start it again
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a job in the scheduler; the files of its fold take precedence."""

    state: JobState
    text: str = ""  # the state as the scheduler prints it
    reason: str = ""  # why the job is waiting
    node: str = ""
    advice: str = ""  # how to start a held job

    @property
    def is_waiting(self) -> bool:
        return self.state is JobState.WAITING

    @property
    def is_live(self) -> bool:
        return self.state in (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class JobReport:
    """The status of each job by its id, and the commands that gave no usable answer."""

    jobs: dict[str, JobStatus] = field(default_factory=dict)
    unanswered: tuple[str, ...] = ()  # commands without an answer
    garbled: tuple[str, ...] = ()  # commands whose answer has another form than expected
    queue_answered: bool = True  # if so, a job that is not listed has left the queue


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the files of its fold describe it."""

    id: str
    output: Path | None = None  # the folder of its script and output
    fold: FoldId | None = None
    host: str = ""
    process: str = ""  # identity of the process that runs or will start it
    heartbeat: Path | None = None  # a file that this process touches
    has_begun: bool = False
    is_stopped: bool = False  # by its user; it does not start again


@dataclass(frozen=True, slots=True)
class Batch:
    """Jobs of one size that run the same function, one for each task of an array."""

    config: Config
    output: Path  # the folder of script and output
    name: str  # unique; `find` searches for it
    task: Callable[..., Any]
    arguments: tuple[Any, ...]
    count: int | None = None  # of an array; None: a single job
    at_a_time: int = 1
    after: tuple[str, ...] = ()  # ids of jobs that must end first


@dataclass(frozen=True, slots=True)
class JobEnvironment:
    """The job that this process belongs to."""

    job_id: str
    restart: int = 0  # number of earlier starts of the job
    task: int = 0  # its number in the array
    cores: int | None = None  # that the scheduler assigns to this process; None: unknown
    rank: int = 0  # of this process among the tasks of the job
    tasks: int = 1  # number of tasks
    step: str = "0"  # id of the job step
    address: str = ""  # of the node that started the step


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """The limits of a site."""

    max_array_size: int = UNLIMITED
    max_parallel: int = UNLIMITED
    starts_quickly: bool = False  # the overhead of a job is small


class Grade(Enum):
    """The outcome of a check."""

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
    """Runs jobs; tests/cluster/schedulers/test_contract.py tests every implementation."""

    name: str  # of its module, and of its file in conf/cluster
    title: str  # in messages
    ends_with_command: bool = False  # its jobs run only while the command that submitted them does
    has_time_limit: bool = True
    settle_s: float = 0.0  # how long a requeued job may be reported as ended
    end_reason: re.Pattern[str] = re.compile(r"(?!)")  # a line of output; group 1: why a job ended
    memory_error: re.Pattern[bytes] = re.compile(rb"(?!)")  # output of a job without memory

    def is_available(self) -> bool:
        """Whether jobs can be submitted from this machine."""
        ...

    def adapted(self, config: Config) -> Config:
        """The config, adapted to the resources that a job gets here."""
        return config

    def submit(self, batch: Batch, before: Callable[[], None] = lambda: None) -> str:
        """Submit jobs; returns the id of the array or of the single job.

        `before` is called immediately before submission and raises an error to prevent it.
        """
        ...

    def report(self, jobs: Collection[JobRecord]) -> JobReport:
        """The status of these jobs."""
        ...

    def find(self, names: Collection[str]) -> dict[str, str] | None:
        """The id of the job or array with each name; None: the scheduler gave no answer."""
        ...

    def cancel(self, jobs: Sequence[JobRecord]) -> dict[str, str]:
        """Cancel jobs; returns the ids of jobs that may still run, with reasons."""
        ...

    def requeue(self, job_id: str) -> bool:
        """Put the job of this process back into the queue."""
        ...

    def warn(self, job_id: str) -> bool:
        """Send a job the signal that comes before its time limit."""
        ...

    def environment(self) -> JobEnvironment | None:
        """The job of this scheduler that this process belongs to; None outside of a job."""
        ...

    def limits(self, config: Config) -> SiteLimits:
        """The limits of the site for jobs of this config."""
        ...

    def checks(self, config: Config) -> Iterator[Check]:
        """The checks of the site for `doctor`."""
        ...

    def outputs(self, job: JobRecord) -> list[Path]:
        """The files with the output of a job."""
        ...

    def usage(self, job_ids: Collection[str]) -> dict[str, tuple[float, float]] | None:
        """Core-seconds allocated to each job and used by it; None without accounting."""
        return None

    def is_working(self) -> bool:
        """Whether jobs are left that run only while this command runs."""
        return False

    def close(self) -> None:
        """Stop jobs that run only while this command runs; they save their state first."""
