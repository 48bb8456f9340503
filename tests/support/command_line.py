"""Commands in this process: a command with its words, and the words that name a study."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

from fsm_hpc.cli import usage
from fsm_hpc.cli.main import main
from fsm_hpc.study.files import StudyPaths


def run_command(command: str, *words: str) -> int:
    """The exit code; a user's mistake is raised, to be looked at."""
    return usage.load_command(command).run(list(words))


def said(*words: str) -> tuple[int, bytes]:
    """The exit code of a command in this process, and all that it printed, byte for byte."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        return main(list(words)), raw.getvalue()


def place_of(study: StudyPaths) -> list[str]:
    """The words that name a study on disk."""
    return [f"results_dir={study.root.parent}", f"study={study.root.name}"]
