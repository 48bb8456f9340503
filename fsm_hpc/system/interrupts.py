"""Signal handlers for the time of a block, and Ctrl-C that takes effect at a good moment."""

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
    """Have the handler called for these signals while the block runs; then all is as before."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def graceful_interrupt() -> Iterator[threading.Event]:
    """What is set by Ctrl-C or SIGTERM while the block runs; the second one does not wait."""
    wish = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        if wish.is_set():
            raise KeyboardInterrupt
        wish.set()

    if threading.current_thread() is not threading.main_thread():
        yield wish  # signals are not for other threads to hear
        return
    with signal_handlers(STOPPING, hear):
        yield wish
