"""Run several folds in one job, with one process per core."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import FrameType

from fsm_hpc.cluster import attempts, schedulers
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node import cores, job
from fsm_hpc.cluster.node.joblog import Log
from fsm_hpc.cluster.node.supervisor import SIGNALS, Supervisor
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.errors import UserError
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import load_dataset
from fsm_hpc.system import clock, machine
from fsm_hpc.system.files import UnreadableError, open_to_append
from fsm_hpc.system.interrupts import signal_handlers
from fsm_hpc.system.numbers import counted

LOOK_S = 1.0
MEMORY_SHARE = 0.95  # of the memory per core; a process that needs more gets an error
LEAST_MORE_MB = 256  # that a process may allocate in any case
Member = tuple[FoldPaths, Submission]
_FORK = multiprocessing.get_context("fork")  # code and tables are loaded once, before the fork


class PackedSupervisor(Supervisor):
    """Supervises one fold of a job; the job is requeued after all folds have stopped."""

    def __init__(self, submission: Submission, paths: FoldPaths, began: float) -> None:
        super().__init__(submission, paths)
        self.began = began  # of the job, whose time limit it is
        self.log = Log(paths.log, self.attempt, is_told=False)

    def config_here(self) -> Config:
        """The config with one core and its share of the memory."""
        config = super().config_here()
        cluster = config.cluster
        own = replace(cluster, cpus=1, mem_gb=cluster.mem_gb / cluster.cpus)
        return replace(config, cluster=own, solver=replace(config.solver, threads=1))

    def leave(self, config: Config, end: AttemptEnd) -> AttemptEnd:
        return end


class Pack:
    """The first process of the job: assigns folds to processes, and records failures."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._scheduler = schedulers.named(members[0][1].kind)
        self._job = self._scheduler.environment()
        self._config = members[0][1].config_then
        self._began = clock.monotonic()
        self._parent = os.getppid()
        self._signal: signal.Signals | None = None

    def run(self) -> AttemptEnd:
        """Run all remaining folds; folds that ran when the job was killed come last, one by one."""
        with signal_handlers(SIGNALS, self._note):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # blocked by `begin`
            states = [(member, _state(*member)) for member in self._members]
            left = [member for member, state in states if state is _LEFT]
            suspects = [member for member, state in states if state is _SUSPECT]
            count = min(self._config.cluster.cpus, cores.here(self._job), max(1, len(left)))
            print(f"{counted(len(left) + len(suspects), 'fold')} in {count} processes", flush=True)
            _load(self._members)
            self._work_through(left, count)
            for suspect in suspects:
                self._work_through([suspect], 1)
            return self._end()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signal = self._signal or signal.Signals(number)

    def _work_through(self, members: Iterable[Member], count: int) -> None:
        queue, workers = deque(members), list[_Worker]()
        while workers or (queue and not self._is_stopped()):
            while queue and len(workers) < count and not self._is_stopped():
                workers.append(_Worker.start(queue.popleft(), self._began))
            wait([end for worker in workers for end in worker.ends], LOOK_S)
            for worker in list(workers):
                is_free = not worker.is_busy()
                if is_free and worker.accepts_more and queue and not self._is_stopped():
                    worker.give(queue.popleft())
                elif is_free:
                    workers.remove(worker)
                    worker.close()
                elif self._signal is not None:
                    worker.send(self._signal)

    def _is_stopped(self) -> bool:
        """Whether no further fold may begin.

        Reasons are a signal, the time limit, or the end of the command that runs the job.
        """
        cluster = self._config.cluster
        limit_s = cluster.timeout_h * 3600 - cluster.signal_delay_s / 2
        if self._scheduler.has_time_limit and clock.monotonic() - self._began > limit_s:
            self._signal = self._signal or signal.SIGUSR2
        if self._scheduler.ends_with_command and os.getppid() != self._parent:
            self._signal = self._signal or signal.SIGTERM
        return self._signal is not None

    def _end(self) -> AttemptEnd:
        left = [member for member in self._members if _state(*member) is not _OVER]
        if self._signal is None and any(self._was_interrupted(*member) for member in left):
            self._signal = signal.SIGUSR2  # its fold noticed the time limit before the job did
        if self._signal is None or not left:
            return AttemptEnd.FINISHED
        if self._signal is signal.SIGUSR2 and self._job is not None:
            job.requeue_job(self._scheduler, self._job.job_id, self._config, print)
            return AttemptEnd.TIMEOUT
        if not self._scheduler.ends_with_command:
            job.wait_for_the_end(600)
        return AttemptEnd.STOPPED

    def _was_interrupted(self, paths: FoldPaths, submission: Submission) -> bool:
        """Whether a fold saved its state at the time limit since the job was last started."""
        attempt = attempts.load(paths)
        return (
            self._job is not None
            and attempt is not None
            and (attempt.token, attempt.restart) == (submission.token, self._job.restart)
            and attempt.end in (AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED)
        )


