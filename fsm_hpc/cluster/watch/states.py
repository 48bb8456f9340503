"""Tell from its files, and from SLURM's hints, where a fold stands."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from fsm_hpc.cluster.records import Attempt, End, Submission
from fsm_hpc.cluster.slurm import Hint, Hints, ask
from fsm_hpc.cluster.watch import evidence
from fsm_hpc.cluster.watch.evidence import Evidence, Target
from fsm_hpc.study import result

BEING_SUBMITTED_S = 300.0  # how long sbatch may take to answer


class State(Enum):
    """Where a fold stands; docs/cluster.md explains each word."""

    DONE = "done"
    TIMEOUT = "timeout"  # done with what the budget allowed; a larger one goes on
    OUT_OF_MEMORY = "out of memory"  # likewise, or killed without a result
    RUNNING = "running"
    QUEUED = "queued"
    UNKNOWN = "unknown"  # SLURM does not say
    PARTIAL = "partial"  # begun, and nobody works on it
    LOST = "lost"  # its job is gone without a word
    CANCELLED = "cancelled"
    FAILED = "failed"
    CHANGED = "changed"  # the result is of other settings
    MISSING = "missing"  # never begun


LIVE = frozenset([State.RUNNING, State.QUEUED, State.UNKNOWN])


@dataclass(frozen=True, slots=True)
class FoldStatus:
    """One line of `status`."""

    target: Target
    state: State
    why: str = ""
    has_result: bool = False
    length: int | None = None
    best_validation: float | None = None
    test_accuracy: float | None = None
    elapsed_s: float | None = None
    job_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """There is a result, and nobody is improving it."""
        return self.has_result and self.state in (State.DONE, State.TIMEOUT, State.OUT_OF_MEMORY)

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def is_failed(self) -> bool:
        """It will not come to an end by itself."""
        ended = (State.FAILED, State.LOST, State.CANCELLED, State.OUT_OF_MEMORY)
        return self.state in ended and not self.is_done

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "dataset": self.target.dataset,
            "method": self.target.method,
            "fold": self.target.fold,
            "state": self.state.value,
            "why": self.why,
            "done": self.is_done,
            "failed": self.is_failed,
            "length": self.length,
            "best_validation": self.best_validation,
            "test_accuracy": self.test_accuracy,
            "elapsed_s": self.elapsed_s,
            "job_id": self.job_id,
            "warnings": list(self.warnings),
            "folder": str(self.target.paths.folder),
        }


def look(targets: Sequence[Target]) -> tuple[list[FoldStatus], Hints]:
    """The state of every fold; asks SLURM only about folds that their files leave open."""
    with _without_collector():
        found = [evidence.gather(target) for target in targets]
    unclear = [e.job_id for e in found if e.needs_slurm and e.job_id is not None]
    hints = ask(unclear)
    return [judge(e, hints) for e in found], hints


@contextmanager
def _without_collector() -> Iterator[None]:
    """Thousands of parsed files make the garbage collector look for cycles that are not there."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def judge(found: Evidence, hints: Hints) -> FoldStatus:
    """The state of one fold."""
    if found.trouble:
        return FoldStatus(found.target, State.UNKNOWN, found.trouble)
    hint = hints.jobs.get(found.job_id or "")
    if found.result is not None and not _is_reopened(found, hint, hints):
        return _with_result(found, found.result)
    state, why = _without_result(found, hint, hints)
    scan = found.scan
    return FoldStatus(
        found.target,
        state,
        why,
        has_result=found.result is not None,
        length=scan.length,
        best_validation=scan.best_validation,
        elapsed_s=scan.seconds if scan.seconds else None,
        job_id=found.job_id,
        warnings=found.attempt.warnings if found.attempt else (),
    )


def _is_reopened(found: Evidence, hint: Hint | None, hints: Hints) -> bool:
    """A newer submission works on a fold that has a result."""
    return found.submission is not None and _without_result(found, hint, hints)[0] in LIVE


def _with_result(found: Evidence, done: dict[str, Any]) -> FoldStatus:
    state, why = State.DONE, done.get("stop_reason", "").replace("_", " ")
    config = found.target.config
    if config is not None:
        digest = found.target.data_digest or done["settings"].get("data", "")
        now = result.settings_that_matter(config, digest)
        changed = result.differences(done["settings"], now)
        if changed:
            state, why = State.CHANGED, ", ".join(changed)
    if state is State.DONE and done.get("stop_reason") == "timeout":
        state, why = State.TIMEOUT, "fell back to the best finished length"
    elif state is State.DONE and done.get("stop_reason") == "out_of_memory":
        state, why = State.OUT_OF_MEMORY, "fell back to the best finished length"
    elif state is State.DONE and done.get("formula") and not done.get("proved"):
        state, why = State.TIMEOUT, "the final formula is not proved"
    return FoldStatus(
        found.target,
        state,
        why,
        has_result=True,
        length=done.get("length_bound"),
        best_validation=done["accuracy"]["validation"],
        test_accuracy=done["accuracy"]["test"],
        elapsed_s=done["seconds"]["total"],
        job_id=found.job_id,
        warnings=tuple(done.get("provenance", {}).get("warnings", ())),
    )


