"""Tables of what the independent checker found out about the formulas of a kept study."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.study_tables import row
from fsm_hpc.report.collect import label
from fsm_hpc.search.proof import VERIFIED, Verification
from fsm_hpc.study import result, verification
from fsm_hpc.study.files import StudyPaths
from fsm_hpc.study.fold_id import FoldId
from fsm_hpc.study.result import FoldResult


def cells(study: Path) -> list[str]:
    """How many formulas of each dataset and method are verified, and what that took."""
    groups: dict[tuple[str, str], list[Verification]] = defaultdict(list)
    for fold, _, found in _checked(study):
        groups[fold.dataset, fold.method].append(found)
    lines = [
        "| dataset | method | claims | verified | processor seconds |",
        "|---|---|---:|---:|---:|",
    ]
    for (dataset, method), outcomes in groups.items():
        lines.append(_line(dataset, label(method), outcomes))
    return [*lines, _line("all", "", [one for outcomes in groups.values() for one in outcomes])]


def _checked(study: Path) -> Iterator[tuple[FoldId, FoldResult, Verification]]:
    """The formulas that the checker was asked about."""
    folds = sorted(StudyPaths(study).folds_on_disk())
    for fold, paths in folds:
        done = result.read(paths.result)
        if done is not None and (found := verification.read(paths, done)) is not None:
            yield fold, done, found


def _line(dataset: str, method: str, outcomes: list[Verification]) -> str:
    verified = sum(one.outcome == VERIFIED for one in outcomes)
    seconds = sum(one.processor_s for one in outcomes)
    return row(dataset, method, len(outcomes), verified, f"{seconds:,.0f}")


def unfinished(study: Path) -> list[str]:
    """The claims that are not verified, with what a verification is expected to take."""
    lines = [
        "| dataset | method | fold | bound | outcome | processor s | share checked "
        "| estimated minutes |",
        "|---|---|---:|---:|---|---:|---:|---:|",
    ]
    for fold, done, found in _checked(study):
        if found.outcome != VERIFIED:
            place = (fold.dataset, label(fold.method), fold.fold, done.length_bound)
            cost = (f"{found.processor_s:,.0f}", *_expected(found))
            lines.append(row(*place, found.outcome, *cost))
    return lines


def _expected(found: Verification) -> tuple[str, str]:
    """The share of the column sets that are done, and the minutes for all of them at that pace."""
    match = re.match(r"([\d.]+)% are done", found.reason)
    share = float(match[1]) / 100 if match else 0.0
    minutes = f"{found.processor_s / share / 60:.1f}" if share else "unknown"
    return f"{100 * share:.1f} %" if match else "unknown", minutes
