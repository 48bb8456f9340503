"""The near-optimal formulas of a fold (Rashomon set), written next to its result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsm_hpc.search.near_optimal.supported import check_supported
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.study.files import FoldPaths
from fsm_hpc.study.fold import Fold, threads
from fsm_hpc.study.result import AlternativesRow, FoldResult
from fsm_hpc.system import clock, files, serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import NewerFormatError

if TYPE_CHECKING:
    from fsm_hpc.search.near_optimal.rashomon import RashomonSet
    from fsm_hpc.search.solvers.native.parts import Helpers

FORMAT = 2
MAX_BYTES = 2**30  # of a file that is read


def check(fold: Fold, fitted: Problem) -> None:
    """Before the search: check that the set is defined, and compile its search."""
    if fold.config.scan.alternatives is not None:
        from fsm_hpc.search.near_optimal.compiling import ensure_compiled
        from fsm_hpc.search.near_optimal.rashomon import slack_errors

        slack_errors(fold.config.scan.alternatives, fitted.rows)
        check_supported(fitted)
        ensure_compiled()


def find_and_write(
    fold: Fold,
    fitted: Problem,
    done: FoldResult,
    stop: threading.Event,
    may_write: Callable[[], bool],
    say: Callable[[str], None] = lambda text: None,
    helpers: Helpers | None = None,
) -> AlternativesRow | None:
    """Write alternatives.json; its summary in the result.

    Its time limit is that of the final formula. An unproved formula has no such set.
    """
    config = fold.config
    if config.scan.alternatives is None or not done.proved or done.errors is None:
        return None
    from fsm_hpc.search.near_optimal.checkpoint import Checkpoint, resume
    from fsm_hpc.search.near_optimal.rashomon import ResourceLimits, slack_errors

    bound, slack = done.length_bound or 1, slack_errors(config.scan.alternatives, fitted.rows)
    mark = Checkpoint(fold.paths.unfinished_alternatives, may_write, say)
    deadline = clock.monotonic() + config.final.budget_h * 3600
    means = ResourceLimits(threads(config), Control(deadline=deadline, stop=stop), helpers)
    good = resume(mark, fitted, bound, done.errors, slack, means)
    if not may_write():
        return None
    if stop.is_set() and not good.is_complete:
        return None
    _write(fold.paths, good, say)
    mark.remove(good)
    if not good.is_complete:
        with suppress(OSError):  # an incomplete set is final
            mark.path.unlink(missing_ok=True)
    return _row(good)


def _write(paths: FoldPaths, good: RashomonSet, say: Callable[[str], None]) -> None:
    message = files.quarantine_if_invalid(paths.alternatives, _read)
    if message:
        say(message)
    serialization.write(paths.alternatives, FORMAT, good.to_dict())


def _row(good: RashomonSet) -> AlternativesRow:
    return {
        "slack": good.slack,
        "count": good.count,
        "families": len(good.families),
        "complete": good.is_complete,
        "digest": serialization.checksum(good.to_dict()),
    }


def file_error(paths: FoldPaths, done: FoldResult) -> str:
    """An error in alternatives.json of a fold with alternatives; empty without one."""
    if done.alternatives is None:
        return ""
    again = f"`alternatives {paths.folder} slack={done.alternatives['slack']}` counts them again"
    try:
        saved = _read(paths.alternatives)
    except NewerFormatError as error:
        return str(error)
    except (UnreadableError, OSError) as error:
        return f"{error}; {again}"
    if saved is None:
        return f"{paths.alternatives.name} is missing; {again}"
    if serialization.checksum(saved) != done.alternatives.get("digest"):
        return f"{paths.alternatives.name} does not belong to the result; {again}"
    return ""


def _read(path: Path) -> dict[str, Any] | None:
    saved = serialization.read(path, MAX_BYTES)
    return None if saved is None else serialization.without_header(saved, path.name, FORMAT)
