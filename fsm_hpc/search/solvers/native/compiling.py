"""Compile the kernels before any clock runs, once for an installation and a processor."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native.kernels import boxes, kernel
from fsm_hpc.search.solvers.native.solver import Native
from fsm_hpc.system import files, machine
from fsm_hpc.system.background import run_in_background
from fsm_hpc.system.children import child_environment, module_command

REPORT_EVERY_S = 10.0
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """Kernels that are compiled together, by solving something tiny with all of them."""

    name: str
    entry: Any  # one of them: where its cache is, theirs is
    warm_up: Callable[[], None]
    module: str = ""  # compiles some of them too, when it is run beside the warm-up

    @property
    def message(self) -> str:
        return f"compiling {self.name} (once for this installation and processor)"

    @property
    def folder(self) -> Path | None:
        return kernel.cache_folder(self.entry)


_READY: set[str] = set()  # stages that this process has
_ONE_AT_A_TIME = threading.RLock()  # two threads that compile at once each take twice as long


def ensure_compiled(say: Say | None = None) -> float:
    """Compile the solver where need be; the seconds that it took."""
    return ensure(STAGE, say)


def ensure(stage: Stage, say: Say | None = None) -> float:
    """Compile the kernels of a stage; other threads wait."""
    started = time.monotonic()
    with _ONE_AT_A_TIME:
        if stage.name in _READY:
            return 0.0
        _make_ready(stage, say or _to_stderr)
        _READY.add(stage.name)
    return time.monotonic() - started


def _make_ready(stage: Stage, say: Say) -> None:
    folder = stage.folder
    marker = folder / f".compiled-{_name(stage, kernel.stamp())}" if folder else None
    if marker is not None and marker.exists():
        stage.warm_up()
    else:
        with _alone(marker, say), _reporting(stage.message, say, marker), _helper(stage):
            stage.warm_up()
        if kernel.unkept:
            error = kernel.unkept[0]
            say(f"{folder}: the cache is not writable, so every process compiles: {error.strerror}")
        elif marker is not None:
            with suppress(OSError):
                files.open_to_append(marker).close()


def _name(stage: Stage, stamp: str) -> str:
    """A digest of this code and this processor: nodes of a cluster may differ."""
    text = f"{stage.name}{stamp}{machine.cpu_model()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tiny_problems() -> tuple[Problem, Problem]:
    """One for cells and one for boxes, with every kind of column of the kernels."""
    truth = np.array([False, True, True, False, True, False] * 7)
    numbers = np.arange(len(truth)) * 5 % len(truth)  # too many values for cells
    flags = [Column(name, Kind.BOOLEAN, np.roll(truth, n)) for n, name in enumerate("abc", 1)]
    cut = [Column(name, Kind.NUMERIC, np.roll(numbers, n)) for n, name in enumerate("xyz", 1)]
    fixed = Problem.build(flags, truth, Method.MEDIAN)
    return fixed, Problem.build(cut + flags, truth, Method.PIVOT)


def _solve_tiny() -> None:
    """Boxes first, which take longest; meanwhile a helper may have compiled the other kernels."""
    fixed, mixed = tiny_problems()
    solver = Native(1)
    solver.solve(mixed, 4, Incumbent(), Control())
    solver.knowledge(mixed).local.run(2, iter((False, True)).__next__)
    solver.solve(fixed, 4, Incumbent(), Control())


STAGE = Stage("the solver", boxes.search, _solve_tiny, __name__)


@contextmanager
def _helper(stage: Stage) -> Iterator[None]:
    """A process that compiles the rest of a stage beside this one, where a core is free."""
    if not stage.module or stage.folder is None or machine.available_cores() < 2:
        yield
        return
    null = subprocess.DEVNULL
    command = module_command(stage.module)
    with subprocess.Popen(command, env=child_environment(), stdin=null, stdout=null, stderr=null):
        yield


@contextmanager
def _alone(marker: Path | None, say: Say) -> Iterator[None]:
    """Let one process compile; the others wait, and then load its cache."""
    try:
        import fcntl

        assert marker is not None
        marker.parent.mkdir(parents=True, exist_ok=True)
        lock = files.open_to_append(marker.with_suffix(".lock"))
    except (ImportError, AssertionError, OSError):  # no shared cache: every process compiles
        yield
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "waiting for another process that compiles"
            with _progress(message, say), suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield


@contextmanager
def _reporting(message: str, say: Say, marker: Path | None) -> Iterator[None]:
    """Report that this process compiles, unless another one has done so."""
    if marker is not None and marker.exists():
        yield
        return
    started = time.monotonic()
    with _progress(message, say, _place(marker)):
        yield
    say(f"compiled in {time.monotonic() - started:.0f} s")


@contextmanager
def _progress(message: str, say: Say, detail: str = "") -> Iterator[None]:
    """Report what is going on, and every few seconds for how long."""
    say(message + detail)
    started = time.monotonic()

    def report(over: threading.Event) -> None:
        while not over.wait(REPORT_EVERY_S):
            say(f"{message}: {time.monotonic() - started:.0f} s so far")

    with run_in_background(report):
        yield


def _place(marker: Path | None) -> str:
    """The folder of the cache, if it is not in the installation."""
    if marker is None:
        return "; it cannot be cached, so every process compiles it"
    installed = Path(boxes.__file__).parent
    return "" if marker.is_relative_to(installed) else f"; cached in {marker.parent}"


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":  # the helper
    Native(1).solve(tiny_problems()[0], 4, Incumbent(), Control())
