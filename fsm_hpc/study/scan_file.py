"""Read scan.json: whole to go on from, or only how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsm_hpc.system import files

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """How far the scan on disk has come."""

    exists: bool = False
    length: int | None = None  # under way
    best_validation: float | None = None
    seconds: float = 0.0
    in_final: bool = False
    lengths: tuple[dict[str, Any], ...] = ()  # those that are finished


def read(path: Path) -> dict[str, Any] | None:
    """The state as it was written; None where there is none, or one of another format."""
    saved = files.read_json(path)
    return saved if saved is not None and saved.get("format") == FORMAT else None


def facts(path: Path) -> ScanFacts:
    """The length under way, the best validation accuracy so far, and the seconds spent."""
    saved = read(path)
    if saved is None:
        return ScanFacts()
    try:
        lengths = saved["lengths"]
        final, under_way = saved["final"], saved["under_way"]
        return ScanFacts(
            exists=True,
            length=_length(lengths, final, under_way),
            best_validation=max((e["validation_accuracy"] for e in lengths), default=None),
            seconds=saved["scan_s"] + (final["seconds"] if final else 0.0),
            in_final=final is not None or saved["stop_reason"] is not None,
            lengths=tuple(lengths),
        )
    except (KeyError, TypeError):  # not a state of ours: it starts anew
        return ScanFacts()


def _length(lengths: list[Any], final: Any, under_way: Any) -> int:
    current = final or under_way
    if current:
        return int(current["length"])
    return int(lengths[-1]["length"]) + 1 if lengths else 1
