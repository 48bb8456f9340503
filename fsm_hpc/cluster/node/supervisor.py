"""Supervise one attempt at a fold: save and requeue on a signal, and record the end."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from fsm_hpc.cluster import attempts, cancellations, schedulers, submissions
from fsm_hpc.cluster.attempts import AttemptEnd
from fsm_hpc.cluster.node import cores, nodes
from fsm_hpc.cluster.node.job import requeue_job, wait_for_the_end
from fsm_hpc.cluster.node.joblog import Log
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.errors import UserError
from fsm_hpc.search.scan import ScanState
from fsm_hpc.search.solvers.names import SolverName
from fsm_hpc.study import scan_file
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import load_table
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import clock, heartbeat
from fsm_hpc.system.background import run_in_background
from fsm_hpc.system.interrupts import signal_handlers
from fsm_hpc.system.numbers import counted

if TYPE_CHECKING:
    from fsm_hpc.models.model import Model
    from fsm_hpc.search.solvers.nodes.team import Team

FENCE_S = 2.0  # interval of heartbeats, and of checks whether the attempt still owns the fold
SIGNALS = (signal.SIGUSR2, signal.SIGTERM, signal.SIGINT)


class Supervisor:
    """Supervises one attempt at one fold."""

    follows_parent = True  # if jobs end with the command: stop when the parent process has ended
    keeps_best = False  # a stopped `fit` also writes its best model so far
    started: float | None = None  # start of a command that read the table itself
    model: Model | None = None  # result of `fit`

    def __init__(self, submission: Submission, paths: FoldPaths) -> None:
        self.submission, self.paths = submission, paths
        self.stop = threading.Event()
        self.signal: signal.Signals | None = None
        self.is_fenced = False
        self.logged_lengths = 0
        self.began = clock.monotonic()  # does not count time in which the job is suspended
        self.scheduler = schedulers.named(submission.kind)
        self.environment = self.scheduler.environment()
        self.parent = os.getppid()
        self.attempt = attempts.claim(paths, submission)
        self.log = Log(paths.log, self.attempt)
        self.warn_of_losses = nodes.Losses(None, self.warn)

    def run(self) -> AttemptEnd:
        """The whole attempt, from claim to recorded end."""
        if reason := self.reason_to_resume():
            return self.finish(AttemptEnd.NEEDS_RESUME, reason)
        config = self.config_here()
        reason = self.reason_to_give_up(config)
        if reason:
            return self.finish(AttemptEnd.GAVE_UP, reason)
        with self.signals(), run_in_background(self.guard):
            try:
                self.refuse_changed_table(config)
                with nodes.helpers(config, self.submission, self.paths.log) as helpers:
                    self.warn_of_losses = nodes.Losses(helpers, self.warn)
                    done = self.fold(config, helpers)
            except UserError as error:
                self.finish(AttemptEnd.BAD_INPUT, str(error))
                raise
            except MemoryError as error:
                self.finish(AttemptEnd.OUT_OF_MEMORY, f"Python could not allocate memory: {error}")
                raise
            except (KeyboardInterrupt, SystemExit):  # a second Ctrl-C, or a closed output
                self.finish(AttemptEnd.STOPPED, "immediately")
                raise
            except Exception as error:
                with suppress(OSError):  # the error may be a full disk
                    self.log(traceback.format_exc())
                self.finish(AttemptEnd.ERROR, f"{type(error).__name__}: {error}")
                raise
            return self.finish(AttemptEnd.FINISHED) if done else self.after_interrupt(config)

    def reason_to_resume(self) -> str:
        """Why a job of another version computes nothing; empty for the same version."""
        then, now = self.submission.code.get("version"), submissions.code_now()["version"]
        if then == now:
            return ""
        return f"queued by fsm_hpc {then}, found fsm_hpc {now}; `resume` submits it with {now}"

    def reason_to_give_up(self, config: Config) -> str:
        """Why a further attempt would fail as well; empty if it may succeed."""
        lost, stuck = attempts.lost(self.attempt), attempts.stuck(self.attempt)
        if config.solver.name is SolverName.CLINGO_DL:
            stuck = 0  # clingo-dl restarts a length in every attempt until the budget is spent
        if lost + stuck <= config.cluster.max_retries:
            return ""
        if not stuck:
            return f"after {lost} lost attempts"
        return (
            f"after {stuck} attempts of {config.cluster.timeout_h:g} h without progress; "
            "run `resume` with a larger cluster.timeout_h"
        )

    def config_here(self) -> Config:
        """The submitted config, with the number of threads for the available cores."""
        config = self.submission.config_then
        if few := cores.too_few(config, self.environment):
            self.warn(few)
        then, now = self.submission.code, submissions.code_now()
        if then.get("digest") != now["digest"]:
            changes = ", ".join(f"{key} {then.get(key)} -> {now[key]}" for key in now)
            self.warn(f"the code has changed since this job was submitted: {changes}")
        threads = config.solver.threads or min(config.cluster.cpus, cores.here(self.environment))
        return replace(config, solver=replace(config.solver, threads=threads))

    def refuse_changed_table(self, config: Config) -> None:
        """Raise an error if the table changed: folds of two tables must not be averaged."""
        then = self.submission.table
        if then is None:  # submitted by an older version, or read in this process
            return
        spec, now = config.dataset, load_table(config).digest
        if now != then:
            raise UserError(
                f"the table {spec.own_path or spec.name} has changed since submission: its digest "
                f"was {then} and is {now} now; restore the table, or submit the folds again"
            )

    def fold(self, config: Config, helpers: Team | None) -> FoldResult | None:
        self.log(f"starts: {config.id}, {self.size(config)}")
        if config.fold == ALL:
            return self.fit(config, helpers)
        from fsm_hpc.study.run import run_fold

        return run_fold(
            config,
            self.stop,
            self.watch,
            self.watch_trial,
            self.may_write,
            self.history,
            say=self.warn,
            helpers=helpers,
        )

    def fit(self, config: Config, helpers: Team | None) -> FoldResult | None:
        """The fold `all`, with its model."""
        from fsm_hpc.models import fit

        fitted = fit.fit(
            config,
            self.stop,
            fit.Steps(self.begin, self.watch, self.warn),
            self.may_write,
            self.history,
            helpers=helpers,
            started=self.started,
            keeps_best=self.keeps_best,
        )
        if fitted is None or not self.may_write():
            return None
        fit.save(config, fitted, self.warn)
        self.model = fitted.model
        return fitted.result

    def size(self, config: Config) -> str:
        """Nodes and threads of the solver, for the log."""
        threads = counted(config.solver.threads or 1, "thread")
        return threads if config.nodes == 1 else f"{config.nodes} nodes of {threads}"

    def history(self) -> dict[str, Any]:
        """All jobs that worked on the result, and their warnings."""
        self.warn_of_losses()
        ids = [entry["job_id"] for entry in self.attempt.earlier] + [self.attempt.job_id]
        return {
            "job_ids": list(dict.fromkeys(ids)),
            "requeues": len(self.attempt.earlier),
            "submitted_code": self.submission.code,
            "generation": self.submission.generation,
            "attempt": self.attempt.generation,
            "warnings": list(self.attempt.warnings),
        }

    # ------------------------------------------------------------------------------- how it ends

    def after_interrupt(self, config: Config) -> AttemptEnd:
        """Stop or requeue after the state was saved, depending on the signal."""
        if self.is_fenced:
            self.log("another attempt has taken over this fold; this one stops")
            return AttemptEnd.SUPERSEDED
        if self.signal is not signal.SIGUSR2 or self.environment is None:
            by = self.signal.name if self.signal else "its parent"
            return self.leave(config, self.finish(AttemptEnd.STOPPED, f"by {by}"))
        cluster = config.cluster
        ran_s = clock.monotonic() - self.began
        at_limit = ran_s >= cluster.timeout_h * 3600 - cluster.signal_delay_s - 90
        end = AttemptEnd.TIMEOUT if at_limit else AttemptEnd.PREEMPTED
        return self.leave(config, self.finish(end, f"after {ran_s:.0f} s"))

    def leave(self, config: Config, end: AttemptEnd) -> AttemptEnd:
        """Requeue the job, or wait until the scheduler ends it.

        The exit code 0 would count as success, and a preempted job would not be requeued.
        """
        if end is not AttemptEnd.STOPPED:
            requeue_job(self.scheduler, self.attempt.job_id, config, self.log)
        elif not self.scheduler.ends_with_command:
            wait_for_the_end(600)
        return end

    def finish(self, end: AttemptEnd, message: str = "") -> AttemptEnd:
        with suppress(OSError):  # attempt.json records it as well
            self.log(f"ends: {end.value} {message}".rstrip())
        self.attempt = replace(
            self.attempt,
            end=end,
            message=message,
            ended_at=time.time(),
            progress_s=scan_file.facts(scan_file.load(self.paths.scan)).seconds,
            progress=self.progress(),
        )
        self.save()
        return end

    def progress(self) -> str:
        """A digest of the state on disk; it changes if an attempt makes progress."""
        if self.paths.trials.exists():  # the file only grows
            return str(self.paths.trials.stat().st_size)
        return scan_file.progress(scan_file.load(self.paths.scan))

    # ------------------------------------------------------------------------- during the search

    def may_write(self) -> bool:
        """Whether the attempt still owns the fold; checked before every write."""
        if not self.is_fenced and not self.is_mine():
            self.is_fenced = True
            self.stop.set()
        return not self.is_fenced

    def is_mine(self) -> bool:
        try:
            return attempts.is_mine(self.paths, self.attempt)
        except OSError as error:  # a temporary error of a shared folder; the fold is still owned
            print(f"cannot read {self.paths.folder}: {error}")
            return True

    def save(self) -> None:
        if self.may_write():
            attempts.save(self.paths, self.attempt)

    def warn(self, text: str) -> None:
        self.log(f"warning: {text}")
        self.attempt = replace(self.attempt, warnings=(*self.attempt.warnings, text))
        self.save()

    def watch(self, state: ScanState) -> None:
        self.warn_of_losses()
        if len(state.lengths) > self.logged_lengths:
            self.logged_lengths = len(state.lengths)
            last = state.lengths[-1]
            self.log(
                f"length {last.length}: {counted(last.errors, 'error')}, validation "
                f"{last.validation_accuracy:.4f}, {last.seconds:.1f} s: {last.formula}"
            )

    def begin(self, part: str) -> None:
        """Log that a part of a `fit` begins."""
        self.logged_lengths = 0
        self.log(part)

    def watch_trial(self, count: int, best: float) -> None:
        if count % 10 == 0:
            self.log(f"trial {count}: best validation {best:.4f}")

    def is_overdue(self) -> bool:
        """Whether the signal before the time limit is overdue: some sites send none."""
        cluster = self.submission.config["cluster"]
        limit_s = cluster["timeout_h"] * 3600 - cluster["signal_delay_s"] / 2
        has_limit = self.environment is not None and self.scheduler.has_time_limit
        return has_limit and clock.monotonic() - self.began > limit_s

    @contextmanager
    def signals(self) -> Iterator[None]:
        def stop(number: int, frame: FrameType | None) -> None:
            if self.stop.is_set() and number == signal.SIGINT:
                raise KeyboardInterrupt  # a second Ctrl-C stops immediately
            self.signal = self.signal or signal.Signals(number)
            self.stop.set()

        with signal_handlers(SIGNALS, stop):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # blocked by `begin`
            yield

    def guard(self, over: threading.Event) -> None:
        """Stop if another attempt owns the fold, if it is cancelled, or at the time limit.

        A job that ends with its command also stops when its parent process has ended.
        """
        is_child = self.follows_parent and self.scheduler.ends_with_command
        while not over.wait(FENCE_S):
            orphaned = is_child and os.getppid() != self.parent
            if self.is_overdue():
                self.signal = self.signal or signal.SIGUSR2
            is_cancelled = cancellations.is_cancelled(self.paths, self.submission)
            if is_cancelled:
                self.signal = self.signal or signal.SIGTERM
            if orphaned or self.is_overdue() or is_cancelled:
                self.stop.set()
            if not self.may_write():
                return
            if self.scheduler.ends_with_command:  # other schedulers know which jobs run
                heartbeat.touch(self.paths.attempt)
