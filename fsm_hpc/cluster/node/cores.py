"""The cores that a job really has, and a warning where they are fewer than it asked for."""

from __future__ import annotations

import os

from fsm_hpc.cluster.schedulers.base import JobEnvironment
from fsm_hpc.study.config import Config
from fsm_hpc.system import machine
from fsm_hpc.system.numbers import counted


def here(environment: JobEnvironment | None) -> int:
    """Cores that this process may use: by affinity and cgroup, and by what its scheduler says."""
    given = environment.cores if environment else None
    return min(machine.available_cores(), given or machine.available_cores())


def too_few(config: Config, environment: JobEnvironment | None) -> str:
    """A warning where a job has fewer cores than it asked for; else nothing."""
    cores, asked = here(environment), config.cluster.cpus
    if cores < (asked if environment else min(asked, os.cpu_count() or 1)):
        return f"asked for {counted(asked, 'core')}, may use {cores}; see `doctor`"
    return too_many_threads(config, environment)


def too_many_threads(config: Config, environment: JobEnvironment | None = None) -> str:
    """A warning where threads would share cores; else nothing."""
    cores, threads = here(environment), config.solver.threads or 1
    if cores >= threads:
        return ""
    return f"solver.threads={threads}, but only {counted(cores, 'core')}: they share them"
