"""Check a site before jobs are submitted."""

from __future__ import annotations

import json
import os
import platform
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fsm_hpc.cluster import schedulers
from fsm_hpc.cluster.schedulers.base import (
    Batch,
    Check,
    Grade,
    JobRecord,
    JobStatus,
    Scheduler,
    UnclearError,
)
from fsm_hpc.cluster.site import probe
from fsm_hpc.cluster.site.probe import Seen
from fsm_hpc.errors import UserError
from fsm_hpc.search.solvers.nodes import contact
from fsm_hpc.study import fold, provenance
from fsm_hpc.study.config import Config
from fsm_hpc.study.resources import time_limit_error
from fsm_hpc.system import files, ownership, terminal
from fsm_hpc.system.numbers import counted

PROGRESS_S = 10.0  # interval of progress lines while it waits
PROBE_S = 180.0  # how long the test job may wait in the queue


def doctor(config: Config, as_json: bool = False) -> int:
    """Run all checks; 0 if jobs can be submitted, 1 if a check failed."""
    console = terminal.console()
    checks: list[Check] = []
    for check in _checks(config):
        checks.append(check)
        if not as_json:
            grade = (f"{check.grade.value:8}", _COLOURS[check.grade])
            console.print(terminal.styled(grade, f" {check.name:16} {check.text}"), soft_wrap=True)
    if as_json:
        values = [{"check": c.name, "grade": c.grade.value, "text": c.text} for c in checks]
        print(json.dumps(values, indent=1))
    return 1 if any(check.grade is Grade.FAILED for check in checks) else 0


_COLOURS = {Grade.OK: "green", Grade.WARNING: "yellow", Grade.FAILED: "red"}


def _checks(config: Config) -> Iterator[Check]:
    yield _python()
    yield _data(config)
    yield _results(config)
    if config.nodes > 1:
        yield _extra(config)
    scheduler = schedulers.of(config)
    checks = [*_time_limit(config, scheduler)]
    for check in (*checks, *scheduler.checks(config)):
        checks.append(check)
        yield check
    if not scheduler.ends_with_command and all(c.grade is not Grade.FAILED for c in checks):
        yield from _on_a_node(config)


def _time_limit(config: Config, scheduler: Scheduler) -> Iterator[Check]:
    """Whether a job has time to work before the signal to save."""
    if scheduler.has_time_limit:
        reason = time_limit_error(config.cluster)
        signal_delay_s = config.cluster.signal_delay_s
        text = f"{config.cluster.timeout_h:g} h, signal to save {signal_delay_s} s earlier"
        yield Check("time limit", Grade.FAILED if reason else Grade.OK, reason or text)


def _python() -> Check:
    code = provenance.code_commit() or provenance.code_digest()
    return Check("python", Grade.OK, f"{platform.python_version()} {sys.executable}, code {code}")


def _data(config: Config) -> Check:
    try:
        prepared = fold.prepare(config)
    except UserError as error:
        return Check("data", Grade.FAILED, str(error))
    rows = prepared.dataset.rows
    return Check(
        "data", Grade.OK, f"{config.dataset.name}: {counted(rows, 'row')}, fold {config.fold}"
    )


def _results(config: Config) -> Check:
    folder = config.results_dir.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            free_gb = shutil.disk_usage(folder).free / 2**30
    except OSError as error:
        return Check("results_dir", Grade.FAILED, f"cannot write to {folder}: {error}")
    text = f"{folder}, {free_gb:.0f} GB free"
    shared = ownership.other_writers([folder, folder / config.study])
    if shared:
        advice = "others with write access control what you resume and cancel: `chmod go-w`"
        return Check("results_dir", Grade.WARNING, f"{text}; {shared}: {advice}")
    return Check("results_dir", Grade.OK if free_gb > 1 else Grade.WARNING, text)


def _extra(config: Config) -> Check:
    try:
        contact.ensure_installed()
    except UserError as error:
        return Check("several nodes", Grade.FAILED, str(error))
    return Check(
        "several nodes", Grade.OK, f"fsm_hpc[nodes] is installed; {config.nodes} nodes per fold"
    )


# ----------------------------------------------------------------------------------- on a node


