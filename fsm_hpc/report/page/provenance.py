"""The settings and the origin of a result, under names for readers."""

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
    "max_length": "maximum length",
    "plateau": "plateau of the scan (lengths)",
    "splits": "validation splits",
    "language": "language of the formulas",
    "require": "required columns",
    "forbid": "forbidden columns",
    "increasing": "increasing columns",
    "decreasing": "decreasing columns",
    "min_support": "minimum rows on which each proposition is true, and false",
    "max_columns": "maximum number of columns",
    "fold_kind": "kind of folds",
    "group": "group column",
    "trials": "tuning trials",
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
SHOWN = 10  # characters of a digest


@dataclass(frozen=True, slots=True)
class Fact:
    """A name with its text; `full` is the text of a shortened digest."""

    name: str
    text: str
    full: str = ""


def settings(done: FoldResult) -> list[Fact]:
    """Everything that determined the result."""
    return _facts({**done.settings, "fingerprint": done.fingerprint})


def origin(done: FoldResult) -> list[Fact]:
    """The code and the machine."""
    known = dict(done.provenance)
    packages = known.pop("packages", None) or {}
    versions = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    return _facts({**known, "peak memory": f"{done.peak_rss_mb:g} MiB", "packages": versions})


def _facts(values: Mapping[str, Any]) -> list[Fact]:
    return [_fact(_NAMES.get(name, name.replace("_", " ")), v) for name, v in values.items()]


def _fact(name: str, value: Any) -> Fact:
    text = _text(value)
    if _DIGEST.fullmatch(text):
        return Fact(name, f"{text[:SHOWN]}…", text)
    return Fact(name, text)


def _text(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    is_many = isinstance(value, Iterable) and not isinstance(value, (str, Mapping))
    return ", ".join(map(str, value)) if is_many else str(value)
