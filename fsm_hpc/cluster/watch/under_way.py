"""What is said of folds on their way: sent without an answer, or at a length that never ends."""

from __future__ import annotations

import os
from dataclasses import replace

from fsm_hpc.cluster import arrays, attempts, study_lock
from fsm_hpc.cluster.watch.fold_files import FoldFiles, FoldRef


def with_open_arrays(found: list[FoldFiles]) -> list[FoldFiles]:
    """Folds of an array that is being submitted, or was when its command was ended."""
    studies = {one.ref.paths.study for one in found if one.ref.paths.id is not None}
    open_ = set().union(*map(arrays.open_folds, studies))
    if not open_:
        return found
    return [
        replace(one, is_open=os.path.abspath(one.ref.paths.folder) in open_)  # noqa: PTH100
        for one in found
    ]


def longer_than_the_limit(found: FoldFiles) -> str:
    """Said of a length that no attempt has had time for."""
    attempt, submission = found.attempt, found.submission
    if attempt is None or submission is None:
        return ""
    times = attempts.stuck(attempt) if attempt.token == submission.token else 0
    hours = submission.config.get("cluster", {}).get("timeout_h")
    if not times or not found.scan.exists or hours is None:
        return ""
    what = "the final formula" if found.scan.in_final else f"length {found.scan.length}"
    return (
        f"{what} takes longer than the time limit of {hours:g} h: "
        f"{times} attempts came no further, and its budget ends it"
    )


def by_whom(ref: FoldRef) -> str:
    """Who submits a fold now, or that nobody does any more."""
    owner = study_lock.owner_of(ref.paths.study.lock)
    if owner is not None:
        return f"being submitted by process {owner.pid} on {owner.host}"
    return "sent without an answer; the next -m, resume or cancel finds out"
