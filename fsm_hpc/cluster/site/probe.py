"""The test job of `doctor`: report on the node, and wait for a signal."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.node import cores, nodes
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.study import first_use, provenance
from fsm_hpc.study.config import Config
from fsm_hpc.system import files, serialization

FILE = "probe.json"
WAIT_S = 60.0
COMPILE_S = 240.0  # on a busy node
JOIN_S = 150.0  # for other nodes to connect; they may have to compile the solver first


@dataclass(frozen=True, slots=True)
class Seen:
    """What the job has reported so far."""

    host: str
    python: str
    code: str
    cores: int
    cores_of_node: int
    can_requeue: bool  # the scheduler answers on the node
    doing: str = ""  # the current step
    compile_s: float | None = None  # duration of the compilation; None until it ends
    joined: int | None = None  # number of other nodes that connected to this one
    is_signalled: bool = False  # SIGUSR2 was received


def run(folder: Path, config: Config) -> None:
    """Write a report, and update it after compilation, connections and SIGUSR2."""
    if nodes.is_helper():
        nodes.help_job(folder, config)
        return
    signalled = threading.Event()
    signal.signal(signal.SIGUSR2, lambda number, frame: signalled.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
    seen = Seen(
        platform.node(),
        platform.python_version(),
        provenance.code_digest(),
        cores.here(schedulers.of(config).environment()),
        os.cpu_count() or 1,
        _scheduler_answers(config),
    )

    def write(**news: Any) -> None:
        nonlocal seen
        seen = replace(seen, **news)
        files.write_json(folder / FILE, asdict(seen))

    def note(text: str) -> None:
        print(text, flush=True)
        write(doing=text)

    write()
    write(compile_s=first_use.compile_all(note))
    if config.nodes > 1:
        write(joined=_joined(folder, config.nodes - 1))
    write(is_signalled=signalled.wait(WAIT_S))


def read(folder: Path) -> Seen | None:
    """The report of the job so far; None before it has begun."""
    saved = serialization.read(folder / FILE)
    return None if saved is None else serialization.convert(Seen, saved, FILE)


def _scheduler_answers(config: Config) -> bool:
    """Whether the scheduler, queried from the node, lists this job."""
    scheduler = schedulers.of(config)
    job = scheduler.environment()
    return job is not None and job.job_id in scheduler.report([JobRecord(job.job_id)]).jobs


def _joined(folder: Path, count: int) -> int:
    """How many other nodes of the job connect to this one, as they would for a search."""
    until = time.monotonic() + JOIN_S
    with nodes.team_of_job(folder) as team:
        while team.ready() < count and time.monotonic() < until:
            time.sleep(0.2)
        return team.ready()
