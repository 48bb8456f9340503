"""verification.json: what the independent checker found out about the formula of a fold."""

from __future__ import annotations

from fsm_hpc.search.proof import Verification
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError

FORMAT = 1


def read(paths: FoldPaths, done: FoldResult) -> Verification | None:
    """What is known about this result; None where nothing is, or only about an earlier one."""
    try:
        known = _load(paths)
    except UnreadableError:  # the formula can be checked again
        return None
    about = (done.formula, done.length_bound, done.fingerprint)
    return known if known is not None and known.is_about(*about) else None


def write(paths: FoldPaths, outcome: Verification) -> None:
    """Keep an outcome; one that a newer version wrote is not replaced."""
    files.quarantine_if_invalid(paths.verification, lambda _: _load(paths))
    serialization.write(paths.verification, FORMAT, outcome)


def _load(paths: FoldPaths) -> Verification | None:
    return serialization.load(Verification, paths.verification, FORMAT)
