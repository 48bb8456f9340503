"""The nodes of one job: on the first one the search runs, on the others helpers of it."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import JobEnvironment
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.study.config import Config
from fsm_hpc.study.fold import memory_mb, threads
from fsm_hpc.system import files, heartbeat, machine
from fsm_hpc.system.numbers import counted

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.nodes.team import Team


MEMORY_SHARE = 0.8  # of a machine that a command may fill
CONTACT_PREFIX = ".team-"  # how the files begin that tasks of a job meet by
LONG_OVER_S = 3600.0  # more than any task waits for others


def is_helper() -> bool:
    """Whether this is another task of the job than its first."""
    return _job().rank > 0


def contact_file(folder: Path) -> Path:
    """Where the tasks of this life of this job meet, in a folder that all nodes see."""
    job_id = _job().job_id.replace("/", "-")
    return folder / f"{CONTACT_PREFIX}{job_id}-{_job().restart}.json"


def _job() -> JobEnvironment:
    return schedulers.environment_here() or JobEnvironment("none")


@contextmanager
def helpers(config: Config, submission: Submission, log: Path) -> Iterator[Team | None]:
    """The other nodes of a fold, where it has some, for as long as the block runs."""
    if config.nodes == 1:
        yield None
    elif not schedulers.named(submission.kind).ends_with_command:
        with team_of_job(Path(submission.output)) as team:
            yield team
    else:
        with team_here(config.nodes, threads(config), memory_mb(config), log) as team:
            yield team


@contextmanager
def team_of_job(folder: Path) -> Iterator[Team]:
    """The other nodes of this job, for as long as the block runs."""
    with _team(contact_file(folder)) as team:
        yield team


@contextmanager
def _team(file: Path) -> Iterator[Team]:
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes.team import Team

    with closing(Team(file, _own_address())) as team:
        yield team


@contextmanager
def team_of_command(count: int, threads_each: int, folder: Path) -> Iterator[Team | None]:
    """Other nodes for one command: the tasks started with it, else processes of this machine.

    `folder`: one that all nodes see.
    """
    tasks = tasks_here()
    if tasks > 1:
        with _team_of_step(folder, tasks) as team:
            yield team
    elif count > 1:
        memory_mb = MEMORY_SHARE * machine.physical_mb() / count
        with team_here(count, threads_each, memory_mb, Path(os.devnull)) as team:
            yield team
    else:
        yield None


@contextmanager
def _team_of_step(folder: Path, tasks: int) -> Iterator[Team]:
    file, is_whole = step_file(folder), False
    _clear(folder)
    try:
        with _team(file) as team:
            yield team
            is_whole = team.ready() == tasks - 1
    finally:
        if not is_whole:  # some may not have come yet, and need not
            files.write_atomically(contact.over(file), "")


def _clear(folder: Path) -> None:
    """Remove what tells tasks of earlier commands that nothing is left to do: none waits for it."""
    for told in folder.glob(f"{CONTACT_PREFIX}*.over"):
        with suppress(OSError):
            if abs(heartbeat.age_s(told) or 0.0) > LONG_OVER_S:
                told.unlink()


def tasks_here() -> int:
    """How many tasks were started together with this process; 1 where it is alone."""
    return _job().tasks


def help_command(folder: Path, threads_each: int) -> None:
    """Help the command that the first of these tasks runs until it is over."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes import helper

    logging.basicConfig(level=logging.INFO)
    helper.ignore_signals()
    helper.serve(step_file(folder), threads_each, MEMORY_SHARE * machine.physical_mb())


def step_file(folder: Path) -> Path:
    """Where tasks that were started together meet; a job may start some again and again."""
    file = contact_file(folder)
    return file.with_name(f"{file.stem}-{_job().step}.json")


@contextmanager
def team_here(count: int, threads_each: int, memory_mb: float, log: Path) -> Iterator[Team]:
    """Processes of this machine in place of other nodes."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes.team import Team, helpers_here

    with tempfile.TemporaryDirectory(prefix="fsm-team-") as folder:
        file = Path(folder) / "contact.json"
        with (
            helpers_here(count - 1, file, threads_each, memory_mb, log),
            closing(Team(file, contact.LOOPBACK)) as team,
        ):
            yield team


class Losses:
    """Called every now and then, warns of helpers that were lost since the last time."""

    def __init__(self, helpers: Team | None, warn: Callable[[str], None]) -> None:
        self._helpers, self._warn, self._known = helpers, warn, 0

    def __call__(self) -> None:
        lost = 0 if self._helpers is None else self._helpers.lost
        if lost > self._known:
            self._known = lost
            self._warn(f"{counted(lost, 'helper')} lost: the search went on without")


def help_job(folder: Path, config: Config) -> None:
    """Help the first task of this job until it is over."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes import helper

    logging.basicConfig(level=logging.INFO)
    helper.ignore_signals()
    helper.serve(contact_file(folder), threads(config), memory_mb(config))


def signal_done(folder: Path) -> None:
    """Tell tasks that are not there yet that nothing is left to do."""
    files.write_atomically(contact.over(contact_file(folder)), "")


def _own_address() -> str:
    """The address by which other nodes reach this one: the one that the scheduler itself uses."""
    given = _job().address
    return given if _is_own(given) else socket.gethostbyname(socket.gethostname())


def _is_own(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address or "invalid", 0))
        except OSError:
            return False
    return True
