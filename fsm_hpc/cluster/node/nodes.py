"""The nodes of one job: the first one runs the search, and helpers run on the others."""

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


MEMORY_SHARE = 0.8  # share of the memory that a command may use
CONTACT_PREFIX = ".team-"  # of the files through which tasks of a job connect
LONG_OVER_S = 3600.0  # longer than any task waits for others


def is_helper() -> bool:
    """Whether this task of the job is not the first."""
    return _job().rank > 0


def contact_file(folder: Path) -> Path:
    """The file through which tasks of this job connect; all nodes must share the folder."""
    job_id = _job().job_id.replace("/", "-")
    return folder / f"{CONTACT_PREFIX}{job_id}-{_job().restart}.json"


def _job() -> JobEnvironment:
    return schedulers.environment_here() or JobEnvironment("none")


@contextmanager
def helpers(config: Config, submission: Submission, log: Path) -> Iterator[Team | None]:
    """The helpers of a fold while the block runs; None on a single node."""
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
    """The helpers on other nodes of this job while the block runs."""
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
    """Helpers of one command: tasks that were started with it, else processes of this machine.

    All nodes must share `folder`.
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
        if not is_whole:  # tasks that start later must stop
            files.write_atomically(contact.over(file), "")


def _clear(folder: Path) -> None:
    """Remove old files that told tasks of earlier commands to stop."""
    for path in folder.glob(f"{CONTACT_PREFIX}*.over"):
        with suppress(OSError):
            if abs(heartbeat.age_s(path) or 0.0) > LONG_OVER_S:
                path.unlink()


def tasks_here() -> int:
    """The number of tasks that were started together, including this process."""
    return _job().tasks


def help_command(folder: Path, threads_each: int) -> None:
    """Help the command of the first task until it ends."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes import helper

    logging.basicConfig(level=logging.INFO)
    helper.ignore_signals()
    helper.serve(step_file(folder), threads_each, MEMORY_SHARE * machine.physical_mb())


def step_file(folder: Path) -> Path:
    """The contact file of one job step; a job may have several steps."""
    file = contact_file(folder)
    return file.with_name(f"{file.stem}-{_job().step}.json")


@contextmanager
def team_here(count: int, threads_each: int, memory_mb: float, log: Path) -> Iterator[Team]:
    """Helpers as processes of this machine."""
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
    """A function that warns of helpers that were lost since its last call."""

    def __init__(self, helpers: Team | None, warn: Callable[[str], None]) -> None:
        self._helpers, self._warn, self._known = helpers, warn, 0

    def __call__(self) -> None:
        lost = 0 if self._helpers is None else self._helpers.lost
        if lost > self._known:
            self._known = lost
            self._warn(f"{counted(lost, 'helper')} lost; the search continued without them")


def help_job(folder: Path, config: Config) -> None:
    """Help the first task of this job until it ends."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes import helper

    logging.basicConfig(level=logging.INFO)
    helper.ignore_signals()
    helper.serve(contact_file(folder), threads(config), memory_mb(config))


def signal_done(folder: Path) -> None:
    """Let tasks that start later stop immediately."""
    files.write_atomically(contact.over(contact_file(folder)), "")


def _own_address() -> str:
    """The address of this node for other nodes: the one that the scheduler uses."""
    given = _job().address
    return given if _is_own(given) else socket.gethostbyname(socket.gethostname())


def _is_own(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address or "invalid", 0))
        except OSError:
            return False
    return True
