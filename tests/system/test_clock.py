"""The clock of a process never goes back, in a forked process either."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection

from fsm_hpc.system import clock

IDLE_S = clock.STOPPED_S + 0.3


def _idle(results: Connection) -> None:
    """Wait as a process does that gets its next fold later; the clock's differences."""
    started = clock.monotonic()
    time.sleep(IDLE_S)
    waited_s = clock.monotonic() - started
    started = clock.monotonic()
    results.send((waited_s, clock.monotonic() - started))


def test_waiting_in_a_forked_process_is_not_taken_for_a_stop() -> None:
    clock.monotonic()  # the thread that ticks is one of this process
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_idle, args=(theirs,))
    child.start()
    waited_s, no_time_s = ours.recv()
    child.join()
    assert waited_s > IDLE_S - clock.TICK_S
    assert no_time_s >= 0
