"""Where a result comes from, said with names that a reader knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fsm_hpc.study.result import FoldResult

_NAMES = {
    # settings
    "data": "digest of the table",
    "folds": "number of folds",
    "validation_fraction": "share of rows for validation",
    "patience": "patience of the scan (lengths)",
    "max_length": "largest length",
    "plateau": "plateau of the scan",
    "splits": "splits for validation",
    "language": "language of the formulas",
    "require": "columns that a formula has to depend on",
    "forbid": "columns that it may not have",
    "increasing": "columns with which it may only become true",
    "decreasing": "columns with which it may only become false",
    "min_support": "rows that each proposition holds and fails on at least",
    "max_columns": "columns that a formula has at most",
    "fold_kind": "kind of folds",
    "group": "column that keeps rows together",
    "trials": "trials of the tuning",
    # origin
    "version": "version of fsm_hpc",
    "code": "digest of the code",
    "python": "Python",
    "cpu": "processor",
    "memory_mb": "memory (MiB)",
    "config": "digest of the configuration",
    "job_ids": "jobs",
    "requeues": "times requeued",
    "fingerprint": "digest of the settings",
}
_DIGEST = re.compile(r"[0-9a-f]{16,}")
SHOWN = 10  # characters of a digest: enough to tell two apart


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what is said of it; `whole` where only the beginning is."""

    name: str
    text: str
    whole: str = ""


def settings(done: FoldResult) -> list[Fact]:
    """All that decided the answer."""
    return _facts({**done.settings, "fingerprint": done.fingerprint})


def origin(done: FoldResult) -> list[Fact]:
    """The code and the machine, in the order in which one asks."""
    known = dict(done.provenance)
    packages = known.pop("packages", None) or {}
    said = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    return _facts({**known, "peak memory": f"{done.peak_rss_mb:g} MiB", "packages": said})


def _facts(values: Mapping[str, Any]) -> list[Fact]:
    return [_fact(_NAMES.get(name, name.replace("_", " ")), v) for name, v in values.items()]


def _fact(name: str, value: Any) -> Fact:
    text = _said(value)
    if _DIGEST.fullmatch(text):
        return Fact(name, f"{text[:SHOWN]}…", text)
    return Fact(name, text)


def _said(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    is_many = isinstance(value, Iterable) and not isinstance(value, (str, Mapping))
    return ", ".join(map(str, value)) if is_many else str(value)
