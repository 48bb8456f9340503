"""The identity of a process, unique over machines and containers, and whether it still runs."""

from __future__ import annotations

import calendar
import os
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta

PROC = Path("/proc")
# BOOT_ID/PID_NAMESPACE/PID/START; empty if unknown
Identity = Annotated[str, Meta(pattern=r"^(|[\w-]{1,64}/[0-9]{1,20}/[0-9]{1,10}/[0-9]{1,20})\Z")]
ENDED = -1  # the start time of a zombie process


def of(pid: int | None = None) -> str:
    """The identity of this process, or of another one with this id."""
    number = os.getpid() if pid is None else pid
    prefix, start = namespace(), _start(number)
    return "" if not prefix or start is None else f"{prefix}/{number}/{start}"


def is_running(identity: str) -> bool | None:
    """Whether this process runs; None if it belongs to another machine or PID namespace.

    Needs no clock: the kernel counts the start of a process in ticks since boot.
    """
    boot_id, inode, pid, start = identity.split("/") if identity else ("", "", "0", "0")
    if not identity or f"{boot_id}/{inode}" != namespace():
        return None
    if not exists(int(pid)):
        return False
    current = _start(int(pid))
    return None if current is None else current == int(start)


def namespace() -> str:
    """BOOT_ID/PID_NAMESPACE, in which process ids are unique."""
    boot_id = _boot_id()
    return f"{boot_id}/{_inode()}" if boot_id else ""


def _inode() -> int:
    try:
        return (PROC / "self/ns/pid").stat().st_ino
    except OSError:
        return 0  # a system without PID namespaces


@cache
def _boot_id() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return _output("sysctl", "-n", "kern.bootsessionuuid")  # macOS


def exists(pid: int) -> bool:
    """Whether a process of this PID namespace has this id."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # of another user
    return True


def _start(pid: int) -> int | None:
    """The start time of a process, independent of clock changes; None if unknown."""
    folder = "self" if pid == os.getpid() else str(pid)
    try:
        if folder != "self" and not _shows_own_namespace():
            return None
        fields = (PROC / folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return ENDED if fields[0] in "ZX" else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None if (PROC / "self").exists() else _start_without_proc(pid)


def _shows_own_namespace() -> bool:
    """Whether /proc has the ids of this container, not of the machine around it."""
    return os.readlink(PROC / "self") == str(os.getpid())  # noqa: PTH115 - of a magic link


def _start_without_proc(pid: int) -> int | None:
    """The start time in seconds, on macOS."""
    try:
        text = _output("ps", "-o", "lstart=", "-p", str(pid))
        return calendar.timegm(time.strptime(text, "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        return None


def _output(*command: str) -> str:
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=10, env=environment, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return process.stdout.strip()
