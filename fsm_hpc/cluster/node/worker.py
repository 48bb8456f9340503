"""A fold in a local process: `python -m fsm_hpc.cluster.node.worker FOLDER`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from fsm_hpc.cluster import submissions
from fsm_hpc.cluster.node import supervise
from fsm_hpc.errors import UserError
from fsm_hpc.study.files import FoldPaths


def main() -> int:
    """Run the fold whose submission is in the folder."""
    try:
        submission = submissions.read(FoldPaths(Path(sys.argv[1])))
        if submission is None:
            raise UserError(f"no submission in {sys.argv[1]}")
        supervise.work(asdict(submission))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
