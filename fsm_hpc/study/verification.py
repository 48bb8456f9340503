"""verification.json: the outcome of the independent checker for the formula of a fold."""

from __future__ import annotations

from fsm_hpc.search.proof import Verification
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError

FORMAT = 1


def read(paths: FoldPaths, done: FoldResult) -> Verification | None:
    """The outcome for this result; None without one, or if it is for an earlier result."""
    try:
        outcome = _load(paths)
    except UnreadableError:  # the formula can be checked again
        return None
    claim = (done.formula, done.length_bound, done.fingerprint)
    return outcome if outcome is not None and outcome.is_about(*claim) else None


def write(paths: FoldPaths, outcome: Verification) -> None:
    """Write an outcome; does not replace a file of a newer version."""
    files.quarantine_if_invalid(paths.verification, lambda _: _load(paths))
    serialization.write(paths.verification, FORMAT, outcome)


def _load(paths: FoldPaths) -> Verification | None:
    return serialization.load(Verification, paths.verification, FORMAT)
