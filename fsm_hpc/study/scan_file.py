"""Read scan.json: the whole state, or a summary of its progress."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.formulas.parser import parse
from fsm_hpc.search.frontier import Frontier
from fsm_hpc.search.stop_reason import StopReason
from fsm_hpc.system import serialization
from fsm_hpc.system.files import UnreadableError
from fsm_hpc.system.serialization import OpenSchema
from fsm_hpc.system.value_types import Count, Length, Share, SpentSeconds

FORMAT = 3


class ScannedRow(TypedDict):
    """One finished length of one split."""

    length: Length
    formula: Formula
    errors: Count
    train_accuracy: Share
    validation_accuracy: Share
    proved: bool
    seconds: SpentSeconds
    solver: str


class LengthRow(TypedDict):
    """One finished length in result.json."""

    length: Length
    size: Length
    formula: str
    errors: Count
    train_accuracy: Share
    validation_accuracy: Share
    proved: bool
    seconds: SpentSeconds
    solver: str


Lengths = Annotated[Sequence[dict[str, Any]], OpenSchema(list[LengthRow])]


class IncumbentRow(TypedDict):
    """The best formula of a length under way."""

    formula: Formula | None
    errors: Count | None
    proved_length: Annotated[int, Meta(ge=0, le=10_000)]
    lower_bound: Count


class AttemptRow(TypedDict):
    """A length under way."""

    length: Length
    best: IncumbentRow
    seconds: SpentSeconds
    end: Literal["proved", "timeout", "stopped", "out_of_memory"] | None
    solver: str


class LadderRow(TypedDict):
    """The lengths of one split."""

    lengths: list[ScannedRow]
    spare: list[ScannedRow]
    under_way: AttemptRow | None


class _Scan(LadderRow):
    fingerprint: str
    scan_s: SpentSeconds
    stop_reason: StopReason | None
    final: AttemptRow | None


class ScanRow(_Scan, total=False):
    """The whole state; the progress of the first split is in it, those of others in `splits`."""

    splits: list[LadderRow]


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """The progress of the scan on disk."""

    exists: bool = False
    length: int | None = None  # under way
    best_validation: float | None = None
    seconds: float = 0.0
    scan_s: float = 0.0  # without those of the final formula
    progress: float | None = None  # of the length under way, if known
    left_s: float | None = None
    in_final: bool = False
    lengths: tuple[dict[str, Any], ...] = ()  # those that are finished


def read(path: Path) -> dict[str, Any] | None:
    """The state as it was written, with checked types; None without a file."""
    saved = serialization.read(path)
    if saved is None:
        return None
    saved = serialization.without_header(saved, path.name, FORMAT)
    serialization.convert(ScanRow, saved, path.name)
    return saved


_TIMES = frozenset(["seconds", "scan_s", "left_s", "seal", "checksum"])


def progress(saved: dict[str, Any] | None) -> str:
    """A digest of a state without its times, which changes with progress; empty without a state."""
    if saved is None:
        return ""
    return hashlib.sha256(json.dumps(_timeless(saved), sort_keys=True).encode()).hexdigest()[:16]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in _TIMES}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def load(path: Path) -> dict[str, Any] | None:
    """The state as it was written; None also for an invalid file."""
    try:
        return read(path)
    except UnreadableError:
        return None


def facts(saved: dict[str, Any] | None) -> ScanFacts:
    """The length under way, the best validation accuracy so far, and the seconds spent."""
    if saved is None:
        return ScanFacts()
    lengths = saved["lengths"]
    final, under_way = saved["final"], _under_way(saved)
    progress, left_s = _pace(final or under_way)
    return ScanFacts(
        exists=True,
        length=_length(lengths, final, under_way),
        best_validation=max((e["validation_accuracy"] for e in lengths), default=None),
        seconds=saved["scan_s"] + (final["seconds"] if final else 0.0),
        scan_s=saved["scan_s"],
        progress=progress,
        left_s=left_s,
        in_final=final is not None or saved["stop_reason"] is not None,
        lengths=tuple(entry | {"size": parse(entry["formula"]).size} for entry in lengths),
    )


def _pace(attempt: dict[str, Any] | None) -> tuple[float | None, float | None]:
    """The searched share of a length and the remaining seconds, if known."""
    frontier = Frontier.verified(attempt["best"].get("frontier")) if attempt else None
    if attempt is None or frontier is None:
        return None, None
    return frontier.progress(attempt["length"]), frontier.left_s(attempt["length"])


def _under_way(saved: dict[str, Any]) -> dict[str, Any] | None:
    """Of the split that is being searched."""
    by_split = (saved, *saved.get("splits", ()))
    return next((one["under_way"] for one in by_split if one["under_way"] is not None), None)


def _length(lengths: list[Any], final: Any, under_way: Any) -> int:
    current = final or under_way
    if current:
        return int(current["length"])
    return int(lengths[-1]["length"]) + 1 if lengths else 1
