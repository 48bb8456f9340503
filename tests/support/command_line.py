"""Commands in this process: a verb with its words, and the words that name a study."""

from __future__ import annotations

from fsm_hpc.cli import usage
from fsm_hpc.study.files import StudyPaths


def run_verb(verb: str, *words: str) -> int:
    """The exit code; a user's mistake is raised, to be looked at."""
    return usage.verb(verb).run(list(words))


def place_of(study: StudyPaths) -> list[str]:
    """The words that name a study on disk."""
    return [f"results_dir={study.root.parent}", f"study={study.root.name}"]
