"""What jobs of the contract do, and what they write down about themselves."""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from fsm_hpc.cluster import schedulers
from fsm_hpc.system import files, process_identity


def describe(name: str, folder: Path) -> None:
    """Write down which job this is."""
    here = schedulers.named(name).environment()
    assert here is not None
    print(f"task {here.task} was here", file=sys.stderr, flush=True)
    values = asdict(here) | {"process": process_identity.of()}
    files.write_atomically(folder / f"{here.task}-{here.restart}.json", json.dumps(values))


def stay(name: str, folder: Path) -> None:
    """Run until a signal ends it."""
    describe(name, folder)
    time.sleep(120)


def requeue(name: str, folder: Path) -> None:
    """Ask to be started again, once."""
    describe(name, folder)
    here = schedulers.named(name).environment()
    if here is not None and here.restart == 0:
        assert schedulers.named(name).requeue(here.job_id)
        if not schedulers.named(name).ends_with_command:
            time.sleep(60)  # until the scheduler ends this process


def note_warning(name: str, folder: Path) -> None:
    """Write down that the signal before a time limit came."""

    def note(number: int, frame: FrameType | None) -> None:
        (folder / "warned").touch()

    signal.signal(signal.SIGUSR2, note)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
    describe(name, folder)
    deadline = time.monotonic() + 60
    while not (folder / "warned").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
