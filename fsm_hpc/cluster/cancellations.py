"""Submissions of folds that no job may work on any more: cancelled, or submitted again."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.submissions import Submission
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError
from fsm_hpc.system.value_types import Moment

FILE = "cancelled.json"  # next to array.json
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Cancellations:
    """Folds of an array by their folders, as in its lines, and when each was cancelled."""

    folds: dict[str, Moment]


def read(output: Path) -> dict[str, Moment]:
    """The cancelled folds of the array in this folder."""
    saved = serialization.load(Cancellations, output / FILE, FORMAT)
    return {} if saved is None else saved.folds


def load(output: Path) -> dict[str, Moment]:
    """The cancelled folds of the array in this folder; none where the file is damaged."""
    try:
        return read(output)
    except UnreadableError as error:
        if error.is_newer:
            raise
        return {}


def folder_in_array(folder: Path, output: Path) -> str:
    """The folder of a fold, relative to that of its array."""
    return os.path.relpath(folder.absolute(), output.absolute())


def is_cancelled(paths: FoldPaths, submission: Submission) -> bool:
    """Whether this submission of a fold is cancelled; False while that cannot be read."""
    try:
        stored = submissions.load(paths)
        if stored is not None and stored.token == submission.token:
            return stored.cancelled_at is not None
        output = Path(submission.output)
        return bool(submission.output) and folder_in_array(paths.folder, output) in load(output)
    except (OSError, NewerFormatError):
        return False


def cancel(folds: Iterable[tuple[FoldPaths, Submission]]) -> dict[FoldPaths, str]:
    """Cancel submissions, each in the file that records it; the folds that fail, and why.

    The studies have to be held. A run in the foreground and version 0.2 record a submission in
    submission.json; an array has one file for all of its folds.
    """
    failed: dict[FoldPaths, str] = {}
    in_arrays: defaultdict[str, list[FoldPaths]] = defaultdict(list)
    for paths, submission in folds:
        stored = submissions.load(paths)
        if stored is not None and stored.token == submission.token:
            try:
                submissions.save(paths, replace(submission, cancelled_at=time.time()))
            except OSError as error:
                failed[paths] = str(error)
        elif submission.output:
            in_arrays[submission.output].append(paths)
    for output, members in in_arrays.items():
        try:
            _cancel_in_array(Path(output), members)
        except (OSError, UnreadableError) as error:
            failed |= dict.fromkeys(members, str(error))
    return failed


def _cancel_in_array(output: Path, members: Iterable[FoldPaths]) -> None:
    path, now = output / FILE, time.time()
    files.quarantine_if_invalid(path, lambda _: read(output))
    added = {folder_in_array(paths.folder, output): now for paths in members}
    serialization.write(path, FORMAT, Cancellations(read(output) | added))
