"""Whose a results folder is: what others may write decides about nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fsm_hpc.cluster import arrays
from fsm_hpc.errors import UserError
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import ownership


def refuse_shared(
    folds: Iterable[FoldPaths], command: str, studies: Iterable[StudyPaths] = ()
) -> None:
    """What others may write can name any process, job, setting or code; the user decides."""
    places: dict[Path, None] = {}
    for paths in folds:
        places |= dict.fromkeys([*_folders(paths), paths.submission, paths.attempt])
    for study in studies:
        outputs = sorted(study.submissions.glob("*/"))
        written = [output / name for output in outputs for name in (arrays.FILE, arrays.STATE)]
        folders = [study.root.parent, study.root, study.submissions, *outputs]
        places |= dict.fromkeys([*folders, *written])
    writers = ownership.other_writers(places)
    if writers:
        raise UserError(
            f"{writers}: {command} does what its files say; `chmod go-w` takes the right away, and "
            "--shared goes on in spite of it"
        )


def _folders(paths: FoldPaths) -> list[Path]:
    """From the results folder down to the fold's; a rule may be in any folder."""
    if paths.id is None:
        return [paths.folder.parent, paths.folder]
    study = paths.study.root
    between = [above for above in paths.folder.parents if study in above.parents]
    return [study.parent, study, *reversed(between), paths.folder]


@contextmanager
def written_by_others(allowed: bool) -> Iterator[None]:
    """Unless it is allowed, others may not write what is created meanwhile, jobs included."""
    before = os.umask(0)
    os.umask(before if allowed else before | stat.S_IWGRP | stat.S_IWOTH)
    try:
        yield
    finally:
        os.umask(before)
