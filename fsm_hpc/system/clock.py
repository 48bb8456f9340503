"""Seconds in which this process was let run: what a scheduler suspends is not charged for it."""

from __future__ import annotations

import os
import threading
import time

TICK_S = 0.5
STOPPED_S = 2.0  # a tick that takes longer, without any work done, was a stop


class _Ticks:
    """Counts the seconds between ticks in which nothing of this process ran."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic(), time.process_time()
        self._stopped_s = 0.0
        threading.Thread(target=self._beat, daemon=True).start()

    def now(self) -> float:
        if time.monotonic() - self._last[0] > STOPPED_S:  # before the thread has come to it
            self._tick()
        return time.monotonic() - self._stopped_s

    def _beat(self) -> None:
        while True:
            time.sleep(TICK_S)
            self._tick()

    def _tick(self) -> None:
        with self._lock:
            at, worked = time.monotonic(), time.process_time()
            gap_s, work_s = at - self._last[0], worked - self._last[1]
            self._last = at, worked
            if gap_s > STOPPED_S and work_s < 0.1 * gap_s:  # busy threads delay ticks, too
                self._stopped_s += gap_s - TICK_S


_ticks: _Ticks | None = None


def _forget() -> None:
    """A forked process has no thread that ticks: the next call starts one."""
    global _ticks
    _ticks = None


os.register_at_fork(after_in_child=_forget)


def monotonic() -> float:
    """Like time.monotonic(), but it stands still while this process is stopped."""
    global _ticks
    if _ticks is None:
        _ticks = _Ticks()
    return _ticks.now()
