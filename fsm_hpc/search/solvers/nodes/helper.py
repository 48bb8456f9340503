"""A helper process, usually on another machine, that searches parts."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.compiling import ensure_compiled
from fsm_hpc.search.solvers.native.parts import PartOrder
from fsm_hpc.search.solvers.native.search import Search
from fsm_hpc.search.solvers.native.solver import Native
from fsm_hpc.search.solvers.native.work import code_digest
from fsm_hpc.search.solvers.nodes import engine
from fsm_hpc.search.solvers.nodes.contact import Contact, address_towards, over
from fsm_hpc.system.machine import resident_mb

PATIENCE_S = 600.0  # of waiting for the search
CHECK_S = 0.2
log = logging.getLogger(__name__)


class Helper:
    """The threads of this process, and a solver that caches data of problems."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._native = Native(threads)

    def search_of(self, problem: Problem) -> Search:
        return self._native.knowledge(problem).search


_here: Helper | None = None


def search(order: PartOrder, problem: Problem) -> Any:
    """The task that dask runs."""
    assert _here is not None, "not a helper process"
    return order.search(problem, _here)


# ------------------------------------------------------------------------------------- the process


def serve(path: Path, threads: int, memory_mb: float) -> None:
    """Help the search of the contact file until it ends."""
    global _here
    ensure_compiled()  # before this node receives parts
    contact = _await(path)
    if contact is None:
        log.info("there is no search to help; exiting")
        return
    if contact.code != code_digest():
        log.warning("the search has other code than this node; exiting")
        return
    _here = Helper(threads)
    asyncio.run(_help(contact, memory_mb))


def _await(path: Path) -> Contact | None:
    deadline = time.monotonic() + PATIENCE_S
    while (contact := Contact.read(path)) is None and time.monotonic() < deadline:
        if over(path).exists():
            return None
        time.sleep(CHECK_S)
    return contact


async def _help(contact: Contact, memory_mb: float) -> None:
    address = urlsplit(contact.address)
    assert address.hostname is not None
    assert address.port is not None
    host = address_towards(address.hostname, address.port)
    async with engine.worker(contact.address, host, contact.security) as worker:
        closed = asyncio.ensure_future(worker.finished())
        while not closed.done():
            await asyncio.wait([closed], timeout=CHECK_S)
            if resident_mb() > memory_mb:
                log.warning("uses more than %.0f MB; exiting", memory_mb)
                return


def main(arguments: list[str] | None = None) -> int:
    """`python -m ...helper FILE --threads N --memory-mb M`, beside its search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--memory-mb", type=float, required=True)
    options = parser.parse_args(arguments)
    ignore_signals()
    serve(options.file, options.threads, options.memory_mb)
    return 0


def ignore_signals() -> None:
    """Signals are for the search, which then closes its helpers."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    # tasks use the state of the imported module, not that of __main__
    from fsm_hpc.search.solvers.nodes import helper

    sys.exit(helper.main())
