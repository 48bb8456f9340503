"""The cores that a job really has, and a warning where they are fewer than it asked for."""

from __future__ import annotations

import os

from fsm_hpc.study.config import Config
from fsm_hpc.system import machine
from fsm_hpc.system.numbers import counted

# what SLURM gives to a task, and to a job on this node
GIVEN = ("SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")


def here(is_slurm: bool) -> int:
    """Cores that this process may use: by affinity and cgroup, and in a job by what SLURM says."""
    texts = [os.environ.get(name, "") for name in GIVEN] if is_slurm else []
    given = [int(text) for text in texts if text.isdigit() and int(text) > 0]
    return min([machine.available_cores(), *given])


def too_few(config: Config, is_slurm: bool) -> str:
    """A warning where a job has fewer cores than it asked for; else nothing."""
    cores, asked = here(is_slurm), config.cluster.cpus
    if cores < (asked if is_slurm else min(asked, os.cpu_count() or 1)):
        return f"asked for {counted(asked, 'core')}, may use {cores}; see `doctor`"
    return too_many_threads(config, is_slurm)


def too_many_threads(config: Config, is_slurm: bool = False) -> str:
    """A warning where threads would share cores; else nothing."""
    cores, threads = here(is_slurm), config.solver.threads or 1
    if cores >= threads:
        return ""
    return f"solver.threads={threads}, but only {counted(cores, 'core')}: they share them"
