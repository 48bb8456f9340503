"""Verify a study with several jobs, which share the claims."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from fsm_hpc.cluster import schedulers, study_lock
from fsm_hpc.cluster.schedulers.base import Batch, Scheduler, UnclearError
from fsm_hpc.cluster.submit import transaction
from fsm_hpc.errors import UserError
from fsm_hpc.report import verification
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import terminal
from fsm_hpc.system.interrupts import graceful_interrupt
from fsm_hpc.system.numbers import counted

MARGIN_S = 1800.0  # added to the budget, as jobs may share a processor
POLL_S = 1.0


class Budgets(NamedTuple):
    """Seconds for all claims that a job checks, and for each of them."""

    all_s: float
    each_s: float


def launch(
    folds: Sequence[FoldPaths], tables: list[str], config: Config, budgets: Budgets
) -> int | None:
    """Submit jobs for undecided claims; the exit code, or None if all have ended."""
    folds = verification.open_claims(folds, budgets.each_s)
    if not folds:
        return None
    console, scheduler = terminal.console(), schedulers.of(config)
    with study_lock.held([folds[0].study.root]):
        small = transaction.of_one_core(config, (budgets.all_s + MARGIN_S) / 3600)
        batch = _batch(folds, tables, scheduler, small, budgets)
        try:
            job_id = scheduler.submit(batch, partial(study_lock.ensure_held, folds[0].study))
        except UnclearError as error:
            raise UserError(f"{scheduler.title} did not accept the jobs: {error}") from None
    jobs, claims = counted(batch.at_a_time, "job"), counted(len(folds), "claim")
    message = f"job {job_id}: {jobs} for {claims}, the cheapest first; output in {batch.output}"
    console.print(message, soft_wrap=True)
    if scheduler.ends_with_command:
        return _stay(console, folds, scheduler)
    console.print("`collect` counts verified formulas; the same command resumes the rest")
    return 0


def _batch(
    folds: Sequence[FoldPaths],
    tables: list[str],
    scheduler: Scheduler,
    config: Config,
    budgets: Budgets,
) -> Batch:
    limits, study = scheduler.limits(config), folds[0].study
    most = min(config.cluster.max_parallel, limits.max_parallel, limits.max_array_size)
    count = min(len(folds), most)
    folders = [str(paths.folder.absolute()) for paths in folds]
    return Batch(
        scheduler.adapted(config),
        transaction.output_folder(study),
        transaction.new_job_name(study, "verify"),
        work,
        (folders, tables, budgets, scheduler.ends_with_command),
        count,
        at_a_time=count,
    )


def _stay(console: Console, folds: Sequence[FoldPaths], scheduler: Scheduler) -> int | None:
    """Show outcomes until the jobs have ended; Ctrl-C stops them."""
    printed = ""
    with graceful_interrupt() as stop:
        while scheduler.is_working() and not stop.wait(POLL_S):
            counts = verification.in_words(verification.outcomes(folds))
            if counts != printed:
                console.print(counts)
            printed = counts
        scheduler.close()
    return 130 if stop.is_set() else None


def work(folders: list[str], tables: list[str], budgets: Budgets, follows_parent: bool) -> None:
    """The work of each job; a killed job loses at most its current claim."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folds = [FoldPaths(Path(folder)) for folder in folders]
    for message in verification.verify_folds(folds, tables, *budgets):
        print(message, file=sys.stderr, flush=True)
        if follows_parent and os.getppid() != parent:
            return
