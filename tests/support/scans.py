"""States of a scan with one split, as tests write them."""

from __future__ import annotations

from typing import Any

from fsm_hpc.search.lengths import Length, LengthAttempt, SplitProgress
from fsm_hpc.search.scan import ScanState


def scan_state(
    lengths: tuple[Length, ...] = (),
    under_way: LengthAttempt | None = None,
    spare: tuple[Length, ...] = (),
    **others: Any,
) -> ScanState:
    return ScanState((SplitProgress(lengths, under_way, spare),), **others)
