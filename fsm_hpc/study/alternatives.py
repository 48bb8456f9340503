"""The good set of a fold's formula, written beside its result where the config asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fsm_hpc.search.near_optimal.served import check_served
from fsm_hpc.search.problem import Problem
from fsm_hpc.search.solvers.base import Control
from fsm_hpc.study.fold import Fold, threads
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import clock, files


def check(fold: Fold, fitted: Problem) -> None:
    """Before anything is searched: whether the set is defined for this problem."""
    if fold.config.scan.alternatives is not None:
        from fsm_hpc.search.near_optimal.good_set import slack_errors

        slack_errors(fold.config.scan.alternatives, fitted.rows)
        check_served(fitted)


def beside(
    fold: Fold,
    fitted: Problem,
    done: FoldResult,
    stop: threading.Event,
    may_write: Callable[[], bool],
) -> dict[str, Any] | None:
    """Write the families into the fold's folder; what the result says of them.

    It has the time of the final formula. A formula that is not proved has no slack, and no set.
    """
    config = fold.config
    if config.scan.alternatives is None or not done.proved or done.errors is None:
        return None
    from fsm_hpc.search.near_optimal import kept
    from fsm_hpc.search.near_optimal.compiling import ensure_compiled
    from fsm_hpc.search.near_optimal.good_set import near_optimal, slack_errors

    ensure_compiled()  # before the clock runs
    bound, slack = done.length_bound or 1, slack_errors(config.scan.alternatives, fitted.rows)
    state = fold.paths.unfinished_alternatives
    asked = kept.question(fitted, bound, done.errors + slack)
    good = near_optimal(
        fitted,
        bound,
        done.errors,
        slack,
        threads(config),
        Control(deadline=clock.monotonic() + config.final.budget_h * 3600, stop=stop),
        kept.load(state, asked),
        told=lambda progress: kept.save(state, asked, progress) if may_write() else None,
    )
    if not may_write():
        return None
    if stop.is_set() and not good.is_complete:
        kept.save(state, asked, good.progress)
        return None
    files.write_json(fold.paths.alternatives, good.to_dict())
    with suppress(OSError):
        state.unlink(missing_ok=True)
    return {
        "slack": slack,
        "count": good.count,
        "families": len(good.families),
        "complete": good.is_complete,
    }
