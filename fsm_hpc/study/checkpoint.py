"""Write scan states to scan.json, and read them for the same problem."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fsm_hpc.search.checking import errors_of
from fsm_hpc.search.frontier import Frontier, with_checksum
from fsm_hpc.search.lengths import LengthAttempt, Split, first_length
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.scan import ScanState
from fsm_hpc.study import scan_file
from fsm_hpc.system import clock, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.numbers import counted

HEARTBEAT_S = 15.0  # the largest time that is lost when a process is killed
Watch = Callable[[ScanState], None]
_SPLIT_KEYS = ("lengths", "spare", "under_way")
MayWrite = Callable[[], bool]  # False if another attempt has taken over the fold


def key(splits: Sequence[Split]) -> str:
    """The fingerprint of the training and validation rows of a state."""
    parts = [split.train.fingerprint + split.validation.fingerprint for split in splits]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def save(path: Path, state: ScanState, fingerprint: str) -> None:
    """Write the state atomically."""
    content = {"fingerprint": fingerprint} | _content(state)
    serialization.write(path, scan_file.FORMAT, content)


class OutdatedError(UnreadableError):
    """A state of other rows or settings."""


def load(path: Path, fingerprint: str) -> ScanState:
    """The state on disk, or an empty one."""
    saved = scan_file.read(path)
    if saved is None:
        return ScanState()
    if saved["fingerprint"] != fingerprint:
        count = len(saved["lengths"]) + len(saved["spare"])
        lengths = counted(count, "proved length")
        raise OutdatedError(f"{path.name} is of other rows or settings ({lengths})")
    return _state_of(saved)


def _state_of(saved: dict[str, Any]) -> ScanState:
    """The progress of the first split has keys of its own; those of others follow in a list."""
    for attempt in _attempts(saved):
        attempt["best"]["frontier"] = Frontier.verified(attempt["best"].get("frontier"))
    by_split = [{name: saved[name] for name in _SPLIT_KEYS}, *saved.get("splits", ())]
    return serialization.convert(ScanState, saved | {"by_split": by_split}, "", None)


def _content(state: ScanState) -> dict[str, Any]:
    saved: dict[str, Any] = serialization.plain(state)
    for progress in saved["by_split"]:
        del progress["unproved"]  # which is searched again
    first, *others = saved.pop("by_split")
    saved |= first | ({"splits": others} if others else {})
    for attempt in _attempts(saved):
        if (frontier := attempt["best"]["frontier"]) is not None:
            attempt["best"]["frontier"] = with_checksum(frontier)
    return saved


def _attempts(saved: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All lengths in progress."""
    by_split = (saved, *saved.get("splits", ()))
    yield from filter(None, (saved["final"], *(progress["under_way"] for progress in by_split)))


def complaint(state: ScanState, splits: Sequence[Split], fitted: Problem) -> str:
    """The first claim of a state that does not hold on these rows; empty without one."""
    return next(_wrong_in(state, splits, fitted), "")


def _wrong_in(state: ScanState, splits: Sequence[Split], fitted: Problem) -> Iterator[str]:
    for progress, split in zip(state.by_split, splits, strict=False):
        for number, entry in enumerate(progress.whole.lengths, first_length(splits)):
            is_proved = entry.proved == split.train.has_exact_weights
            if entry.length != number or not is_proved or entry.size > number:
                yield f"scan.json: length {number} is not in its place"
            if errors_of(split.train, entry.formula) != entry.errors:
                yield f"scan.json: {entry.formula} does not make {entry.errors} errors"
            elif not split.train.meets_constraints(entry.formula):
                yield f"scan.json: {entry.formula} does not meet the constraints"
        yield from _wrong_attempt(split.train, progress.under_way)
    yield from _wrong_attempt(fitted, state.final)


def _wrong_attempt(problem: Problem, attempt: LengthAttempt | None) -> Iterator[str]:
    if attempt is None or attempt.best.formula is None:
        return
    best, errors = attempt.best, errors_of(problem, attempt.best.formula)
    if errors is None or errors != best.errors:
        yield f"scan.json: {attempt.best.formula} does not make {best.errors} errors"
    elif best.lower_bound > errors or attempt.best.formula.size > attempt.length:
        yield f"scan.json: {best.formula} contradicts its own bounds"


class CheckpointWriter:
    """Keeps scan.json up to date: writes every step at once, improvements every few seconds."""

    def __init__(
        self, path: Path, fingerprint: str, watch: Watch, may_write: MayWrite = lambda: True
    ) -> None:
        self._path, self._fingerprint, self._watch = path, fingerprint, watch
        self._may_write = may_write
        self._latest: ScanState | None = None
        self._noted_at = 0.0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> CheckpointWriter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def __call__(self, state: ScanState) -> None:
        """Write the state after a step."""
        with self._lock:
            self._latest = None
            self._save(state)
        self._watch(state)

    def note(self, state: ScanState) -> None:
        """Write an improvement within a step with the next heartbeat."""
        with self._lock:
            self._latest, self._noted_at = state, clock.monotonic()
        self._watch(state)

    def _beat(self) -> None:
        while not self._closed.wait(HEARTBEAT_S):
            with self._lock:
                if self._latest is not None:
                    passed_s = clock.monotonic() - self._noted_at
                    with suppress(OSError):  # a full disk may have space later
                        self._save(self._latest.aged(passed_s))

    def _save(self, state: ScanState) -> None:
        if self._may_write():
            save(self._path, state, self._fingerprint)
