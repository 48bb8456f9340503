"""The helpers of a search, reached through dask: they join, take parts, and may be lost."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError

from fsm_hpc.search.frontier import Leader
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.native.parts import HelperLostError, PartOrder
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
log = logging.getLogger(__name__)


class Team:
    """What a search sees of its helpers; `Helpers` is the promise that it keeps."""

    def __init__(self, contact_file: Path, host: str, head_start_s: float | None = None) -> None:
        self.head_start_s = HEAD_START_S if head_start_s is None else head_start_s
        self._file = contact_file
        self._problems: OrderedDict[str, Problem] = OrderedDict()
        self._tell: Callable[[str, Leader], None] = lambda spread, leader: None
        self._given: dict[str, tuple[Any, Future[Any]]] = {}  # dask's future, and ours
        self._lock = threading.Lock()
        self._joined: set[str] = set()  # addresses of helpers
        certificate, key = new_certificate()
        security = security_of(certificate, key)
        self._cluster = engine.scheduler(host, security)
        self._client = Client(self._cluster, security=security, set_as_default=False)
        self._client.subscribe_topic(helper.LEADERS, self._hear_event)
        self._voice = ThreadPoolExecutor(1)  # a helper that does not answer holds up nobody
        self.address = str(self._cluster.scheduler_address)
        Contact(self.address, code_digest(), certificate, key).write(contact_file)

    def close(self) -> None:
        """Let the helpers go; nothing of the connection is left."""
        self._file.unlink(missing_ok=True)
        self._voice.shutdown(wait=False, cancel_futures=True)
        engine.hush(logging.CRITICAL)
        for one in (self._client, self._cluster):
            with suppress(Exception):
                one.close(timeout=GOODBYE_S)

    # ---------------------------------------------------------------------- what a search asks for

    def meet(self, problem: Problem, tell: Callable[[str, Leader], None]) -> None:
        """Send a problem once to every helper, also to those that join later."""
        self._tell = tell
        if problem.fingerprint in self._problems:
            return
        while len(self._problems) >= MOST_KEPT:
            name, _ = self._problems.popitem(last=False)
            self._client.unregister_worker_plugin(name)
        greeting = engine.Greeting(partial(helper.know, problem), partial(helper.forget, problem))
        self._client.register_plugin(greeting, name=problem.fingerprint)
        self._problems[problem.fingerprint] = problem

    def ready(self) -> int:
        """How many helpers there are; what nobody is left to search is lost."""
        workers = set(self._cluster.scheduler.workers)
        self._joined |= workers
        count = len(workers)
        if count == 0:
            with self._lock:
                stranded, self._given = self._given, {}
            for task, future in stranded.values():
                task.cancel()
                _fail(future, HelperLostError("no helper is left"))
        return count

    @property
    def lost(self) -> int:
        """How many helpers were ready and are gone."""
        return len(self._joined - set(self._cluster.scheduler.workers))

    def give(self, order: PartOrder) -> Future[Any]:
        future: Future[Any] = Future()
        task = self._client.submit(helper.search, order, pure=False)
        with self._lock:
            self._given[task.key] = task, future
        task.add_done_callback(self._settle)
        return future

    def hear(self, spread: str, leader: Leader) -> None:
        self._say(helper.hear, spread, leader)

    def stop(self, spread: str) -> None:
        self._say(helper.stop, spread)

    # -------------------------------------------------------------------------------- from dask

    def _say(self, *call: Any) -> None:
        self._voice.submit(self._client.run, *call, on_error="ignore")

    def _hear_event(self, event: tuple[float, Any]) -> None:
        self._tell(*helper.leader_of(event[1]))

    def _settle(self, task: Any) -> None:
        """dask has given a lost helper's part to others already, before it calls it lost."""
        with self._lock:
            given = self._given.pop(task.key, None)
        if given is None:
            return
        future = given[1]
        try:
            found = task.result()
        except (KilledWorker, FutureCancelledError) as loss:
            _fail(future, HelperLostError(str(loss)))
        except Exception as failure:
            _fail(future, failure)
        else:
            with suppress(Exception):  # nobody waits for it any more
                future.set_result(found)


def _fail(future: Future[Any], failure: Exception) -> None:
    with suppress(Exception):
        future.set_exception(failure)


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
