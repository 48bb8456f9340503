"""The nodes of one job: on the first one the search runs, on the others helpers of it."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.study.config import ClusterKind, Config
from fsm_hpc.study.fold import memory_mb, threads
from fsm_hpc.system import files

if TYPE_CHECKING:
    from fsm_hpc.search.solvers.nodes.team import Team


def is_helper() -> bool:
    """Whether this is another task of the job than its first."""
    return int(os.environ.get("SLURM_PROCID", "0")) > 0


def contact_file(folder: Path) -> Path:
    """Where the tasks of this life of this job meet, in a folder that all nodes see."""
    job, restart = os.environ["SLURM_JOB_ID"], os.environ.get("SLURM_RESTART_COUNT", "0")
    return folder / f".team-{job}-{restart}.json"


@contextmanager
def helpers(config: Config, submission: Submission, log: Path) -> Iterator[Team | None]:
    """The other nodes of a fold, where it has some, for as long as the block runs."""
    if config.nodes == 1:
        yield None
    elif submission.kind == ClusterKind.SLURM.value:
        with team_of_job(Path(submission.output)) as team:
            yield team
    else:
        with team_here(config, log) as team:
            yield team


@contextmanager
def team_of_job(folder: Path) -> Iterator[Team]:
    """The other nodes of this SLURM job, for as long as the block runs."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes.team import Team

    with closing(Team(contact_file(folder), _own_address())) as team:
        yield team


@contextmanager
def team_here(config: Config, log: Path) -> Iterator[Team]:
    """Processes of this machine in place of other nodes."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes.team import Team, helpers_here

    with tempfile.TemporaryDirectory(prefix="fsm-team-") as folder:
        file = Path(folder) / "contact.json"
        count = config.nodes - 1
        with (
            helpers_here(count, file, threads(config), memory_mb(config), log),
            closing(Team(file, contact.LOOPBACK)) as team,
        ):
            yield team


def help_job(folder: Path, config: Config) -> None:
    """Help the first task of this job until it is over."""
    contact.ensure_installed()
    from fsm_hpc.search.solvers.nodes import helper

    logging.basicConfig(level=logging.INFO)
    helper.ignore_signals()
    helper.serve(contact_file(folder), threads(config), memory_mb(config))


def dismiss(folder: Path) -> None:
    """Tell tasks that are not there yet that nothing is left to do."""
    files.write_atomically(contact.over(contact_file(folder)), "")


def _own_address() -> str:
    """The address by which other nodes reach this one: the one that SLURM itself uses."""
    given = os.environ.get("SLURM_LAUNCH_NODE_IPADDR", "")
    return given if _is_own(given) else socket.gethostbyname(socket.gethostname())


def _is_own(address: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address or "invalid", 0))
        except OSError:
            return False
    return True
