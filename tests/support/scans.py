"""States of a scan with one split, as tests write them."""

from __future__ import annotations

from typing import Any

from fsm_hpc.search.ladder import Ladder, Length, LengthAttempt
from fsm_hpc.search.scan import ScanState


def scan_state(
    lengths: tuple[Length, ...] = (),
    under_way: LengthAttempt | None = None,
    spare: tuple[Length, ...] = (),
    **others: Any,
) -> ScanState:
    return ScanState((Ladder(lengths, under_way, spare),), **others)
