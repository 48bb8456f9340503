"""What jobs call that version 0.2 queued for `fit`: they say that it has to be run again."""

from __future__ import annotations

import sys

from fsm_hpc.cluster import arrays


def work_in_array(output: str) -> str:
    """End with the reason, in one line and without a traceback."""
    reason = f"its array in {output} is {arrays.OLDER}; run `fit` again"
    sys.exit(f"{arrays.CANNOT_BEGIN}: {reason}")
