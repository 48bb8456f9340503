"""The helpers of a search through dask: they join, search parts, and may be lost."""

from __future__ import annotations

import logging
import os
import subprocess
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakSet

from distributed import Client

from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.parts import PartOrder
from fsm_hpc.search.solvers.native.work import code_digest
from fsm_hpc.search.solvers.nodes import engine, helper
from fsm_hpc.search.solvers.nodes.contact import (
    Contact,
    new_certificate,
    security_of,
)
from fsm_hpc.system.children import child_environment, module_command
from fsm_hpc.system.files import open_to_append

MOST_KEPT = 8  # problems that dask holds at a time
HEAD_START_S = 5.0  # of search alone; shorter searches need no helpers
EXIT_S = 10.0  # for helpers to exit


class Team:
    """The helpers of a search; implements `Helpers`."""

    def __init__(self, contact_file: Path, host: str, head_start_s: float | None = None) -> None:
        self.head_start_s = HEAD_START_S if head_start_s is None else head_start_s
        self._file = contact_file
        self._problems: OrderedDict[str, Any] = OrderedDict()  # that dask holds
        self._given: WeakSet[Future[Any]] = WeakSet()
        self._joined: set[str] = set()  # addresses of helpers
        certificate, key = new_certificate()
        security = security_of(certificate, key)
        self._cluster = engine.scheduler(host, security)
        self._client = Client(self._cluster, security=security, set_as_default=False)
        self._executor = self._client.get_executor(pure=False)
        self.address = str(self._cluster.scheduler_address)
        Contact(self.address, code_digest(), certificate, key).write(contact_file)

    def close(self) -> None:
        """Close the helpers and the connection."""
        self._file.unlink(missing_ok=True)
        engine.silence(logging.CRITICAL)
        for connection in (self._client, self._cluster):
            with suppress(Exception):
                connection.close(timeout=EXIT_S)

    def ready(self) -> int:
        """The number of helpers; without any, their parts are cancelled."""
        workers = set(self._cluster.scheduler.workers)
        self._joined |= workers
        if not workers:
            for future in list(self._given):
                future.cancel()
        return len(workers)

    @property
    def lost(self) -> int:
        """The number of helpers that were ready and are lost."""
        return len(self._joined - set(self._cluster.scheduler.workers))

    def give(self, problem: Problem, order: PartOrder) -> Future[Any]:
        """Search a part on some helper, again on another one if that is lost."""
        future: Future[Any] = self._executor.submit(helper.search, order, self._sent(problem))
        self._given.add(future)
        return future

    def _sent(self, problem: Problem) -> Any:
        """The problem in dask, which sends it to the helpers that need it."""
        name = problem.fingerprint
        if name not in self._problems:
            while len(self._problems) >= MOST_KEPT:
                self._problems.popitem(last=False)
            self._problems[name] = self._client.submit(copy, problem, key=name)
        return self._problems[name]


def _opened(log_file: Path) -> BinaryIO:
    return log_file.open("ab") if log_file == Path(os.devnull) else open_to_append(log_file)


@contextmanager
def helpers_here(
    count: int, contact_file: Path, threads: int, memory_mb: float, log_file: Path
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Helper processes on this machine; they wait for the contact file and end with the block."""
    command = module_command(helper.__name__, str(contact_file))
    command += ["--threads", str(threads), "--memory-mb", str(memory_mb)]
    with _opened(log_file) as output:
        started = [
            subprocess.Popen(
                command,
                env=child_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C reaches the search, which closes them
            )
            for _ in range(count)
        ]
    try:
        yield started
    finally:
        for process in started:
            try:
                process.wait(EXIT_S if not contact_file.exists() else 0.1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
