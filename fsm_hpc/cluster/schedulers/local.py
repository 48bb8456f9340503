"""Jobs as processes of this machine that run while the submitting command runs."""

from __future__ import annotations

import os
import pickle  # nosec B403 - written for a child process, never read
import platform
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
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
from fsm_hpc.system import files, heartbeat, machine, process_identity
from fsm_hpc.system.children import child_environment, module_command
from fsm_hpc.system.numbers import counted

LOOK_S = 0.1
BEAT_S = 2.0  # interval of the heartbeat of the command
GRACE_S = 60.0  # for the solvers to stop and the states to be saved
SILENT_S = 300.0  # without a heartbeat from another PID namespace: the process has ended
CONFIRM_S = 6.0  # how long an old heartbeat is watched before it counts as the last
HEARTBEAT = "waiting"  # touched while jobs of a batch wait to be started
WORKER = "fsm_hpc.cluster.node.worker"  # the module of a job; arguments: folder and number
COMMANDS = (WORKER, "fsm_hpc", "fsm-hpc")  # the others run a fold in the foreground
_ID, _RESTART = "FSM_LOCAL_JOB", "FSM_LOCAL_RESTART"
_TASK, _OUTPUT = "FSM_LOCAL_TASK", "FSM_LOCAL_OUTPUT"


@dataclass(frozen=True, slots=True)
class _Task:
    """One job of a batch."""

    batch: Batch
    job_id: str
    number: int
    restart: int = 0

    @property
    def requeue(self) -> Path:
        """The file that a job writes to be started again."""
        return _requeue_file(self.batch.output, self.number)

    @property
    def log(self) -> Path:
        return _log(self.batch.output, self.number)


class Local(Scheduler):
    """A queue in the process of the command, and a thread that runs its jobs."""

    name = "local"
    title = "this machine"
    ends_with_command = True
    has_time_limit = False

    def __init__(self) -> None:
        self._queue: deque[_Task] = deque()
        self._running: list[tuple[_Task, subprocess.Popen[bytes]]] = []
        self._batches = 0
        self._change = threading.Lock()
        self._thread: threading.Thread | None = None

    def is_available(self) -> bool:
        return True

    def adapted(self, config: Config) -> Config:
        """The config with the share of cores and memory that a job gets here."""
        cores = min(config.cluster.cpus, machine.available_cores())
        small = replace(config, cluster=replace(config.cluster, cpus=cores))
        share_gb = machine.physical_mb() / 1024 / self.limits(small).max_parallel / config.nodes
        mem_gb = min(config.cluster.mem_gb, share_gb)
        return replace(small, cluster=replace(small.cluster, mem_gb=mem_gb))

    def limits(self, config: Config) -> SiteLimits:
        """The number of folds of this size that may run at the same time."""
        cores = min(config.cluster.cpus, machine.available_cores())
        held = machine.available_cores() // (config.nodes * cores)
        return SiteLimits(
            max_parallel=max(1, min(held, config.cluster.max_parallel)), starts_quickly=True
        )

    def submit(self, batch: Batch, before: Callable[[], None] = lambda: None) -> str:
        before()
        self._batches += 1
        more = f".{self._batches}" if self._batches > 1 else ""
        job_id = f"{job_id_of_process()}{more}"
        (batch.output / HEARTBEAT).touch()
        with self._change:
            if batch.count is None:
                self._queue.append(_Task(batch, job_id, 0))
            else:
                self._queue += [_Task(batch, f"{job_id}_{n}", n) for n in range(batch.count)]
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        return job_id

    def is_working(self) -> bool:
        with self._change:
            return bool(self._queue or self._running)

    def close(self) -> None:
        """Stop running jobs, which save their state, and discard waiting ones."""
        with self._change:
            self._queue.clear()
            processes = [process for _, process in self._running]
        for process in processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            if process.poll() is None:
                process.kill()
        if self._thread is not None:
            self._thread.join(GRACE_S)

    def report(self, jobs: Collection[JobRecord]) -> JobReport:
        hidden = [job for job in jobs if process_identity.is_running(job.process) is None]
        beats = {job.heartbeat for job in hidden if job.heartbeat is not None}
        silent = heartbeat.silent(beats, SILENT_S, CONFIRM_S)
        return JobReport({job.id: _status(job, silent) for job in jobs})

    def find(self, names: Collection[str]) -> dict[str, str] | None:
        """No job: an incomplete submission ended with its command."""
        return {}

    def cancel(self, jobs: Sequence[JobRecord]) -> dict[str, str]:
        """Stop running processes; other jobs read in their files that they are cancelled."""
        running = [job for job in jobs if job.has_begun and not job.is_stopped]
        visible = [job for job in running if process_identity.is_running(job.process)]
        return {
            job.id: f"{_process(job)} may not belong to {job.fold}: it was not stopped"
            for job in visible
            if not end(job)
        }

    def requeue(self, job_id: str) -> bool:
        here = self.environment()
        output = os.environ.get(_OUTPUT)
        if here is None or output is None or here.job_id != job_id:
            return False
        _requeue_file(Path(output), here.task).touch()
        return True

    def warn(self, job_id: str) -> bool:
        with self._change:
            processes = [process for task, process in self._running if task.job_id == job_id]
        for process in processes:
            process.send_signal(signal.SIGUSR2)
        return bool(processes)

    def environment(self) -> JobEnvironment | None:
        job_id = os.environ.get(_ID)
        if job_id is None:
            return None
        restart, task = (int(os.environ.get(name, "0")) for name in (_RESTART, _TASK))
        return JobEnvironment(job_id, restart, task)

    def checks(self, config: Config) -> Iterator[Check]:
        cores, memory_gb = machine.available_cores(), machine.physical_mb() / 1024
        folds = counted(self.limits(config).max_parallel, "fold")
        text = f"{counted(cores, 'core')}, {memory_gb:.0f} GB: {folds} at a time"
        yield Check("this machine", Grade.OK, text)

    def outputs(self, job: JobRecord) -> list[Path]:
        number = job.id.rpartition("_")[2]
        if job.output is None or not number.isdigit():
            return []
        path = _log(job.output, int(number))
        return [path] if path.exists() else []

    # ----------------------------------------------------------------------------- the thread

    def _work(self) -> None:
        beat = 0.0
        while self.is_working():
            if time.monotonic() - beat > BEAT_S:
                beat = time.monotonic()
                self._touch_heartbeats()
            with self._change:
                self._collect()
                while self._queue and len(self._running) < self._queue[0].batch.at_a_time:
                    task = self._queue.popleft()
                    self._running.append((task, _start(task)))
            time.sleep(LOOK_S)
        self._thread = None

    def _touch_heartbeats(self) -> None:
        with self._change:
            outputs = {task.batch.output for task in self._queue}
        for output in outputs:
            heartbeat.touch(output / HEARTBEAT)

    def _collect(self) -> None:
        """Remove ended jobs, and queue those again that requested it."""
        ended = [pair for pair in self._running if pair[1].poll() is not None]
        self._running = [pair for pair in self._running if pair not in ended]
        for task, _ in ended:
            with suppress(OSError):
                if task.log.stat().st_size == 0:
                    task.log.unlink()
            if task.requeue.exists():
                task.requeue.unlink()
                self._queue.append(replace(task, restart=task.restart + 1))


