"""The job's side: run a fold, save and requeue when signalled, and say how it ended."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any

from fsm_hpc.cluster import attempts, slurm, submissions
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node.joblog import Log
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.errors import UserError
from fsm_hpc.search.scan import ScanState
from fsm_hpc.study import scan_file
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import fold_paths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import machine
from fsm_hpc.system.beside import beside

BEAT_S = 30.0  # how often an attempt without SLURM shows that it lives
FENCE_S = 2.0  # how soon an attempt notices that the fold is no longer its own
SIGNALS = (signal.SIGUSR2, signal.SIGTERM, signal.SIGINT)


def work(submitted: dict[str, Any]) -> str:
    """Run one submitted fold; this is what submitit calls on a node. Returns how it ended."""
    submission = Submission(**submitted)
    return begin_attempt(Supervisor, submission, fold_paths(submission.config_then)).value


def begin_attempt(
    supervisor: type[Supervisor], submission: Submission, paths: FoldPaths
) -> AttemptEnd:
    """Run what was submitted, unless it was taken over or cancelled before it began."""
    latest = submissions.load(paths)
    if latest is not None and latest.token != submission.token:
        print(f"superseded by job {latest.job_id}: nothing to do")
        return AttemptEnd.SUPERSEDED
    if latest is not None and latest.cancelled_at is not None:
        print("cancelled before it began: nothing to do")
        return AttemptEnd.STOPPED
    return supervisor(submission, paths).run()


class Supervisor:
    """Watches over one attempt at one fold."""

    follows_parent = True  # without SLURM: ends when the process that started it is gone

    def __init__(self, submission: Submission, paths: FoldPaths) -> None:
        self.submission, self.paths = submission, paths
        self.stop = threading.Event()
        self.signal: signal.Signals | None = None
        self.is_fenced = False
        self.lengths_told = 0
        self.parent = os.getppid()
        self.attempt = attempts.claim(paths, submission)
        self.log = Log(paths.log, self.attempt)

    @property
    def is_slurm(self) -> bool:
        return not self.submission.is_local

    def run(self) -> AttemptEnd:
        """The whole attempt, from claim to recorded end."""
        config = self.config_here()
        if attempts.retries(self.attempt) > config.cluster.max_retries:
            return self.finish(
                AttemptEnd.GAVE_UP, f"after {attempts.retries(self.attempt)} lost attempts"
            )
        with self.signals(), beside(self.guard):
            try:
                done = self.fold(config)
            except UserError as error:
                self.finish(AttemptEnd.BAD_INPUT, str(error))
                raise
            except MemoryError as error:
                self.finish(AttemptEnd.OUT_OF_MEMORY, f"Python got no memory: {error}")
                raise
            except (KeyboardInterrupt, SystemExit):  # the second Ctrl-C, or nobody reads any more
                self.finish(AttemptEnd.STOPPED, "at once")
                raise
            except Exception as error:
                self.log(traceback.format_exc())
                self.finish(AttemptEnd.ERROR, f"{type(error).__name__}: {error}")
                raise
            return self.finish(AttemptEnd.FINISHED) if done else self.after_interrupt(config)

    def config_here(self) -> Config:
        """The config of the time of submission, with the cores that are really here."""
        config = self.submission.config_then
        cores = machine.available_cores()
        asked = min(config.cluster.cpus, os.cpu_count() or 1)
        if cores < asked:
            self.warn(f"asked for {config.cluster.cpus} cores, may use {cores}; see `doctor`")
        then, now = self.submission.code, submissions.code_now()
        if then.get("digest") != now["digest"]:
            told = ", ".join(f"{key} {then.get(key)} -> {now[key]}" for key in now)
            self.warn(f"the code has changed since this job was submitted: {told}")
        threads = config.solver.threads or min(config.cluster.cpus, cores)
        return replace(config, solver=replace(config.solver, threads=threads))

    def fold(self, config: Config) -> FoldResult | None:
        from fsm_hpc.study.run import run_fold

        self.log(f"starts: {config.id}, {config.solver.threads} threads")
        return run_fold(
            config, self.stop, self.watch, self.watch_trial, self.may_write, self.history
        )

    def history(self) -> dict[str, Any]:
        """All jobs that worked on the result, and what they have to say."""
        ids = [entry["job_id"] for entry in self.attempt.earlier] + [self.attempt.job_id]
        return {
            "job_ids": list(dict.fromkeys(ids)),
            "requeues": len(self.attempt.earlier),
            "submitted_code": self.submission.code,
            "warnings": list(self.attempt.warnings),
        }

    # ------------------------------------------------------------------------------- how it ends

    def after_interrupt(self, config: Config) -> AttemptEnd:
        """The state is saved; what follows depends on who asked to stop."""
        if self.is_fenced:
            self.log("another attempt has taken this fold over; leaving it alone")
            return AttemptEnd.SUPERSEDED
        if self.signal is not signal.SIGUSR2 or not self.is_slurm:
            self.finish(
                AttemptEnd.STOPPED, f"by {self.signal.name if self.signal else 'its parent'}"
            )
            if self.is_slurm:
                # leaving now would look like success, and a preempted job would not come back
                _wait_for_the_end(600)
            return AttemptEnd.STOPPED
        return self.requeue(config)

    def requeue(self, config: Config) -> AttemptEnd:
        cluster = config.cluster
        ran_s = time.time() - self.attempt.started_at
        at_limit = ran_s >= cluster.timeout_h * 3600 - cluster.signal_delay_s - 90
        end = self.finish(
            AttemptEnd.TIMEOUT if at_limit else AttemptEnd.PREEMPTED, f"after {ran_s:.0f} s"
        )
        patience_s = time.monotonic() + cluster.signal_delay_s + 600  # SLURM ends it before
        while time.monotonic() < patience_s:
            if slurm.requeue(self.attempt.job_id):
                self.log("requeued")
                _wait_for_the_end(60)
                return end
            self.log("scontrol requeue failed, trying again")
            time.sleep(5)
        return end

    def finish(self, end: AttemptEnd, message: str = "") -> AttemptEnd:
        self.log(f"ends: {end.value} {message}".rstrip())
        self.attempt = replace(
            self.attempt,
            end=end,
            message=message,
            ended_at=time.time(),
            progress_s=scan_file.facts(self.paths.scan).seconds,
        )
        self.save()
        return end

    # ------------------------------------------------------------------------- what goes on beside

    def may_write(self) -> bool:
        """Asked before every write: nothing that a fenced attempt knows may reach the disk."""
        if not self.is_fenced and not self.is_mine():
            self.is_fenced = True
            self.stop.set()
        return not self.is_fenced

    def is_mine(self) -> bool:
        try:
            return attempts.is_mine(self.paths, self.attempt)
        except OSError as error:  # a shared folder has its moments; nobody has taken the fold
            print(f"cannot look at {self.paths.folder}: {error}")
            return True

    def save(self) -> None:
        if self.may_write():
            attempts.save(self.paths, self.attempt)

    def warn(self, text: str) -> None:
        self.log(f"warning: {text}")
        self.attempt = replace(self.attempt, warnings=(*self.attempt.warnings, text))
        self.save()

    def watch(self, state: ScanState) -> None:
        if len(state.lengths) > self.lengths_told:
            self.lengths_told = len(state.lengths)
            last = state.lengths[-1]
            self.log(
                f"length {last.length}: {last.errors} errors, validation "
                f"{last.validation_accuracy:.4f}, {last.seconds:.1f} s: {last.formula}"
            )

    def watch_trial(self, count: int, best: float) -> None:
        if count % 10 == 0:
            self.log(f"trial {count}: best validation {best:.4f}")

    def is_overdue(self) -> bool:
        """The signal before the time limit should have come, and has not: some sites send none."""
        cluster = self.submission.config["cluster"]
        limit_s = cluster["timeout_h"] * 3600 - cluster["signal_delay_s"] / 2
        return self.is_slurm and time.time() - self.attempt.started_at > limit_s

    @contextmanager
    def signals(self) -> Iterator[None]:
        def stop(number: int, frame: FrameType | None) -> None:
            if self.stop.is_set() and number == signal.SIGINT:
                raise KeyboardInterrupt  # the second Ctrl-C does not wait
            self.signal = self.signal or signal.Signals(number)
            self.stop.set()

        before = {number: signal.signal(number, stop) for number in SIGNALS}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # held back by `begin`
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def guard(self, over: threading.Event) -> None:
        """Stop when another attempt takes the fold, or when a local parent is gone.

        SLURM knows who lives; elsewhere other machines see it by the attempt's time.
        """
        beat = 0.0
        while not over.wait(FENCE_S):
            is_child = self.follows_parent and not self.is_slurm
            orphaned = is_child and os.getppid() != self.parent
            if self.is_overdue():
                self.signal = self.signal or signal.SIGUSR2
            if orphaned or self.is_overdue():
                self.stop.set()
            if self.stop.is_set() or not self.may_write():
                return
            if not self.is_slurm and time.monotonic() >= beat:
                beat = time.monotonic() + BEAT_S
                with suppress(OSError):
                    os.utime(self.paths.attempt)


def _wait_for_the_end(limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
    """SLURM is about to kill this process."""
    deadline = clock() + limit_s
    while clock() < deadline:
        time.sleep(1)