_LEFT, _SUSPECT, _OVER = "left", "suspect", "over"
_GOES_ON = (AttemptEnd.TIMEOUT, AttemptEnd.PREEMPTED, AttemptEnd.STOPPED)


def _state(paths: FoldPaths, submission: Submission) -> str:
    """Whether a fold remains, and whether it ran when the job was killed."""
    try:
        attempt = attempts.load(paths)
    except UnreadableError:  # a newer version has taken over the fold
        return _OVER
    if attempt is None or attempt.token != submission.token or attempt.end in _GOES_ON:
        return _LEFT
    return _SUSPECT if attempt.end is None else _OVER


def _load(members: Sequence[Member]) -> None:
    """Load code and tables before the fork, so that processes share them."""
    import fsm_hpc.study.run  # noqa: F401

    configs = [submission.config_then for _, submission in members]
    for config in configs:
        with suppress(UserError, OSError):  # the fold reports the error
            load_dataset(config.dataset, config.data_dir, config.allow_changed_data)
    if any(config.solver.name is not SolverName.CLINGO_DL for config in configs):
        from fsm_hpc.search.solvers.native.compiling import ensure_compiled

        ensure_compiled()


@dataclass(slots=True)
class _Worker:
    """A process that runs one fold after the other."""

    process: ForkProcess
    connection: Connection
    member: Member | None
    accepts_more: bool = True  # it can run another fold

    @classmethod
    def start(cls, member: Member, began: float) -> _Worker:
        ours, theirs = _FORK.Pipe()
        process = _FORK.Process(target=_run_folds, args=(theirs, began), daemon=False)
        process.start()
        theirs.close()
        worker = cls(process, ours, None)
        worker.give(member)
        return worker

    @property
    def ends(self) -> tuple[Connection, int]:
        """Handles that become ready when the process sends a message or ends."""
        return self.connection, self.process.sentinel

    def give(self, member: Member) -> None:
        self.member = member
        with suppress(BrokenPipeError):
            self.connection.send(member)

    def is_busy(self) -> bool:
        """Whether it works on a fold; records the failure of the fold if the process died."""
        if self.member is None:
            return False
        if self.connection.poll():
            with suppress(EOFError, ConnectionResetError):
                self.accepts_more = self.connection.recv()
                self.member = None
        if self.member is not None and not self.process.is_alive():
            _record_death(self.member, self.process)
            self.member, self.accepts_more = None, False
        return self.member is not None

    def send(self, number: signal.Signals) -> None:
        if self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def close(self) -> None:
        self.connection.close()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _record_death(member: Member, process: ForkProcess) -> None:
    """Record for a fold how its process died."""
    paths, submission = member
    with suppress(OSError, UnreadableError):
        attempt = attempts.load(paths)
        if attempt is None or attempt.token != submission.token or attempt.end is not None:
            return
        code = process.exitcode or 0
        is_killed = code == -signal.SIGKILL
        end = AttemptEnd.OUT_OF_MEMORY if is_killed else AttemptEnd.ERROR
        name = signal.Signals(-code).name if code < 0 else f"code {code}"
        reason = ", probably by the memory limit" if is_killed else ""
        message = f"its process ended with {name}{reason}; the other folds of its job continued"
        attempts.save(paths, replace(attempt, end=end, message=message))


def _run_folds(connection: Connection, began: float) -> None:
    """Run folds until there are no more; after an error a new process takes over."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # between folds only the first process handles them
    with suppress(EOFError):
        while True:
            paths, submission = connection.recv()
            may_continue = _run_fold(paths, submission, began)
            connection.send(may_continue)
            if not may_continue:
                break
    sys.stdout.flush()
    os._exit(0)


def _run_fold(paths: FoldPaths, submission: Submission, began: float) -> bool:
    """Run a fold; returns whether the process may run another one."""
    try:
        _limit_memory(submission.config_then)
        with open_to_append(paths.log) as log:
            os.dup2(log.fileno(), sys.stderr.fileno())

        job.begin_attempt(partial(PackedSupervisor, began=began), submission, paths)
    except UserError:
        return True  # the fold reported it
    except BaseException as error:
        print(f"{paths.folder}: {type(error).__name__}: {error}", flush=True)
        return False
    return True


def _limit_memory(config: Config) -> None:
    """Limit this process to its share of the memory, so that it cannot end the whole job."""
    share_mb = MEMORY_SHARE * config.cluster.mem_gb * 1024 / config.cluster.cpus
    limit_mb = max(share_mb, machine.data_mb() + LEAST_MORE_MB)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = int(limit_mb * 2**20)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
