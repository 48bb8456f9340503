"""Tables of what the independent checker found out about the formulas of a kept study."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from benchmarks.study_tables import row
from fsm_hpc.report.collect import label
from fsm_hpc.search.proof import VERIFIED, Verification
from fsm_hpc.study import verification


def cells(study: Path) -> list[str]:
    """How many formulas of each dataset and method are verified, and what that took."""
    groups: dict[tuple[str, str], list[Verification]] = defaultdict(list)
    for name, found in verification.read(study).items():
        dataset, method, _ = name.split("/")
        groups[dataset, method].append(found)
    lines = [
        "| dataset | method | claims | verified | processor seconds |",
        "|---|---|---:|---:|---:|",
    ]
    for (dataset, method), outcomes in groups.items():
        lines.append(_line(dataset, label(method), outcomes))
    return [*lines, _line("all", "", [one for outcomes in groups.values() for one in outcomes])]


def _line(dataset: str, method: str, outcomes: list[Verification]) -> str:
    verified = sum(one.outcome == VERIFIED for one in outcomes)
    seconds = sum(one.processor_s for one in outcomes)
    return row(dataset, method, len(outcomes), verified, f"{seconds:,.0f}")


def unfinished(study: Path) -> list[str]:
    """The claims that are not verified, with what a verification is expected to take."""
    lines = [
        "| dataset | method | fold | bound | outcome | processor s | done | minutes at that pace |",
        "|---|---|---:|---:|---|---:|---:|---:|",
    ]
    for name, found in verification.read(study).items():
        if found.outcome != VERIFIED:
            dataset, method, fold = name.split("/")
            result = json.loads((study / name / "result.json").read_text(encoding="utf-8"))
            place = (dataset, label(method), fold.removeprefix("fold-"), result["length_bound"])
            cost = (f"{found.processor_s:,.0f}", *_expected(found))
            lines.append(row(*place, found.outcome, *cost))
    return lines


def _expected(found: Verification) -> tuple[str, str]:
    """The share of the column sets that are done, and the minutes for all of them at that pace."""
    match = re.match(r"([\d.]+)% are done", found.reason)
    share = float(match[1]) / 100 if match else 0.0
    minutes = f"{found.processor_s / share / 60:.1f}" if share else "unknown"
    return f"{100 * share:.1f} %" if match else "unknown", minutes
