"""End jobs that are queued or running; what they have saved stays."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace

from fsm_hpc.cluster import attempts, slurm, submissions
from fsm_hpc.cluster.watch import evidence, show
from fsm_hpc.cluster.watch.evidence import FoldRef
from fsm_hpc.cluster.watch.verdict import FoldVerdict, look
from fsm_hpc.system import terminal


def cancel(folds: Sequence[FoldRef], yes: bool) -> int:
    """Show what would be cancelled; do it with `yes`."""
    console = terminal.console()
    verdicts, hints = look(folds)
    show.silence(console, hints)
    live = [one for one in verdicts if one.is_live]
    if not live:
        console.print("nothing is queued or running")
        return 0
    console.print(show.fold_table(live) if len(live) <= show.MOST_ROWS else show.group_table(live))
    if not yes:
        console.print(f"{len(live)} folds would be cancelled; -y does it")
        return 0
    failed = _cancel_all(live)
    console.print(f"{len(live) - len(failed)} cancelled; `resume` goes on with them")
    if failed:
        console.print(f"SLURM did not confirm {len(failed)}: {', '.join(failed[:10])}; try again")
    return 1 if failed else 0


def _cancel_all(live: Sequence[FoldVerdict]) -> list[str]:
    """Mark the submissions first: what was wanted is on disk whatever SLURM does."""
    jobs: list[str] = []
    for one in live:
        submission = submissions.load(one.ref.paths)
        if submission is None:
            continue
        submissions.save(one.ref.paths, replace(submission, cancelled_at=time.time()))
        if submission.is_local:
            _end_local(one.ref)
        elif submission.job_id is not None:
            jobs.append(submission.job_id)
    return slurm.cancel(jobs)


def _end_local(ref: FoldRef) -> None:
    """A running worker saves and stops; one that waits for its turn finds the mark."""
    attempt = attempts.load(ref.paths)
    if attempt is not None and attempt.end is None and evidence.is_alive(attempt):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(attempt.pid, signal.SIGTERM)
