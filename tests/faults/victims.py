"""Commands to be killed: in forked processes, at an instant by the clock or by what they do."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pkgutil
import resource
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.faults.ledger import HangError

# a command here takes a second on an idle core, and minutes where many others want that core
LIMIT_S = 300.0  # of a wait in which it does nothing
LIMIT_PROCESSOR_S = 300.0  # of its own work
LOOK_S = 5.0
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.faults.preloaded"])


@dataclass(frozen=True)
class Instant:
    """When a function is called, or has just returned."""

    name: str
    place: str  # module:function
    is_after: bool = False


OF_FILES = (
    Instant("draft written", "os:fsync"),
    Instant("between draft and rename", "os:replace"),
    Instant("renamed", "os:replace", is_after=True),
)
OF_ATTEMPTS = (
    Instant("load", "fsm_hpc.study.fold:prepare"),
    Instant("table", "fsm_hpc.data.dataset:load"),
    Instant("lock", "os:link"),
    Instant("lock taken", "os:link", is_after=True),
    Instant("lock given back", "os:unlink", is_after=True),
    Instant("claim", "fsm_hpc.cluster.attempts:claim"),
    Instant("end of the attempt", "fsm_hpc.cluster.node.supervisor:Supervisor.finish"),
)
OF_SCANS = (
    Instant("solved", "fsm_hpc.search.checking:checked"),
    Instant("length done", "fsm_hpc.study.checkpoint:CheckpointWriter._save"),
    Instant("final", "fsm_hpc.search.scan:finish"),
    Instant("result", "fsm_hpc.study.result:save"),
)
OF_CLINGO = (
    Instant("clingo begins", "fsm_hpc.search.solvers.clingo.process:ClingoProcess.start"),
    Instant("ground", "fsm_hpc.search.solvers.clingo.process:ClingoProcess.next_message"),
)
OF_TRIALS = (
    Instant("trial", "fsm_hpc.baselines.tuning:_next_trial"),
    Instant("trial written", "fsm_hpc.baselines.trials:save", True),
    Instant("result", "fsm_hpc.study.result:save"),
)
OF_SETS = (
    Instant("place read", "fsm_hpc.search.near_optimal.checkpoint:Checkpoint.load", is_after=True),
    Instant("families", "fsm_hpc.search.near_optimal.enumeration:enumerate_families"),
    Instant("place kept", "fsm_hpc.search.near_optimal.checkpoint:Checkpoint.save"),
    Instant("place kept before", "fsm_hpc.search.near_optimal.checkpoint:Checkpoint.save", True),
    Instant("place removed", "fsm_hpc.search.near_optimal.checkpoint:Checkpoint.remove"),
)
OF_RULES = (
    Instant("model", "fsm_hpc.models.model:save"),
    Instant("card", "fsm_hpc.models.card:page"),
)
OF_ALTERNATIVES = (
    Instant("optimum", "fsm_hpc.report.alternatives.find:optimum_of", is_after=True),
    Instant("summary", "fsm_hpc.report.alternatives.summary:summarize"),
)
OF_REPORTS = (
    Instant("collect", "fsm_hpc.report.collect:read"),
    Instant("rows", "fsm_hpc.report.rows_csv:_write"),
)
OF_CLAIMS = (
    Instant("claim taken", "fsm_hpc.report.verification:verify_one"),
    Instant("claim written", "fsm_hpc.search.claim:write_claim", is_after=True),
    Instant("claim checked", "fsm_hpc.report.verification:verify_one", is_after=True),
    Instant("lock given back", "os:unlink", is_after=True),
)


@dataclass(frozen=True)
class Blow:
    """A signal, sent after some seconds or at the n-th time of an instant."""

    signal: signal.Signals
    after_s: float | None = None
    instant: Instant | None = None
    count: int = 1

    def __str__(self) -> str:
        at = (
            f"{self.after_s:.3f} s" if self.instant is None else f"{self.instant.name} {self.count}"
        )
        return f"{self.signal.name} at {at}"


class Victim:
    """One command in a process of its own, with its output in a file."""

    def __init__(
        self,
        words: list[str],
        folder: Path,
        blow: Blow | None = None,
        output: Path | None = None,
        most_bytes: int | None = None,
    ) -> None:
        """`most_bytes`: of any file that the command writes, as a quota would have it."""
        self.output = output or folder / "output.txt"
        self.output.unlink(missing_ok=True)
        path = os.environ["PATH"]
        self._process: BaseProcess = _CONTEXT.Process(
            target=_run, args=(words, str(folder), str(self.output), blow, path, most_bytes)
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        if blow is not None and blow.after_s is not None:
            striking = threading.Thread(target=self._strike, args=(blow,), daemon=True)
            striking.start()

    def end(self) -> int:
        """Its exit code, negative the signal that ended it."""
        used_s, idle_since = 0.0, time.monotonic()
        while self._process.exitcode is None:
            self._process.join(LOOK_S)
            now_s = _processor_s(self.pid)
            if now_s > used_s:
                used_s, idle_since = now_s, time.monotonic()
            if used_s > LIMIT_PROCESSOR_S or time.monotonic() - idle_since > LIMIT_S:
                self._process.kill()
                self._process.join()
                raise HangError(f"no end after {used_s:.0f} s of its own:\n{self.said()}")
        code = self._process.exitcode
        self._process.close()
        return code

    def said(self) -> str:
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def _strike(self, blow: Blow) -> None:
        """So many seconds after the command has begun, of which its output is the sign."""
        assert blow.after_s is not None
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            while not self.output.exists():
                os.kill(self.pid, 0)
                time.sleep(0.01)
            time.sleep(blow.after_s)
            os.kill(self.pid, blow.signal)


def _processor_s(pid: int) -> float:
    """Seconds of processors that a process and its ended children have used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _run(
    words: list[str],
    folder: str,
    output: str,
    blow: Blow | None,
    path: str,
    most_bytes: int | None,
) -> None:
    """What the forked process does: the command, with a blow prepared."""
    os.chdir(folder)
    os.environ["PATH"] = path
    number = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(number, 1)
    os.dup2(number, 2)
    from fsm_hpc.cli.main import main

    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    if blow is not None and blow.instant is not None:
        _arm(blow, blow.instant)
    code = 130
    try:
        code = main(words)
    except BaseException as error:
        _tell_escape(error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)  # what follows is the forked process's own, and none of a command


def _tell_escape(error: BaseException) -> None:
    """Print what left the command; not what struck before or after it."""
    frames = traceback.extract_tb(error.__traceback__)
    if len(frames) > 1:
        traceback.print_exception(error)


def _arm(blow: Blow, instant: Instant) -> None:
    """Let the function strike this process, wherever it is known by its name."""
    function = pkgutil.resolve_name(instant.place)
    holder = (
        pkgutil.resolve_name(instant.place.rpartition(".")[0])
        if "." in function.__qualname__
        else None
    )
    calls = itertools.count(1)

    @functools.wraps(function)
    def struck(*words: Any, **named: Any) -> Any:
        is_now = next(calls) == blow.count
        if is_now and not instant.is_after:
            os.kill(os.getpid(), blow.signal)
        try:
            return function(*words, **named)
        finally:
            if is_now and instant.is_after:
                os.kill(os.getpid(), blow.signal)

    if holder is not None:
        setattr(holder, function.__name__, struck)
        return
    for module in list(sys.modules.values()):
        for name in [n for n, value in vars(module).items() if value is function]:
            setattr(module, name, struck)
