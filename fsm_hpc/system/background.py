"""Run a function in a thread while a block of code runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def run_in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `work` in a thread; its event is set when the block ends."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
