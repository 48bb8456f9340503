"""Run the jobs of a study on SLURM or here, see them, and steer them."""

from __future__ import annotations

from collections.abc import Sequence

from fsm_hpc.config import Config

VERBS = ("plan", "status", "logs", "resume", "cancel", "doctor")


def submit(jobs: Sequence[Config], wait: bool) -> int:
    """Submit every job that is not done; returns the exit code."""
    from fsm_hpc.cluster.launch import launch

    return launch(jobs, wait)


def command(verb: str, words: Sequence[str]) -> int:
    """Run `plan`, `status`, `logs`, `resume`, `cancel` or `doctor`; returns the exit code."""
    from fsm_hpc.cluster import commands

    return commands.command(verb, words)