def job_id_of_process() -> str:
    """The job id of a fold that this process runs or starts."""
    return f"local/{platform.node()}/{os.getpid()}"


def _start(task: _Task) -> subprocess.Popen[bytes]:
    batch = task.batch
    own = {_ID: task.job_id, _RESTART: str(task.restart), _TASK: str(task.number)}
    with _errors_to(task.log) as log:
        process = subprocess.Popen(
            module_command(WORKER, str(batch.output), str(task.number)),
            env=child_environment() | own | {_OUTPUT: str(batch.output)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # the log of the fold contains it
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches only the command, which signals the jobs
        )
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as stream:
        stream.write(pickle.dumps((batch.task, batch.arguments)))
    return process


@contextmanager
def _errors_to(path: Path) -> Iterator[int]:
    try:
        with files.open_to_append(path) as stream:
            yield stream.fileno()
    except OSError:
        yield subprocess.DEVNULL


def _requeue_file(output: Path, number: int) -> Path:
    return output / f"{number}_requeue"


def _log(output: Path, number: int) -> Path:
    return output / f"{number}_log.out"


def _status(job: JobRecord, silent: dict[Path, bool | None]) -> JobStatus:
    if job.is_stopped:
        return JobStatus(JobState.WITHDRAWN, "stopped")
    is_running = process_identity.is_running(job.process)
    if is_running is None:
        return _hidden(job, silent.get(job.heartbeat) if job.heartbeat else None)
    if is_running:
        return _LIVE[job.has_begun]
    if job.has_begun:
        return JobStatus(JobState.LOST, f"{_process(job)} has ended")
    return _GONE


def _process(job: JobRecord) -> str:
    return f"process {_pid(job)}"


def _pid(job: JobRecord) -> int:
    return int(job.process.split("/")[2]) if job.process else 0


def end(job: JobRecord) -> bool:
    """Signal the process of the job to save and stop.

    False unless process id, start time and command line show that it belongs to this program.
    """
    pid = _pid(job)
    if pid <= 1 or job.process != process_identity.of(pid):
        return False
    if not any(Path(word).name in COMMANDS for word in machine.command_line(pid)[:4]):
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has ended meanwhile
    except PermissionError:
        return False
    return True


_GONE = JobStatus(JobState.WITHDRAWN, "stopped before it started")
_LIVE = {
    True: JobStatus(JobState.RUNNING),
    False: JobStatus(JobState.WAITING, reason="waits for a free core"),
}


def _hidden(job: JobRecord, is_silent: bool | None) -> JobStatus:
    """The status of a process of another machine or container, from its heartbeat."""
    if not job.has_begun:
        return _LIVE[False] if is_silent is False else _GONE
    if is_silent:
        return JobStatus(JobState.LOST, f"no heartbeat from {job.host}")
    if is_silent is False and job.process:
        return JobStatus(JobState.RUNNING, reason=f"on {job.host}")
    return JobStatus(JobState.UNKNOWN, f"may still run on {job.host}")


SCHEDULER = Local
