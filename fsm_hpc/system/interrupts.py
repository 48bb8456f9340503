"""Signal handlers for a block of code, and Ctrl-C without loss of work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signal_handlers(
    numbers: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Install a handler for these signals while the block runs."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


@contextmanager
def graceful_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second one raises KeyboardInterrupt."""
    stop = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread handles signals
        return
    with signal_handlers(STOPPING, handle):
        yield stop
