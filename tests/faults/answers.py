"""What commands have come to, without what differs between two runs of one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
PASSING = {"seconds", "processor_s", "provenance", "peak_rss_mb", "scan_s", "final_s", "total_s"}


def whole(study: Path) -> Answer:
    """All that results and rules say, but for times and hosts."""
    names = ("result.json", "model.json", "alternatives.json")
    found = [path for name in names for path in study.rglob(name)]
    return {str(p.relative_to(study)): _lasting(json.loads(p.read_text())) for p in sorted(found)}


def proofs(study: Path) -> Answer:
    """What clingo-dl alone promises: errors, size and proof at every length."""
    kept = ("length", "size", "errors", "proved")
    answers = whole(study)
    return {
        name: [[entry[key] for key in kept] for entry in one["lengths"]]
        + [one["length_bound"], one["size"], one["errors"], one["proved"]]
        for name, one in answers.items()
    }


def tables(study: Path) -> Answer:
    """What `collect` writes."""
    found = [study / "folds.csv", study / "lengths.csv", *(study / "tables").glob("[!.]*")]
    return {str(path.relative_to(study)): path.read_text() for path in sorted(found)}


def families(study: Path) -> Answer:
    """All formulas about as good as the rule."""
    return {"all.csv": (study.parents[1] / "all.csv").read_text()}


def outcomes(study: Path) -> Answer:
    """What the checker found out about each formula."""
    kept, found = ("claim", "outcome", "formula", "bound"), sorted(study.rglob("verification.json"))
    saved = {str(path.relative_to(study)): json.loads(path.read_text()) for path in found}
    return {name: [one[key] for key in kept] for name, one in saved.items()}


def lasting(folder: Path) -> Answer:
    """Every file under a folder, byte for byte."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(found)}


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(one) for key, one in value.items() if key not in PASSING}
    return [_lasting(one) for one in value] if isinstance(value, list) else value
