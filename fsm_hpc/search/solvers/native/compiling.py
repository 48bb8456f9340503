"""Compile the kernels before any clock runs, once for an installation and a processor."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from fsm_hpc.data.columns import Column, Kind
from fsm_hpc.search.method import Method
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control, Incumbent
from fsm_hpc.search.solvers.native.kernels import boxes, kernel
from fsm_hpc.search.solvers.native.solver import Native
from fsm_hpc.system import machine
from fsm_hpc.system.beside import beside

MESSAGE = "compiling the solver (once for this installation and processor)"
TOLD_EVERY_S = 10.0
Say = Callable[[str], None]
_READY = threading.Event()


def ensure_compiled(say: Say | None = None) -> float:
    """Make the kernels ready for use; the seconds that it took. Others wait for who compiles."""
    if _READY.is_set():
        return 0.0
    say = say or _to_stderr
    started = time.monotonic()
    folder = cache_folder(boxes.search)
    marker = folder / f".compiled-{_name(kernel.stamp())}" if folder else None
    if marker is not None and marker.exists():
        _warm_up()
    else:
        with _alone(marker), _telling(say, marker):
            _warm_up()
        if marker is not None:
            with suppress(OSError):
                marker.touch()
    _READY.set()
    return time.monotonic() - started


def cache_folder(compiled: object) -> Path | None:
    """Where numba keeps compiled kernels: in the installation, or else in the user's cache."""
    try:
        return Path(compiled._cache._impl.locator.get_cache_path())  # type: ignore[attr-defined]
    except AttributeError:
        return None


def _name(stamp: str) -> str:
    """Of this code on this processor: nodes of a cluster may differ."""
    return hashlib.sha256(f"{stamp}{machine.cpu_model()}".encode()).hexdigest()[:16]


def _warm_up() -> None:
    """Solve something tiny with every kernel."""
    truth = np.array([False, True, True, False, True, False] * 2)
    numbers = np.arange(len(truth)) * 5 % len(truth)  # too many values to be kept as bits
    flags = [Column(name, Kind.BOOLEAN, np.roll(truth, n)) for n, name in enumerate("abc", 1)]
    cut = [Column(name, Kind.NUMERIC, np.roll(numbers, n)) for n, name in enumerate("xyz", 1)]
    solver = Native(1)
    for columns, method in ((flags, Method.MEDIAN), (cut + flags, Method.PIVOT)):
        solver.solve(Problem.build(columns, truth, method), 4, Incumbent(), Control())


@contextmanager
def _alone(marker: Path | None) -> Iterator[None]:
    """One process compiles; those that come meanwhile wait, and then find its cache."""
    try:
        import fcntl

        assert marker is not None
        marker.parent.mkdir(parents=True, exist_ok=True)
        lock = marker.with_suffix(".lock").open("w")
    except (ImportError, AssertionError, OSError):  # no shared cache: everybody for themselves
        yield
        return
    with lock:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _telling(say: Say, marker: Path | None) -> Iterator[None]:
    """Say that it is going on, and for how long; nothing where another process was first."""
    if marker is not None and marker.exists():
        yield
        return
    say(MESSAGE + _place(marker))
    started = time.monotonic()

    def tell(over: threading.Event) -> None:
        while not over.wait(TOLD_EVERY_S):
            say(f"{MESSAGE}: {time.monotonic() - started:.0f} s so far")

    with beside(tell):
        yield
    say(f"compiled in {time.monotonic() - started:.0f} s")


def _place(marker: Path | None) -> str:
    """Where it goes, if that is not the installation."""
    if marker is None:
        return "; there is nowhere to keep it, so every process does it"
    installed = Path(boxes.__file__).parent
    return "" if marker.is_relative_to(installed) else f"; kept in {marker.parent}"


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
