"""Submit the folds of a sweep, and tell what happened to each."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from rich.console import Console

from fsm_hpc.cluster import schedulers, study_lock
from fsm_hpc.cluster.schedulers.base import Scheduler
from fsm_hpc.cluster.submit import afterwards, transaction
from fsm_hpc.cluster.submit.afterwards import NOTHING, Afterwards
from fsm_hpc.cluster.submit.plan import Decision, decide, refuse
from fsm_hpc.cluster.watch import progress as watch
from fsm_hpc.cluster.watch import show
from fsm_hpc.cluster.watch.fold_files import FoldRef
from fsm_hpc.cluster.watch.states import check_code, fold_states
from fsm_hpc.study import variants
from fsm_hpc.study.config import Config
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import ALL
from fsm_hpc.system import terminal
from fsm_hpc.system.interrupts import signal_handlers
from fsm_hpc.system.numbers import counted

LOOK_S = 2.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Options:
    """What a command may say about a submission, beside its settings."""

    wait: bool = False  # stay until the jobs have ended
    afterwards: Afterwards = NOTHING


def launch(configs: Sequence[Config], options: Options, stays: bool = False) -> int:
    """Submit what is missing. Returns in seconds, or where jobs end with the command, after them.

    `stays`: each fold goes on in the folder that it has, whatever its settings are now.
    """
    console = terminal.console()
    before = variants.load_defaults(configs)
    folds = configs if stays else variants.assign_variants(configs, before)
    refuse(folds)  # before anything is touched
    studies = [StudyPaths(root) for root in before]
    with study_lock.held(before):
        for message in transaction.recover(studies):
            console.print(message, soft_wrap=True)
        if not stays and variants.load_defaults(configs) != before:  # by who held it until now
            folds = variants.assign_variants(configs)
        decisions, reports = decide(folds)
        for root in before:
            study_lock.ensure_held(StudyPaths(root))
        variants.save_defaults([decision.config for decision in decisions if decision.is_submitted])
        show.unresponsive_commands(console, reports)
        scheduler = schedulers.of(configs[0])
        _submit(console, decisions)
        if options.afterwards and not scheduler.ends_with_command:
            job_id = afterwards.send(options.afterwards, configs[0], decisions)
            console.print(f"job {job_id} runs after them: {options.afterwards}")
    if scheduler.ends_with_command:
        return _run_here(console, decisions, scheduler, options.afterwards)
    if not options.wait:
        if any(decision.is_submitted for decision in decisions):
            out = configs[0].out if configs[0].fold == ALL else None
            which = f"out={out}" if out else "(with the same overrides)"
            console.print(f"watch them: python -m fsm_hpc status -w {which}", soft_wrap=True)
        return 0
    return stay(console, [decision.ref for decision in decisions], scheduler)


def _run_here(
    console: Console, decisions: Sequence[Decision], scheduler: Scheduler, follow_up: Afterwards
) -> int:
    """Stay until the jobs of this command have ended; a signal ends them before."""
    if scheduler.is_working():
        console.print("Ctrl-C saves the folds; the same command continues them")
    with _stop_requests() as stop:
        with watch.SweepProgress(console, [d.ref for d in decisions if d.is_submitted]) as progress:
            while scheduler.is_working() and not stop:
                progress.refresh()
                time.sleep(LOOK_S / 20)
        if stop:
            console.print("stopping: the folds save their states")
        scheduler.close()
    statuses, _ = fold_states([decision.ref for decision in decisions])
    show.folds(console, statuses)
    if not stop and follow_up:
        afterwards.here(follow_up, decisions)
    return 130 if stop else check_code(statuses)


@contextmanager
def _stop_requests() -> Iterator[list[int]]:
    """The signals to stop that have arrived."""
    signals: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        signals.append(number)

    with signal_handlers(STOP_SIGNALS, note):
        yield signals


def _submit(console: Console, decisions: Sequence[Decision]) -> None:
    count = 0
    for sent in transaction.submit(decisions):
        count += len(sent.job_ids)
        first = sent.job_ids[0].split("_")[0]
        jobs = counted(len(set(sent.job_ids)), "job")
        after = f", after job {', '.join(sent.after)} has ended" if sent.after else ""
        line = f"job {first}: {jobs}, {sent.array.at_a_time} at a time{after}"
        console.print(line, style="bold")
    show.decisions(console, decisions, "submitted")
    console.print(f"{count} submitted, {len(decisions) - count} skipped")


def stay(console: Console, folds: Sequence[FoldRef], scheduler: Scheduler) -> int:
    """Watch until nobody works on the folds; Ctrl-C leaves them running."""
    idle_since: float | None = None
    try:
        with watch.SweepProgress(console, folds) as progress:
            while idle_since is None or time.monotonic() - idle_since < scheduler.settle_s:
                progress.refresh(LOOK_S)
                if all(status.is_done for status in progress.statuses) and progress.statuses:
                    break
                live = not progress.statuses or any(status.is_live for status in progress.statuses)
                idle_since = None if live else idle_since or time.monotonic()
                time.sleep(LOOK_S / 4)
    except KeyboardInterrupt:
        console.print("the display has ended; the jobs continue")
    statuses, _ = fold_states(folds)
    show.folds(console, statuses)
    return check_code(statuses)
