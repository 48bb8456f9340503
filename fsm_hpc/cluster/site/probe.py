"""What `doctor` runs on a node: look around, and wait for a signal."""

from __future__ import annotations

import os
import platform
import signal
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from fsm_hpc.cluster import slurm
from fsm_hpc.study import provenance
from fsm_hpc.system import files, machine

READY = "ready.json"
SIGNALLED = "signalled.json"
WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What the node is like from inside a job."""

    host: str
    python: str
    code: str
    cores: int
    cores_of_node: int
    has_scontrol: bool


def look_around(folder: Path) -> None:
    """Write what is here, then whether SIGUSR2 came."""
    signalled = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        signalled.set()

    signal.signal(signal.SIGUSR2, note)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
    seen = Seen(
        platform.node(),
        platform.python_version(),
        provenance.code_digest(),
        machine.available_cores(),
        os.cpu_count() or 1,
        slurm.run("scontrol", "show", "job", os.environ.get("SLURM_JOB_ID", "")) is not None,
    )
    files.write_json(folder / READY, asdict(seen))
    if signalled.wait(WAIT_S):
        files.write_json(folder / SIGNALLED, {"signalled": True})


def read(folder: Path) -> Seen:
    return Seen(**(files.read_json(folder / READY) or {}))
