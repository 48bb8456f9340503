"""The cores that a job has, and a warning if they are fewer than requested."""

from __future__ import annotations

import os

from fsm_hpc.cluster.schedulers.base import JobEnvironment
from fsm_hpc.study.config import Config
from fsm_hpc.system import machine
from fsm_hpc.system.numbers import counted


def here(environment: JobEnvironment | None) -> int:
    """Cores that this process may use, by affinity, cgroup and scheduler."""
    given = environment.cores if environment else None
    return min(machine.available_cores(), given or machine.available_cores())


def too_few(config: Config, environment: JobEnvironment | None) -> str:
    """A warning if a job has fewer cores than requested; else empty."""
    cores, requested = here(environment), config.cluster.cpus
    if cores < (requested if environment else min(requested, os.cpu_count() or 1)):
        return f"{counted(requested, 'core')} requested, {cores} available; see `doctor`"
    return too_many_threads(config, environment)


def too_many_threads(config: Config, environment: JobEnvironment | None = None) -> str:
    """A warning if there are more threads than cores; else empty."""
    cores, threads = here(environment), config.solver.threads or 1
    if cores >= threads:
        return ""
    return f"solver.threads={threads}, but only {counted(cores, 'core')}: threads share cores"
