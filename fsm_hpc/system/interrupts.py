"""Ctrl-C as a wish that is granted at a good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def as_wish() -> Iterator[threading.Event]:
    """What is set by Ctrl-C or SIGTERM while the block runs; the second Ctrl-C does not wait."""
    wish = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        if wish.is_set():
            raise KeyboardInterrupt
        wish.set()

    if threading.current_thread() is not threading.main_thread():
        yield wish  # signals are not for other threads to hear
        return
    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
