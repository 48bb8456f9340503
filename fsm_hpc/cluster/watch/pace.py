"""How far a fold is that has no result yet: what is searched, left, and no longer changes."""

from __future__ import annotations

from collections.abc import Iterator

from fsm_hpc.cluster.watch.fold_files import FoldFiles
from fsm_hpc.study.scan_file import ScanFacts
from fsm_hpc.system.numbers import duration, how_far


def told(found: FoldFiles) -> str:
    """`43 % searched, 1 min to 9 min left, unchanged since length 6, 2.1 h of its budget left`."""
    return ", ".join(_parts(found)) if found.scan.exists else ""


def _parts(found: FoldFiles) -> Iterator[str]:
    scan = found.scan
    if scan.progress is not None:
        yield how_far(scan.progress, scan.left_s)
    since = unchanged_since(scan)
    if since is not None:
        yield f"unchanged since length {since}"
    budget_s = _budget_s(found)
    if budget_s is not None and not scan.in_final:
        yield f"{duration(max(0.0, budget_s - scan.scan_s))} of its budget left"


def unchanged_since(scan: ScanFacts) -> int | None:
    """The length that first had the formula of the last one; None where it is that one's own."""
    same = [e["length"] for e in scan.lengths if e["formula"] == scan.lengths[-1]["formula"]]
    return int(same[0]) if len(same) > 1 else None


def _budget_s(found: FoldFiles) -> float | None:
    settings = found.submission.config if found.submission else {}
    budget_h = settings.get("scan", {}).get("budget_h")
    return None if budget_h is None else float(budget_h) * 3600
