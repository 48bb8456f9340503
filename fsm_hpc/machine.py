"""What this machine has and what this process uses: cores, memory, model."""

from __future__ import annotations

import os
import platform
import resource
import sys
from pathlib import Path


def available_cores() -> int:
    """The cores that this process may use; a batch system may give fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_mb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20


def resident_mb(pid: int | str = "self") -> float:
    """Memory that a process really holds, in MiB; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError, ValueError):
        return 0.0


def peak_rss_mb() -> float:
    """The most memory that this process or a finished child of it held, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(kind).ru_maxrss for kind in kinds) / unit, 1)


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())
