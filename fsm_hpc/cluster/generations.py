"""The order of submissions and attempts: numbers that only grow, whatever clocks say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.system import files, serialization
from fsm_hpc.system.files import UnreadableError

FORMAT = 1


class _Stated(TypedDict, total=False):
    generation: Any


def in_file(path: Path) -> int | None:
    """The generation that a file states; 0 where it states none, None where it is unreadable."""
    try:
        return in_values(serialization.read_some(_Stated, path) or {})
    except UnreadableError:
        return None


def in_values(saved: Mapping[str, Any]) -> int:
    number = saved.get("generation", 0)
    return number if type(number) is int and 0 <= number < 10**15 else 0


def next_of(paths: FoldPaths) -> int:
    """The generation of the next submission of a fold, or of its next attempt."""
    return 1 + max(in_file(paths.submission) or 0, in_file(paths.attempt) or 0)


def next_of_study(study: StudyPaths) -> int:
    """Likewise of a whole study, also after folders of folds were removed while jobs are queued."""
    files.quarantine_if_invalid(study.generation, _read)  # refuses a newer one
    return 1 + (in_file(study.generation) or 0)


def _read(path: Path) -> dict[str, Any]:
    return serialization.without_header(serialization.read(path) or {}, path.name, FORMAT)


def remember(study: StudyPaths, generation: int) -> None:
    """Keep what `next_of_study` counts from; the study has to be held."""
    serialization.write(study.generation, FORMAT, {"generation": generation})
