"""A monotonic clock that excludes the time in which a scheduler suspends this process."""

from __future__ import annotations

import os
import threading
import time

TICK_S = 0.5
STOPPED_S = 2.0  # a longer tick without processor time means that the process was suspended


class _Ticks:
    """Counts the seconds in which this process was suspended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic(), time.process_time()
        self._stopped_s = 0.0
        threading.Thread(target=self._beat, daemon=True).start()

    def now(self) -> float:
        if time.monotonic() - self._last[0] > STOPPED_S:  # before the thread ticks
            self._tick()
        return time.monotonic() - self._stopped_s

    def _beat(self) -> None:
        while True:
            time.sleep(TICK_S)
            self._tick()

    def _tick(self) -> None:
        with self._lock:
            now, processor = time.monotonic(), time.process_time()
            gap_s, work_s = now - self._last[0], processor - self._last[1]
            self._last = now, processor
            if gap_s > STOPPED_S and work_s < 0.1 * gap_s:  # busy threads also delay ticks
                self._stopped_s += gap_s - TICK_S


_ticks: _Ticks | None = None


def _forget() -> None:
    """Reset the clock in a forked process, which has no ticking thread."""
    global _ticks
    _ticks = None


os.register_at_fork(after_in_child=_forget)


def monotonic() -> float:
    """Like time.monotonic(), but stops while this process is suspended."""
    global _ticks
    if _ticks is None:
        _ticks = _Ticks()
    return _ticks.now()
