"""Cores, memory and processor of this machine, and the resources of processes."""

from __future__ import annotations

import gc
import math
import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def available_cores() -> int:
    """The number of cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, math.ceil(min(cores or 1, cgroup_cores())))


def cgroup_cores(root: Path = Path("/")) -> float:
    """The limit of control groups, in cores; infinite without a limit."""
    limits = [math.inf]
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if not controllers:  # version 2
            limits += [_cpu_max(folder) for folder in _upwards(root / "sys/fs/cgroup", group)]
        elif "cpu" in controllers.split(","):
            top = root / "sys/fs/cgroup" / controllers
            limits += [_cfs_quota(folder) for folder in _upwards(top, group)]
    return min(limits)


def _upwards(top: Path, group: str) -> Iterator[Path]:
    """The folder of a control group and those of its parents."""
    folder = top / group.lstrip("/")
    yield folder
    while folder != top and top in folder.parents:
        folder = folder.parent
        yield folder


def _cpu_max(folder: Path) -> float:
    return _quota(*[*_text(folder / "cpu.max").split(), "", ""][:2])


def _cfs_quota(folder: Path) -> float:
    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    return _quota(*(_text(folder / name).strip() for name in names))


def _quota(quota: str, period: str) -> float:
    is_limit = quota.isdigit() and period.isdigit() and int(quota) > 0 and int(period) > 0
    return int(quota) / int(period) if is_limit else math.inf


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""


def physical_mb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20


def resident_mb(pid: int | str = "self") -> float:
    """Resident memory of a process in MiB; 0 if unknown."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, IndexError, ValueError):
        return 0.0


def data_mb() -> float:
    """The memory of this process that RLIMIT_DATA counts, in MiB; 0 if unknown."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    match = re.search(r"^VmData:\s*(\d+) kB", text, re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def peak_rss_mb() -> float:
    """The peak memory of this process and of its finished children, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(kind).ru_maxrss for kind in kinds) / unit, 1)


def processor_s() -> float:
    """Processor seconds of all threads of this process and of its finished children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def command_line(pid: int) -> list[str]:
    """The command line of a process; empty if unknown."""
    try:
        content = Path(f"/proc/{pid}/cmdline").read_bytes()
        return [os.fsdecode(argument) for argument in content.split(b"\0")[:-1]]
    except FileNotFoundError:
        ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]  # without /proc
    except OSError:
        return []
    try:
        process = subprocess.run(ps, capture_output=True, text=True, timeout=10)
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return process.stdout.split()


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector, which slows down work on thousands of folds."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
