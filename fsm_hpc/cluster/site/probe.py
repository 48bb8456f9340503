"""What `doctor` runs on a node: look around, and wait for a signal."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.node import cores, nodes
from fsm_hpc.cluster.schedulers.base import JobRecord
from fsm_hpc.study import first_use, provenance
from fsm_hpc.study.config import Config
from fsm_hpc.system import files, serialization

READY = "ready.json"
SIGNALLED = "signalled.json"
COMPILED = "compiled.json"
PROGRESS = "progress.json"
TOGETHER = "together.json"
WAIT_S = 60.0
COMPILE_S = 240.0  # on a busy node
JOIN_S = 150.0  # for the other nodes to be there, which may have to compile the solver first


@dataclass(frozen=True, slots=True)
class Seen:
    """What the node is like from inside a job."""

    host: str
    python: str
    code: str
    cores: int
    cores_of_node: int
    can_requeue: bool  # the scheduler answers on the node


def look_around(folder: Path, config: Config) -> None:
    """Write what is here, then that the solver is compiled, how many nodes joined, and whether
    SIGUSR2 came."""
    if nodes.is_helper():
        nodes.help_job(folder, config)
        return
    signalled = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        signalled.set()

    signal.signal(signal.SIGUSR2, note)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
    seen = Seen(
        platform.node(),
        platform.python_version(),
        provenance.code_digest(),
        cores.here(schedulers.of(config).environment()),
        os.cpu_count() or 1,
        _answers(config),
    )
    files.write_json(folder / READY, asdict(seen))
    seconds = first_use.compile_all(partial(_tell, folder))
    files.write_json(folder / COMPILED, {"seconds": seconds})
    if config.nodes > 1:
        files.write_json(folder / TOGETHER, {"joined": _joined(folder, config.nodes - 1)})
    if signalled.wait(WAIT_S):
        files.write_json(folder / SIGNALLED, {"signalled": True})


def _answers(config: Config) -> bool:
    """Whether the scheduler knows of this job, asked from inside it."""
    scheduler = schedulers.of(config)
    job = scheduler.environment()
    return job is not None and job.job_id in scheduler.report([JobRecord(job.job_id)]).jobs


def _tell(folder: Path, text: str) -> None:
    """Let who waits for the node know how far it is."""
    print(text, flush=True)
    files.write_json(folder / PROGRESS, {"text": text})


def progress(folder: Path) -> str:
    """What the node does now."""
    told = serialization.read(folder / PROGRESS)
    return "" if told is None else str(told["text"])


def _joined(folder: Path, count: int) -> int:
    """How many of the job's other nodes connect to this one, as they would to a search."""
    until = time.monotonic() + JOIN_S
    with nodes.team_of_job(folder) as team:
        while team.ready() < count and time.monotonic() < until:
            time.sleep(0.2)
        return team.ready()


def joined(folder: Path) -> int | None:
    """How many did; None while that is not known."""
    told = serialization.read(folder / TOGETHER)
    return None if told is None else int(told["joined"])


def compile_s(folder: Path) -> float | None:
    """How long the node compiled the solver; None while it does."""
    told = serialization.read(folder / COMPILED)
    return None if told is None else float(told["seconds"])


def read(folder: Path) -> Seen:
    return serialization.convert(Seen, serialization.read(folder / READY), READY)
