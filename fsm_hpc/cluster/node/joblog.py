"""Lines with time and job, in the fold's own log and in the output of the job."""

from __future__ import annotations

import time
from pathlib import Path

from fsm_hpc.cluster.attempts import Attempt
from fsm_hpc.system import files


class Log:
    """Called with a text, writes it to both; not `is_told`: to the log only."""

    def __init__(self, path: Path, attempt: Attempt, is_told: bool = True) -> None:
        self._path, self._who = path, f"{attempt.job_id}.{attempt.restart}"
        self._is_told = is_told

    def __call__(self, text: str) -> None:
        lines = "".join(
            f"{time.strftime('%Y-%m-%d %H:%M:%S')} {self._who} {line}\n"
            for line in text.splitlines()
        )
        if self._is_told:
            print(lines, end="", flush=True)
        with files.errors_with_path(self._path), files.open_to_append(self._path) as stream:
            stream.write(lines.encode(errors="backslashreplace"))