def _on_a_node(config: Config) -> Iterator[Check]:
    """Submit a short test job with the same resources, and report what it finds."""
    folder = config.results_dir.absolute() / f".doctor-{os.getpid()}"
    folder.mkdir(parents=True, mode=stat.S_IRWXU)  # only the user may change the files of the job
    short = replace(config.cluster, timeout_h=max(5 / 60, config.cluster.signal_delay_s / 1800))
    probed = replace(config, cluster=short)
    batch = Batch(probed, folder, "fsm-doctor", probe.run, (folder, config))
    try:
        job = _Probe(folder, schedulers.of(config), schedulers.of(config).submit(batch))
        yield from _watch(config, job)
        job.scheduler.cancel([JobRecord(job.id)])
    except (UserError, UnclearError) as error:
        yield Check("submit", Grade.FAILED, str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Probe:
    """The test job and its scheduler."""

    folder: Path
    scheduler: Scheduler
    id: str

    def status(self) -> JobStatus | None:
        return self.scheduler.report([JobRecord(self.id)]).jobs.get(self.id)

    def wait(
        self,
        is_ready: Callable[[Seen], bool],
        limit_s: float,
        waiting: Callable[[Seen | None], str] = lambda seen: "",
    ) -> Seen | None:
        """The report of the job once `is_ready` accepts it; None after the limit or job's end."""
        began, has_ended, show = time.monotonic(), False, _Progress()
        while True:
            seen = probe.read(self.folder)
            if seen is not None and is_ready(seen):
                return seen
            if has_ended or time.monotonic() > began + limit_s:
                return None
            status = self.status()
            has_ended = status is not None and not status.is_live
            reason = status.reason if status is not None and status.is_waiting else ""
            show(waiting(seen), reason and f" ({reason})")
            time.sleep(2 if has_ended else 0.5)  # files may appear later in a shared folder


class _Progress:
    """Prints to standard error what it waits for, and regularly for how long."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._text = ""

    def __call__(self, text: str, reason: str) -> None:
        now = time.monotonic()
        if not text or (text == self._text and now - self._last < PROGRESS_S):
            return
        self._text, self._last = text, now
        print(f"...      {text}{reason}, {now - self._began:.0f} s", file=sys.stderr, flush=True)


def _watch(config: Config, job: _Probe) -> Iterator[Check]:
    began = time.monotonic()
    seen = job.wait(lambda _: True, PROBE_S, lambda _: f"job {job.id} is queued")
    if seen is None:
        yield _no_probe(job)
        return
    waited_s = time.monotonic() - began
    yield Check(
        "submit", Grade.OK, f"a test job with these resources started after {waited_s:.0f} s"
    )
    yield _same_code(seen)
    yield _cores(config, seen)
    yield _requeue(seen)
    yield _compiled(job)
    if config.nodes > 1:
        yield _between_nodes(config, job)
    job.scheduler.warn(job.id)
    arrived = job.wait(lambda seen: seen.is_signalled, 20)
    failure = "SIGUSR2 does not reach the job, so it cannot requeue itself"
    text = "SIGUSR2 reaches the job" if arrived else failure
    yield Check("signal", Grade.OK if arrived else Grade.FAILED, text)


def _no_probe(job: _Probe) -> Check:
    status = job.status()
    if status is not None and status.is_waiting:
        text = (
            f"job {job.id} is still queued after {PROBE_S:.0f} s ({status.reason}); try again later"
        )
        return Check("submit", Grade.WARNING, text)
    ends = (files.read_end(path, 300) for path in job.folder.glob("*_log.out"))
    output = " ".join(end.decode(errors="replace") for end in ends).strip()
    state = status.text if status is not None else "unknown"
    text = (
        f"job {job.id} ended ({state}) before it wrote to {job.folder}; "
        f"check that all nodes share this folder. {output}"
    )
    return Check("submit", Grade.FAILED, text)


def _same_code(seen: Seen) -> Check:
    if seen.code == provenance.code_digest():
        return Check("python on node", Grade.OK, f"{seen.python} on {seen.host}, the same code")
    text = (
        f"{seen.host} has other code ({seen.code}) than this machine ({provenance.code_digest()})"
    )
    return Check("python on node", Grade.FAILED, text)


def _cores(config: Config, seen: Seen) -> Check:
    requested = config.cluster.cpus
    text = f"{requested} requested, {seen.cores} available"
    if seen.cores >= requested:
        return Check("cores", Grade.OK, text)
    if seen.cores < seen.cores_of_node:
        return Check("cores", Grade.FAILED, text)
    return Check("cores", Grade.WARNING, f"{text}; the node has only {seen.cores_of_node}")


def _requeue(seen: Seen) -> Check:
    if seen.can_requeue:
        return Check("requeue", Grade.OK, "jobs can requeue themselves at their time limit")
    text = "the scheduler does not answer on the node: after a time limit run `resume`"
    return Check("requeue", Grade.WARNING, text)


def _compiled(job: _Probe) -> Check:
    seen = job.wait(
        lambda seen: seen.compile_s is not None,
        probe.COMPILE_S,
        lambda seen: f"on the node: {(seen and seen.doing) or 'compiling the solver'}",
    )
    if seen is None:
        text = "not compiled within the time limit; the first fold on the node will compile it"
        return Check("solver", Grade.WARNING, text)
    return Check("solver", Grade.OK, f"compiled for the node's processor ({seen.compile_s:.0f} s)")


def _between_nodes(config: Config, job: _Probe) -> Check:
    waiting = "waiting for the other nodes, which compile the solver first"
    seen = job.wait(lambda seen: seen.joined is not None, probe.JOIN_S + 30, lambda _: waiting)
    joined, expected = (seen and seen.joined) or 0, config.nodes - 1
    text = f"{joined} of {expected} other nodes connect to the first"
    if joined == expected:
        return Check("between nodes", Grade.OK, text)
    return Check("between nodes", Grade.WARNING, f"{text}; a search would not use the rest")
