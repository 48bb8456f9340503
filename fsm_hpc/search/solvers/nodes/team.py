"""The helpers of a search, reached through dask: they join, take parts, and may be lost."""

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

MOST_KEPT = 8  # problems that helpers know at a time
HEAD_START_S = 5.0  # sizes that end before are not worth a message
GOODBYE_S = 10.0  # for helpers to leave by themselves


class Team:
    """What a search sees of its helpers; `Helpers` is the promise that it keeps."""

    def __init__(self, contact_file: Path, host: str, head_start_s: float | None = None) -> None:
        self.head_start_s = HEAD_START_S if head_start_s is None else head_start_s
        self._file = contact_file
        self._problems: OrderedDict[str, Any] = OrderedDict()  # those that dask keeps
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
        """Let the helpers go; nothing of the connection is left."""
        self._file.unlink(missing_ok=True)
        engine.hush(logging.CRITICAL)
        for one in (self._client, self._cluster):
            with suppress(Exception):
                one.close(timeout=GOODBYE_S)

    def ready(self) -> int:
        """How many helpers there are; what nobody is left to search is lost."""
        workers = set(self._cluster.scheduler.workers)
        self._joined |= workers
        if not workers:
            for future in list(self._given):
                future.cancel()
        return len(workers)

    @property
    def lost(self) -> int:
        """How many helpers were ready and are gone."""
        return len(self._joined - set(self._cluster.scheduler.workers))

    def give(self, problem: Problem, order: PartOrder) -> Future[Any]:
        """Have dask search it on some helper, again on another one if that is lost."""
        future: Future[Any] = self._executor.submit(helper.search, order, self._sent(problem))
        self._given.add(future)
        return future

    def _sent(self, problem: Problem) -> Any:
        """The problem as dask knows it, which takes it to every helper that needs it."""
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
    """Processes of this machine that wait for the file, then help; they end with the block."""
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
                start_new_session=True,  # Ctrl-C reaches the search, which tells them
            )
            for _ in range(count)
        ]
    try:
        yield started
    finally:
        for process in started:
            try:
                process.wait(GOODBYE_S if not contact_file.exists() else 0.1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
