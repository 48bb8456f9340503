"""Do something in a thread of its own for as long as a block of code runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def run_in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `work` beside the block; the event that it is given is set when the block is over."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
