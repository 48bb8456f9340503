"""A third scheduler: every job is a process that outlives the command, known by files in $SPOOL."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fsm_hpc.cluster.schedulers.base import (
    Batch,
    Check,
    Grade,
    JobEnvironment,
    JobRecord,
    JobReport,
    JobState,
    JobStatus,
    Scheduler,
    SiteLimits,
)
from fsm_hpc.study.config import Config


class Spool(Scheduler):
    """Starts all jobs at once; a file for each says how it is."""

    name = "spool"
    title = "the spool"

    def is_available(self) -> bool:
        return "SPOOL" in os.environ

    def submit(self, batch: Batch, before: Callable[[], None] = lambda: None) -> str:
        before()
        number = 1 + len(list(_spool().glob("*.name")))
        (_spool() / f"{number}.name").write_text(batch.name)
        (_spool() / f"{number}.pkl").write_bytes(pickle.dumps((batch.task, batch.arguments)))
        tasks = range(batch.count) if batch.count is not None else [None]
        for task in tasks:
            job_id = f"{number}" if task is None else f"{number}_{task}"
            _file(job_id, "state").write_text("waiting")
            with (batch.output / f"{job_id}.out").open("ab") as output:
                subprocess.Popen(
                    [sys.executable, __file__, job_id],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
        return str(number)

    def report(self, jobs: Collection[JobRecord]) -> JobReport:
        known = [job.id for job in jobs if _file(job.id, "state").exists()]
        return JobReport({job_id: _status(job_id) for job_id in known})

    def find(self, names: Collection[str]) -> dict[str, str] | None:
        known = {path.read_text(): path.stem for path in _spool().glob("*.name")}
        return {name: known[name] for name in names if name in known}

    def cancel(self, jobs: Sequence[JobRecord]) -> dict[str, str]:
        for job in jobs:
            _file(job.id, "state").write_text("cancelled")
            _send(job.id, signal.SIGTERM)
        return {}

    def requeue(self, job_id: str) -> bool:
        _file(job_id, "again").touch()
        return True

    def warn(self, job_id: str) -> bool:
        return _send(job_id, signal.SIGUSR2)

    def environment(self) -> JobEnvironment | None:
        job_id = os.environ.get("SPOOL_JOB")
        if job_id is None:
            return None
        task = job_id.partition("_")[2] or "0"
        return JobEnvironment(job_id, int(os.environ["SPOOL_RESTART"]), int(task))

    def limits(self, config: Config) -> SiteLimits:
        return SiteLimits(max_array_size=100)

    def checks(self, config: Config) -> Iterator[Check]:
        yield Check("spool", Grade.OK, str(_spool()))

    def outputs(self, job: JobRecord) -> list[Path]:
        return [] if job.output is None else [job.output / f"{job.id}.out"]


def _spool() -> Path:
    return Path(os.environ["SPOOL"])


def _file(job_id: str, what: str) -> Path:
    return _spool() / f"{job_id}.{what}"


def _status(job_id: str) -> JobStatus:
    state = _file(job_id, "state").read_text()
    return JobStatus(JobState(state), f"the spool: {state}")


def _send(job_id: str, number: signal.Signals) -> bool:
    with suppress(OSError, ValueError):
        os.kill(int(_file(job_id, "pid").read_text()), number)
        return True
    return False


def _run(job_id: str) -> None:
    """The life of one job: its function in a process of its own, again where it asks for that."""
    for restart in range(10):
        _file(job_id, "again").unlink(missing_ok=True)
        environment = os.environ | {"SPOOL_JOB": job_id, "SPOOL_RESTART": str(restart)}
        child = subprocess.Popen([sys.executable, __file__, job_id], env=environment)
        _file(job_id, "pid").write_text(str(child.pid))
        if _file(job_id, "state").read_text() != "cancelled":
            _file(job_id, "state").write_text("running")
        while child.poll() is None and not _file(job_id, "again").exists():
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.1)
        child.kill()
        if not _file(job_id, "again").exists():
            break
    if _file(job_id, "state").read_text() != "cancelled":
        _file(job_id, "state").write_text("failed" if child.wait() else "finished")


def _work(job_id: str) -> None:
    function, arguments = pickle.loads(_file(job_id.partition("_")[0], "pkl").read_bytes())
    function(*arguments)


SCHEDULER = Spool

if __name__ == "__main__":
    (_work if "SPOOL_JOB" in os.environ else _run)(sys.argv[1])