def _without_result(found: Evidence, hint: Hint | None, hints: Hints) -> tuple[State, str]:
    submission, attempt = found.submission, found.attempt
    if submission is None:
        return (State.PARTIAL, found.resumes) if found.scan.exists else (State.MISSING, "")
    if attempt is None or attempt.token != submission.token:
        return _not_begun(found, submission, hint, hints)
    if attempt.end is None:
        return _open(found, submission, attempt, hint, hints)
    return _ended(found, submission, attempt, hint, hints)


def _not_begun(
    found: Evidence, submission: Submission, hint: Hint | None, hints: Hints
) -> tuple[State, str]:
    if submission.job_id is None:
        if time.time() - submission.submitted_at < BEING_SUBMITTED_S:
            return State.QUEUED, "being submitted"
        return _or_partial(found, State.MISSING, "the submission was never confirmed")
    if submission.kind == "local":
        if evidence.runs_here(submission):
            return State.QUEUED, "waits for a free core"
        return _or_partial(found, State.MISSING, "stopped before its turn")
    if hint is not None and hint.is_live:
        state = State.QUEUED if hint.is_waiting else State.RUNNING
        return state, (hint.reason + _held(hint)) if hint.is_waiting else "starts"
    if hint is not None and hint.state not in ("CANCELLED", "NODE_FAIL", "COMPLETED", "PREEMPTED"):
        return State.FAILED, f"SLURM: {hint.state} before it began; see `logs`"
    return _gone(found, hint, hints)


def _open(
    found: Evidence, submission: Submission, attempt: Attempt, hint: Hint | None, hints: Hints
) -> tuple[State, str]:
    if submission.kind == "local":
        if evidence.is_alive(attempt):
            return State.RUNNING, ""
        if evidence.is_here(attempt):
            return State.LOST, f"process {attempt.pid} is gone"
        if evidence.is_silent(found.target):
            return State.LOST, f"no sign of life from {attempt.host}, {found.resumes}"
        return State.UNKNOWN, f"runs on {attempt.host}, if it still does"
    if hint is not None and hint.is_live:
        if hint.is_waiting:
            return State.QUEUED, f"requeued, {found.resumes}{_held(hint)}"
        return State.RUNNING, ""
    return _gone(found, hint, hints)


_FAILURES = {
    End.GAVE_UP: "gave up",
    End.BAD_INPUT: "bad input:",
    End.ERROR: "",
}


def _ended(
    found: Evidence, submission: Submission, attempt: Attempt, hint: Hint | None, hints: Hints
) -> tuple[State, str]:
    if attempt.end in _FAILURES:
        return State.FAILED, f"{_FAILURES[attempt.end]} {attempt.message}".strip()
    if attempt.end is End.OUT_OF_MEMORY:
        return State.OUT_OF_MEMORY, attempt.message
    if attempt.end is End.FINISHED:
        return _or_partial(found, State.MISSING, "its result has been removed")
    if submission.kind == "local":
        return State.PARTIAL, f"stopped, {found.resumes}"
    if hint is not None and hint.is_live:
        cause = attempt.end.value if attempt.end else ""
        return State.QUEUED, f"requeued after {cause}, {found.resumes}{_held(hint)}"
    return _gone(found, hint, hints)


def _held(hint: Hint) -> str:
    """A held job does not start by itself."""
    is_held = "held" in hint.reason.lower()
    return "; held: `scontrol release` lets it start" if is_held else ""


def _gone(found: Evidence, hint: Hint | None, hints: Hints) -> tuple[State, str]:
    """The job is not in the queue, or nobody knows."""
    if hint is None and not hints.queue_answered:
        return State.UNKNOWN, "SLURM does not answer"
    word = hint.state if hint is not None else ""
    if found.submission is not None and found.submission.cancelled_at is not None:
        return State.CANCELLED, found.resumes
    if word == "OUT_OF_MEMORY" or (word != "CANCELLED" and evidence.output_tells_of_memory(found)):
        return State.OUT_OF_MEMORY, f"killed by SLURM, {found.resumes}"
    if word == "CANCELLED":
        return State.CANCELLED, found.resumes
    if word:
        return State.LOST, f"SLURM: {word}, {found.resumes}"
    return State.LOST, f"no longer in the queue, {found.resumes}"


def _or_partial(found: Evidence, state: State, why: str) -> tuple[State, str]:
    return (State.PARTIAL, f"{why}, {found.resumes}") if found.scan.exists else (state, why)


def check_code(statuses: Sequence[FoldStatus]) -> int:
    """0 when every fold is done, 2 when some failed, 1 while some are not done."""
    if all(status.is_done for status in statuses):
        return 0
    return 2 if any(status.is_failed for status in statuses) else 1
